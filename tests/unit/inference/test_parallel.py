"""Batches beside each other: the order, the results and the errors of one after the other."""

import threading
from itertools import count

import pytest
import torch
from tests.attacks.threads import asked
from tests.unit.inference.making import corpus, reading_model

from unnoted.inference import Extractor
from unnoted.inference.parallel import map_parallel
from unnoted.models.samplers import BatchLimits


def test_results_come_in_order_from_threads_with_one_thread_each(two_threads):
    together = threading.Barrier(2)

    def work(number):
        together.wait(10)  # nobody gets here alone
        return number, torch.get_num_threads(), threading.current_thread().name

    found = list(map_parallel(work, range(4)))
    assert [number for number, _, _ in found] == [0, 1, 2, 3]
    assert {threads for _, threads, _ in found} == {1} and len({name for *_, name in found}) == 2
    assert torch.get_num_threads() == 2
    seen = []
    later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert seen == [2]  # what other threads get is as it was


@pytest.mark.parametrize(("threads", "items"), [(1, 3), (2, 1)])
def test_alone_all_is_done_here(threads, items):
    here = threading.current_thread().name
    names = list(map_parallel(lambda _: threading.current_thread().name, range(items), threads))
    assert names == [here] * items


def test_an_error_stands_in_its_place_and_no_more_is_begun():
    begun = count()

    def work(number):
        next(begun)
        if number == 2:
            raise ValueError("the third")
        return number

    results = map_parallel(work, range(1000), threads=2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="the third"):
        next(results)
    assert next(begun) < 20


def test_no_more_is_begun_than_is_taken():
    begun = []
    results = map_parallel(begun.append, range(1000), threads=2)
    next(results)
    results.close()
    assert len(begun) <= 5


def test_facts_are_those_of_one_batch_after_the_other(two_threads):
    documents, model = corpus(12), reading_model(torch.float32)
    extractor = Extractor(model, batch=BatchLimits(2))
    beside = asked(extractor, documents)
    torch.set_num_threads(1)
    assert beside == asked(extractor, documents)
    assert any(extraction.facts for extraction in beside[0])
