"""What a service counts, as Prometheus reads it."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ServiceMetrics:
    """The counters of one service, in a registry of their own.

    Example:
        >>> metrics = ServiceMetrics()
        >>> metrics.documents.inc(3)
        >>> "unnoted_documents_total 3.0" in metrics.text()
        True
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "unnoted_requests", "Requests that were answered.", ("path", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "unnoted_request_seconds", "Time until a request was answered.", ("path",),
            buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.under_way = Gauge("unnoted_requests_under_way", "Requests under way.", registry=self.registry)
        self.waiting = Gauge(
            "unnoted_queue_documents", "Documents that wait or are computed.", registry=self.registry
        )
        self.documents = Counter("unnoted_documents", "Documents that were read.", registry=self.registry)
        self.facts = Counter("unnoted_facts", "Facts that were predicted.", registry=self.registry)
        self.failures = Counter(
            "unnoted_failed_documents", "Documents at which the model failed.", registry=self.registry
        )
        self.batches = Histogram(
            "unnoted_batch_documents", "Documents that were computed together.",
            buckets=SIZES, registry=self.registry,
        )  # fmt: skip
        self.computing = Counter(
            "unnoted_computing_seconds", "Time in which the model computed.", registry=self.registry
        )

    def text(self) -> str:
        """All of it, in the text format of Prometheus."""
        return generate_latest(self.registry).decode()
