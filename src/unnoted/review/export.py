"""The decisions of a review, written back into the corpus that the suggestions came from."""

import json
from pathlib import Path

from unnoted.data.decisions import Decision, DecisionReport, apply_decisions
from unnoted.io import content_digest
from unnoted.review.store import ReviewStore, Verdict


def export_review(
    store: ReviewStore, to: Path, source: Path | None = None, overwrite: bool = False
) -> tuple[DecisionReport, int]:
    """Write the corpus with accepted facts as labels, rejected ones as known negatives, and entities merged.

    Args:
        store: the review.
        to: where to.
        source: the corpus, if it is not where it was when the suggestions were made.
        overwrite: replace a file that is there already.

    Returns:
        What was changed, and how many facts were left as they are because reviewers are tied over them.

    Raises:
        ValueError: the corpus is not there, or is not the one that the suggestions came from.
    """
    corpus = find_source(store) if source is None else source
    if content_digest(corpus) != store.about["source_checksum"]:
        raise ValueError(
            f"{corpus}: this is not the corpus that the suggestions came from: its content has changed "
            f"(SHA-256 was {store.about['source_checksum'][:12]}...)"
        )
    decisions, tied = decide_by_majority(store)
    return apply_decisions(corpus, decisions, to, overwrite, store.merges()), tied


def decide_by_majority(store: ReviewStore) -> tuple[list[Decision], int]:
    """Which facts hold or do not, by the majority of those who decided, and the number of ties.

    A decision's provenance says who decided what and when, with which note, which model proposed it, and with which score.
    """
    items = store.query(
        """SELECT items.* FROM items JOIN documents ON documents.id = items.document
           WHERE state IN ('accepted', 'rejected', 'disagreed') ORDER BY documents.position, items.id"""
    )
    decisions, tied = [], 0
    for item in items:
        votes = [
            {"by": each["reviewer"], "at": each["at"], "holds": each["verdict"] == Verdict.ACCEPT}
            | ({"note": each["note"]} if each["note"] else {})
            for each in store.decisions_of(item["id"])
            if each["verdict"] != Verdict.SKIP
        ]
        balance = sum(1 if each["holds"] else -1 for each in votes)
        if balance == 0:
            tied += 1
            continue
        proposed = item["proposed"]
        provenance = {
            "decided": votes,
            "model": store.about["model"] if proposed else None,
            "score": item["score"] if proposed else None,
        }
        fact = item["document"], item["head"], item["tail"], item["relation"]
        decisions.append(Decision(*fact, balance > 0, tuple(json.loads(item["evidence"])), provenance))
    return decisions, tied


def find_source(store: ReviewStore) -> Path:
    """The corpus, a file or a folder: where it was, or beside the review.

    Raises:
        ValueError: it is in neither place.
    """
    given = Path(store.about["source"])
    for place in (given, store.path.parent / given, store.path.parent / given.name):
        if place.exists():
            return place
    raise ValueError(f"{given}: the corpus is not there any more: --source names its new place")
