"""One Extractor, many threads: does each get what one alone gets?"""

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


def made_extractor(documents: Sequence[Document]) -> Extractor:
    """An extractor with random weights."""
    with TemporaryDirectory() as folder:
        make_encoder(Path(folder), documents, config=ENCODER_KINDS["bran"](), min_document_frequency=1)
        model = RelationModel.from_encoder(folder, list(relation_names()), embedding=64)
    return Extractor(model.eval(), chunk=8)


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


def share_extractor(threads, documents, seed=1):
    """Every thread gets what one alone gets, bit for bit, and one that asks afterwards as well."""
    dice = random.Random(seed)
    made = list(generate_documents(documents, seed=seed))
    shares = [dice.sample(made, len(made)) for _ in range(threads)]
    alone = made_extractor(made)
    expected = [asked(alone, share) for share in shares]
    assert any(extraction.facts for extraction in expected[0][0])
    # Another one of the same weights, which knows no word yet: most can go wrong at its first documents.
    extractor = Extractor(alone.model, chunk=alone.chunk)
    assert asked_at_once(extractor, shares) == expected
    assert asked(extractor, shares[0]) == expected[0]
