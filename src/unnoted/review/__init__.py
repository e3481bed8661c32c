"""Reviewing suggestions in a browser: what is shown, what is decided, and how it gets into the corpus."""

from unnoted.review.app import create_app, serve_review
from unnoted.review.export import Outcome, decide_by_majority, export_review
from unnoted.review.progress import Agreement, CompletenessEstimate, agreements, cohen_kappa
from unnoted.review.queue import Filters, Queue, View
from unnoted.review.store import (
    Author,
    Event,
    InvalidDecision,
    ReviewStore,
    State,
    Verdict,
    open_existing,
    open_review,
)

__all__ = [
    "Agreement",
    "Author",
    "CompletenessEstimate",
    "Event",
    "Filters",
    "InvalidDecision",
    "Outcome",
    "Queue",
    "ReviewStore",
    "State",
    "Verdict",
    "View",
    "agreements",
    "cohen_kappa",
    "create_app",
    "decide_by_majority",
    "export_review",
    "open_existing",
    "open_review",
    "serve_review",
]
