"""What was decided, back in the corpus that the suggestions came from."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unnoted.data.decisions import Decision, DecisionReport, apply_decisions
from unnoted.io import content_digest
from unnoted.review.store import ReviewStore
from unnoted.review.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Settled:
    """What a review comes to.

    Attributes:
        decisions: facts that hold or do not, by the majority of those who decided.
        tied: how many facts have as many for as against; they are left as they are.
    """

    decisions: tuple[Decision, ...]
    tied: int


def settled(store: ReviewStore) -> Settled:
    """The outcome for every fact that somebody decided.

    Each has its provenance: who said what and when, what judged, and how probable it found the fact.
    """
    decisions, tied = [], 0
    for row, said in _decided(store):
        votes = sum(1 if each["verdict"] == Verdict.ACCEPT else -1 for each in said)
        if votes == 0:
            tied += 1
            continue
        fact = row["document"], row["head"], row["tail"], row["relation"]
        evidence = tuple(json.loads(row["evidence"]))
        provenance = _provenance(row, said, store.about["model"])
        decisions.append(Decision(*fact, holds=votes > 0, evidence=evidence, provenance=provenance))
    return Settled(tuple(decisions), tied)


def export_review(
    store: ReviewStore, to: Path, source: Path | None = None, overwrite: bool = False
) -> tuple[DecisionReport, Settled]:
    """Write the corpus with what was decided.

    Args:
        store: the review.
        to: where to.
        source: the corpus, if it is not where it was when the suggestions were made.
        overwrite: replace a file that is there already.

    Raises:
        ValueError: the corpus is not there, or is not the one that the suggestions came from.
    """
    corpus = source_of(store) if source is None else source
    if content_digest(corpus) != store.about["source_checksum"]:
        raise ValueError(
            f"{corpus}: found other content, expected the file that the suggestions came from "
            f"(SHA-256 {store.about['source_checksum'][:12]}...)"
        )
    found = settled(store)
    return apply_decisions(corpus, found.decisions, to, overwrite), found


def source_of(store: ReviewStore) -> Path:
    """The corpus: where it was, or beside the review.

    Raises:
        ValueError: it is in neither place.
    """
    given = Path(store.about["source"])
    for place in (given, store.path.parent / given, store.path.parent / given.name):
        if place.is_file():
            return place
    raise ValueError(f"{given}: found no such file, expected the corpus; --source tells where it is now")


def _decided(store: ReviewStore) -> Iterator[tuple[sqlite3.Row, list[sqlite3.Row]]]:
    """Facts with what was said of them, in the order of the documents."""
    items = store.reading.execute(
        """SELECT items.* FROM items JOIN documents ON documents.id = items.document
           WHERE state IN ('accepted', 'rejected', 'disagreed') ORDER BY documents.position, items.id"""
    ).fetchall()
    for item in items:
        yield (
            item,
            store.reading.execute(
                """SELECT standing.reviewer, verdict, at FROM standing JOIN acts ON acts.id = act
               WHERE item = ? AND verdict != 'skip' ORDER BY act""",
                (item["id"],),
            ).fetchall(),
        )


def _provenance(row: sqlite3.Row, said: list[sqlite3.Row], model: str) -> dict[str, Any]:
    return {
        "decided": [
            {"by": each["reviewer"], "at": each["at"], "holds": each["verdict"] == Verdict.ACCEPT}
            for each in said
        ],
        "model": row["model"] or (model if row["proposed"] else None),
        "probability": row["probability"],
    }
