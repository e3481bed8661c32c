import pytest
from tests.unit.review.factories import client, opened


@pytest.fixture
def store(tmp_path):
    made = opened(tmp_path)
    yield made
    made.close()


@pytest.fixture
def asking(store):
    with client(store) as made:
        yield made
