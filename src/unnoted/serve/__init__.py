"""A trained model as a web service: documents in, facts out, for many clients at once, within bounds.

Needs an extra: `pip install 'unnoted[serve]'`.
"""

from unnoted.serve.application import create_app
from unnoted.serve.extraction_service import ExtractionService
from unnoted.serve.server import serve
from unnoted.serve.service_limits import ServiceLimits

__all__ = ["ExtractionService", "ServiceLimits", "create_app", "serve"]
