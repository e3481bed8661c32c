"""A file of documents with what people decided about its facts, and everything else as it was.

The file keeps its format, and with it whatever this project does not read: keys, their order, the order of
entities, how numbers are written. So it still fits the tool that it came from.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from unnoted.data.contents import FileContent, write_content
from unnoted.data.decided import FactDecision, Mending, MendReport
from unnoted.data.formats import FORMATS, DocumentFormat, recognise
from unnoted.data.loading import stream_documents
from unnoted.errors import DataError, Defect, Kind
from unnoted.io import lock_output, refuse_stream

Decision = FactDecision
"""What a person said of one fact."""

NEGATIVES, PROVENANCE = ".negatives.tsv", ".provenance.jsonl"
"""Endings of files beside a mended one, where its format has no room for what they hold."""


def mend(
    source: str | Path | Sequence[str | Path],
    decisions: Iterable[FactDecision],
    to: str | Path | Sequence[str | Path],
    overwrite: bool = False,
) -> MendReport:
    """Write a file again with the facts that people added, and without those that they rejected.

    An accepted fact is labelled; one that is labelled already stays as it is. A rejected fact becomes a known
    negative, and if it was labelled it is not any more. Of several decisions about one fact the last counts.
    Provenance stands beside the fact in the file; where the format has no room, in `<to>.provenance.jsonl`.
    A format that has no room for known negatives gets them in `<to>.negatives.tsv`, to be read with it.

    Args:
        source: a file in a format that can be mended; for PubTator also several, with its relation files.
        decisions: about facts of its documents.
        to: where to; as many files as `source` has.
        overwrite: replace files that are there already. The source itself is never written over.

    Raises:
        DataError: the file cannot be read or mended, or a decision names what it does not have.
        ValueError: a file is source and output, or is there already.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "corpus.jsonl")
        ...     _ = path.write_text('{"id": "1", "text": "Ada met Bo.", "mine": 1.50, "entities": ['
        ...                         '{"type": "PER", "mentions": [{"start": 0, "end": 3}]},'
        ...                         '{"type": "PER", "mentions": [{"start": 8, "end": 10}]}]}')
        ...     said = [Decision("1", 0, 1, "met", holds=True), Decision("1", 1, 0, "spouse", holds=False)]
        ...     report = mend(path, said, Path(folder, "mended.jsonl"))
        ...     print(Path(folder, "mended.jsonl").read_text()[-130:])
        ...     report.added, report.rejected
         "end": 10}]}], "facts": [{"head": 0, "tail": 1, "relation": "met"}],\
 "negatives": [{"head": 1, "tail": 0, "relation": "spouse"}]}
        (1, 1)
    """
    sources, outputs = _paths(source), _paths(to)
    if len(sources) != len(outputs):
        raise ValueError(f"found {len(outputs)} files to write, expected one for each of {len(sources)}")
    for path in sources:
        refuse_stream(path)
    write = _format(sources).mend
    assert write is not None  # `_format` gives none without
    mending = Mending.of(sources, stream_documents(*sources), decisions)
    contents = write(mending)
    texts: dict[Path, FileContent] = dict(zip(outputs, contents, strict=True))
    if mending.negatives:
        texts[Path(f"{outputs[0]}{NEGATIVES}")] = mending.negatives
    if mending.unplaced:
        texts[Path(f"{outputs[0]}{PROVENANCE}")] = "".join(map(_provenance, mending.unplaced))
    with lock_output(*texts, inputs=sources, overwrite=overwrite):
        for path, text in texts.items():
            write_content(path, text)
    mending.report.files = tuple(texts)
    return mending.report


def _paths(given: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    return (Path(given),) if isinstance(given, str | Path) else tuple(map(Path, given))


def _format(sources: Sequence[Path]) -> DocumentFormat:
    """The format of the files that hold documents; relation rows belong to it."""
    for path in sources:
        entry = recognise(path)
        if entry.has_documents:
            if entry.mend is None:
                fitting = ", ".join(each.name for each in FORMATS.values() if each.mend)
                expected = f"a format that can be mended ({fitting})"
                raise DataError(Defect(Kind.UNREADABLE, str(path), None, None, entry.name, expected))
            return entry
    raise DataError(Defect(Kind.UNREADABLE, str(sources[0]), None, None, "relation rows only", "documents"))


def _provenance(decision: FactDecision) -> str:
    fields = {
        "document": decision.document,
        "head": decision.head,
        "tail": decision.tail,
        "relation": decision.relation,
        "holds": decision.holds,
        "provenance": dict(decision.provenance),
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"
