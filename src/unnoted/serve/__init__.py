"""A trained model as a web service: documents in, facts out, for many clients at once, within limits.

Needs an extra: `pip install 'unnoted[serve]'`.
"""

from unnoted.serve.app import create_app, serve
from unnoted.serve.batching import ExtractionService, ServiceLimits

__all__ = ["ExtractionService", "ServiceLimits", "create_app", "serve"]
