"""One Extractor, many threads: does each get what one alone gets?

`python -m tests.attacks.threads --threads 8 --documents 200 --seed 1` prints one line; the exit code is 0 only if
everything is equal, bit for bit, and stays equal when one thread asks again.
"""

import argparse
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier
from typing import TypeAlias

from unnoted.data.document import Document
from unnoted.data.synthetic import generate_documents, relation_names
from unnoted.inference import Extraction, Extractor
from unnoted.models.encoders import ENCODER_KINDS, make_encoder
from unnoted.models.model import RelationModel

THRESHOLD = 0.6
"""Facts of at least this score are predicted: a few of each document, by random weights."""

Answer: TypeAlias = tuple[list[Extraction], list[bytes]]
"""The facts of some documents, and the probabilities of all their pairs as bytes."""


def made_extractor(documents: Sequence[Document], encoder: str = "bran") -> Extractor:
    """An extractor with random weights, on a made encoder or on one in a folder."""
    relations = list(relation_names())
    if encoder not in ENCODER_KINDS:
        return Extractor(RelationModel.from_encoder(encoder, relations).eval(), chunk=8)
    with TemporaryDirectory() as folder:
        make_encoder(Path(folder), documents, config=ENCODER_KINDS[encoder](), min_document_frequency=1)
        return Extractor(RelationModel.from_encoder(folder, relations, embedding=64).eval(), chunk=8)


def asked(extractor: Extractor, documents: Sequence[Document]) -> Answer:
    """What an extractor finds, and all that it computed."""
    seen: list[bytes] = []
    return list(
        extractor.extract(
            documents, threshold=THRESHOLD, on_scores=lambda pairs: seen.append(pairs.probability.tobytes())
        )
    ), seen


def asked_at_once(extractor: Extractor, shares: Sequence[Sequence[Document]]) -> list[Answer | Exception]:
    """What it finds for each share, or how it fails, when a thread for each asks at the same moment."""
    ready = Barrier(len(shares))

    def ask(documents: Sequence[Document]) -> Answer | Exception:
        ready.wait()
        try:
            return asked(extractor, documents)
        except Exception as error:  # what is counted here
            return error

    with ThreadPoolExecutor(len(shares)) as pool:
        return list(pool.map(ask, shares))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--documents", type=int, default=200, help="for each thread")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--encoder", default="bran")
    chosen = parser.parse_args()
    dice = random.Random(chosen.seed)
    documents = list(generate_documents(chosen.documents, seed=chosen.seed))
    shares = [dice.sample(documents, len(documents)) for _ in range(chosen.threads)]
    alone = made_extractor(documents, chosen.encoder)
    expected = [asked(alone, share) for share in shares]
    # Another one of the same weights, which knows no word yet: most can go wrong at its first documents.
    extractor = Extractor(alone.model, chunk=alone.chunk)
    found = asked_at_once(extractor, shares)
    equal = sum(one == other for one, other in zip(found, expected, strict=True))
    failed = sum(isinstance(each, Exception) for each in found)
    try:
        sound = asked(extractor, shares[0]) == expected[0]
    except Exception:
        sound = False
    facts = sum(len(extraction.facts) for found, _ in expected for extraction in found)
    print(
        f"threads={chosen.threads} documents={chosen.documents} seed={chosen.seed} facts={facts} "
        f"equal={equal} failed={failed} sound_afterwards={'yes' if sound else 'no'}"
    )
    raise SystemExit(0 if equal == chosen.threads and sound else 1)


if __name__ == "__main__":
    main()
