"""Reviewing suggestions in a browser: what is shown, what is decided, and how it gets into the corpus."""

from unnoted.review.app import create_app, serve_review
from unnoted.review.export import export_review
from unnoted.review.store import ReviewStore, open_existing, open_review

__all__ = ["ReviewStore", "create_app", "export_review", "open_existing", "open_review", "serve_review"]
