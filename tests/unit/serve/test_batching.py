"""The threads of a queue share what waits."""

import threading

import torch

from unnoted.data.document import Document
from unnoted.inference import Extraction
from unnoted.serve.batching import BatchingQueue, ServiceMetrics


class Together:
    """An extractor that computes nothing until two threads ask."""

    device = "cpu"

    def __init__(self):
        self.barrier, self.sizes, self.threads = threading.Barrier(2), [], set()

    def extract(self, documents, **asked):
        self.barrier.wait(10)
        self.sizes.append(len(documents))
        self.threads.add(torch.get_num_threads())
        return [Extraction(document, ()) for document in documents]


def test_two_cores_compute_a_half_each(two_threads):
    extractor = Together()
    queue = BatchingQueue(extractor, 8, ServiceMetrics())
    results = queue.submit([Document(str(number), (), ()) for number in range(4)], 0.5)
    assert [one.result(10).document.id for one in results] == ["0", "1", "2", "3"]
    assert queue.is_working
    queue.close()
    assert extractor.sizes == [2, 2] and extractor.threads == {1}
    assert not queue.is_working and torch.get_num_threads() == 2
