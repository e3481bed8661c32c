"""Suggestions decided in a browser: what is shown, what is decided, and how it gets into the corpus."""

from unnoted.review.agreement import Agreement, agreement
from unnoted.review.carrying import Carried, carry
from unnoted.review.exporting import Settled, export_review, settled
from unnoted.review.opening import existing_review, open_review
from unnoted.review.queue import Filters, Queue, View
from unnoted.review.serving import serve_review
from unnoted.review.store import Act, NotDecided, ReviewStore, Signature
from unnoted.review.verdict import Standing, Verdict

__all__ = [
    "Act",
    "Agreement",
    "Carried",
    "Filters",
    "NotDecided",
    "Queue",
    "ReviewStore",
    "Settled",
    "Signature",
    "Standing",
    "Verdict",
    "View",
    "agreement",
    "carry",
    "existing_review",
    "export_review",
    "open_review",
    "serve_review",
    "settled",
]
