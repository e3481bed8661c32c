"""Whatever its own description allows, and much that it does not, gives no server error and a described answer."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.unit.serve.factories import extractor, reader

from unnoted.serve import ExtractionService, ServiceLimits, create_app

schemathesis.serializer.alias("application/x-ndjson", "text/plain")
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
PATHS = {"/extract", "/extract/stream", "/extract/text", "/health", "/ready", "/metrics"}


@pytest.fixture
def operations():
    service = ExtractionService(extractor(), "small", reader(), ServiceLimits(words=200, entities=20))
    described = schemathesis.openapi.from_asgi("/openapi.json", create_app(service))
    yield [operation.ok() for operation in described.get_all_operations()]
    service.close()


def answered_as_described(operations, examples):
    """Ask every path so often, with requests as they should be and with others; returns how many were asked."""
    asked = 0
    for operation in operations:
        modes = list(GenerationMode) if operation.method == "post" else [GenerationMode.POSITIVE]
        for mode in modes:  # nothing can be wrong with a request that has nothing

            @given(operation.as_strategy(generation_mode=mode))
            @settings(
                max_examples=examples, deadline=None, derandomize=True, database=None,
                phases=[Phase.generate], suppress_health_check=list(HealthCheck),
            )  # fmt: skip
            def ask(case):
                nonlocal asked
                asked += 1
                case.call_and_validate(checks=CHECKS)

            ask()
    return asked


def test_a_few_requests_of_every_kind(operations):
    assert {operation.path for operation in operations} == PATHS
    assert answered_as_described(operations, 5) > 15


@pytest.mark.slow
def test_many_requests_of_every_kind(operations):
    assert answered_as_described(operations, 400) > 1000
