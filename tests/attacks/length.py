"""One document of any size through one architecture on one encoder: how much memory does it take?

`python -m tests.attacks.length --architecture atlop --encoder recurrent --words 50000` prints one line. A limit
(`--more`) makes the program fail where it would ask for more, before the machine has to give it.
"""

import argparse
import random
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from unnoted.data.document import Document, Entity, Mention
from unnoted.inference import Extractor
from unnoted.models.encoders import ENCODER_KINDS, make_encoder
from unnoted.models.model import RelationModel

SENTENCE = 20
"""Words in a sentence."""


def long_document(words: int, entities: int, mentions: int, seed: int = 0) -> Document:
    """A document of so many words, in which every entity has so many mentions of one word, anywhere."""
    dice = random.Random(seed)
    text = [f"w{dice.randrange(500)}" for _ in range(words)]
    sentences = tuple(tuple(text[start : start + SENTENCE]) for start in range(0, words, SENTENCE))
    return Document("long", sentences, tuple(_entity(dice, words, mentions) for _ in range(entities)))


def _entity(dice: random.Random, words: int, mentions: int) -> Entity:
    places = [divmod(place, SENTENCE) for place in sorted(dice.sample(range(words), mentions))]
    return Entity(tuple(Mention(sentence, word, word + 1, "PER", "x") for sentence, word in places))


def made_model(architecture: str, encoder: str, document: Document, relations: int, size: int | None):
    """A model with random weights, on a made encoder or on one in a folder."""
    names = [f"P{number}" for number in range(relations)]
    options = {} if size is None else {"embedding": size, "block": 4}
    options |= {"architecture": architecture, "entity_types": ["PER"]}
    if encoder not in ENCODER_KINDS:
        return RelationModel.from_encoder(encoder, names, **options)
    config = ENCODER_KINDS[encoder]()
    if size is not None:
        config.hidden_size = size
    with TemporaryDirectory() as folder:
        make_encoder(Path(folder), [document], config=config, min_document_frequency=1)
        return RelationModel.from_encoder(folder, names, **options)


def peak() -> float:
    """The most memory that this process has held so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def address_space() -> int:
    """What this process has asked for so far, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--architecture", default="atlop")
    parser.add_argument("--encoder", default="recurrent")
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--entities", type=int, default=40)
    parser.add_argument("--mentions", type=int, default=3, help="of each entity")
    parser.add_argument("--relations", type=int, default=96)
    parser.add_argument("--size", type=int, help="of states and embeddings, for small models")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--more", type=float, help="GB of address space beyond what is used before, at most")
    chosen = parser.parse_args()
    document = long_document(chosen.words, chosen.entities, chosen.mentions)
    model = made_model(chosen.architecture, chosen.encoder, document, chosen.relations, chosen.size)
    extractor = Extractor(model.eval())
    list(
        extractor.extract([long_document(40, 3, 2)])
    )  # what is loaded at the first use is not the document's
    if chosen.more is not None:
        limit = address_space() + int(chosen.more * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    before, started = peak(), time.monotonic()
    (extraction,) = extractor.extract([document], threshold=chosen.threshold)
    print(
        f"architecture={chosen.architecture} encoder={Path(chosen.encoder).name} words={chosen.words} "
        f"entities={chosen.entities} mentions={chosen.entities * chosen.mentions} "
        f"facts={len(extraction.facts)} added={peak() - before:.2f} peak={peak():.2f} "
        f"seconds={time.monotonic() - started:.1f}"
    )


if __name__ == "__main__":
    main()
