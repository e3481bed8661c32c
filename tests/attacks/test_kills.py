"""Commands that are killed or raced, and an extractor that threads share: `make test-slow`."""

import pytest

from tests.attacks.kill_predict import kill_predict, two_writers
from tests.attacks.kill_review import kill_review
from tests.attacks.kill_train import kill_train
from tests.attacks.threads import share_extractor

pytestmark = pytest.mark.slow


def test_a_killed_prediction_ends_with_the_same_bytes():
    kill_predict(kills=10)


def test_a_killed_training_ends_with_the_same_weights():
    kill_train(kills=6)


def test_a_killed_review_keeps_what_it_acknowledged():
    kill_review(kills=5, decisions=300)


def test_of_two_writers_one_works_and_the_other_says_why():
    two_writers(rounds=5)


def test_threads_that_share_an_extractor_get_what_one_gets():
    share_extractor(threads=4, documents=60)
