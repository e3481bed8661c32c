"""Readers of documents: every format, plain and packed, PubTator with its relation rows, brat with its texts."""

import json
import zlib
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from tests.attacks.judging import Files, Wrong
from tests.attacks.mutations import mutate
from unnoted.data.formats import write_documents
from unnoted.data.formats.jsonl import record
from unnoted.data.loading import load_documents
from unnoted.data.synthetic import generate_documents
from unnoted.errors import DataError

PUBTATOR = """\
1|t|Aspirin and pain.
1|a|Aspirin relieves pain; COX1 is blocked by it.
1\t0\t7\tAspirin\tChemical\tD001241
1\t12\t16\tpain\tDisease\tD010146
1\t18\t25\tAspirin\tChemical\tD001241
1\t35\t39\tpain\tDisease\tD010146|D000001
1\t41\t45\tCOX1\tGene\t5742
1\tCID\tD001241\tD010146

2|t|A title
2|a|
"""
BRAT_TEXT = "Sony formed a joint venture with Ericsson.\nIBM (Big Blue) did not.\n"
BRAT = """\
T1\tORG 0 4\tSony
T2\tMERGE 14 27\tjoint venture
T3\tORG 33 41;43 46\tEricsson IBM
T4\tORG 48 56\tBig Blue
E1\tMERGE:T2 Org1:T1 Org2:T3
R1\tPart Arg1:T1 Arg2:E1
*\tEquiv T3 T4
N1\tReference T1 Wikipedia:534366\tSony
#1\tKnownNegative T1\tPart T4
"""
ROWS = "1\tchem_gene:affects^activity\tD001241\t5742\n1\tchem_disease:therapeutic\tD001241\tD010146\n"


def sources(folder: Path) -> list[Files]:
    """Whole files of every format, some of them with another one beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    found: list[Files] = [{"a.txt": PUBTATOR.encode()}, {"a.txt": PUBTATOR.encode(), "b.tsv": ROWS.encode()}]
    for number, name in enumerate(("docs.json", "docs.jsonl")):
        write_documents(folder / name, generate_documents(2, seed=number))
        found.append({name: (folder / name).read_bytes()})
    found.append({"doc.txt": BRAT_TEXT.encode(), "doc.ann": BRAT.encode()})
    for name, format in (("ls.json", "label-studio"), ("tasks.jsonl", "prodigy"), ("rows.jsonl", "columns")):
        write_documents(folder / name, generate_documents(1, seed=3), format)
        found.append({name: (folder / name).read_bytes()})
    write_documents(folder / "docs.spacy", generate_documents(1, seed=4))
    found.append({"docs.spacy": (folder / "docs.spacy").read_bytes()})
    pq.write_table(
        pa.Table.from_pylist(list(map(record, generate_documents(2, seed=5)))), folder / "docs.parquet"
    )
    found.append({"docs.parquet": (folder / "docs.parquet").read_bytes()})
    text = '{"id": "1", "text": "Ada met Bo.", "entities": [{"type": "PER", "mentions": [{"start": 0, "end": 3}]},'
    text += '{"type": "PER", "mentions": [{"start": 8, "end": 10}]}], "facts": [{"head": 0, "tail": 1, "relation": "m"}]}'
    found.append({"docs.jsonl": text.encode()})
    return found


def enormous(rng: Random) -> Files:
    """A document with far too many words, sentences, mentions, entities or facts."""
    count = rng.choice((1_000, 4_000, 20_000, 100_000))
    mention = {"name": "a", "pos": [0, 1], "sent_id": 0, "type": "T"}
    sents, entities, labels = [["a", "b"]], [[mention], [mention]], [{"h": 0, "t": 1, "r": "r"}]
    match rng.randrange(5):
        case 0:
            sents = [["a"] * 10 * count]
        case 1:
            sents = sents * count
        case 2:
            sents = [["a"] * count]
            entities = [[mention | {"pos": [rng.randrange(count), count]} for _ in range(count)], [mention]]
        case 3:
            entities = [[mention]] * count
        case _:
            labels = labels * count
    if rng.random() < 0.5:
        record = {"title": "1", "sents": sents, "vertexSet": entities, "labels": labels}
        return {"docs.json": json.dumps([record]).encode()}
    text = " ".join(word for sentence in sents for word in sentence)
    spans = [
        [
            {"start": min(2 * m["pos"][0], len(text) - 1), "end": len(text) if m["pos"][1] > 1 else 1}
            for m in e
        ]
        for e in entities
    ]
    facts = [{"head": f["h"], "tail": f["t"], "relation": f["r"]} for f in labels]
    made = [{"type": "T", "mentions": mentions} for mentions in spans]
    return {"docs.jsonl": json.dumps({"id": "1", "text": text, "entities": made, "facts": facts}).encode()}


class Readers:
    """`load_documents`; documents that were accepted are written and read again, and must be the same."""

    errors = (DataError,)

    def prepare(self, folder: Path) -> None:
        """Make the files that are damaged."""
        self.sources = sources(folder)

    def case(self, rng: Random) -> Files:
        """One file of a source damaged; now and then something enormous instead."""
        if rng.random() < 0.002:
            return enormous(rng)
        files = dict(rng.choice(self.sources))
        name = rng.choice(sorted(files))
        if name.endswith(".spacy") and rng.random() < 0.8:  # below its packing, which would notice
            return {name: zlib.compress(mutate(zlib.decompress(files[name]), rng), 1)}
        return files | {name: mutate(files[name], rng)}

    def attempt(self, folder: Path) -> None:
        """Read the documents, write them, read them again."""
        corpus = load_documents(*sorted(folder.iterdir()))
        corpus.candidates.index_pairs(corpus[0])
        for name in ("again.jsonl", "again.json"):
            write_documents(folder / name, corpus)
            again = load_documents(folder / name)
            if again.documents != corpus.documents:
                raise Wrong(f"documents differ after they were written as {name} and read again")
