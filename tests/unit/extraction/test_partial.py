"""Results that outlive an interruption."""

import json

import pytest
from tests.unit.extraction.making import corpus

from unnoted.extraction.facts import ExtractedFact, Extraction
from unnoted.extraction.partial import PartialResults

FROM = {"model": "m", "threshold": None}


def extraction(document, probability=0.5):
    return Extraction(document, (ExtractedFact(0, 1, "r", "name of r", probability, 0.1, (0,)),))


@pytest.fixture
def path(tmp_path):
    """The results of three documents."""
    path = tmp_path / "out.partial"
    with PartialResults(path, FROM) as results:
        assert results.pass_over(iter(corpus())) == 0
        for document in corpus()[:3]:
            results.append(extraction(document))
    return path


def taken_up(path, documents=None):
    """How many are done, the next document, and the ids of the results."""
    stream = iter(corpus() if documents is None else documents)
    with PartialResults(path, FROM) as results:
        done = results.pass_over(stream)
        return done, next(stream, None), [record["id"] for record in results.records()]


def test_goes_on_after_what_is_done(path):
    ids = [document.id for document in corpus()]
    assert taken_up(path) == (3, corpus()[3], ids[:3])
    with PartialResults(path, FROM) as results:
        stream = iter(corpus())
        results.pass_over(stream)
        for document in stream:
            results.append(extraction(document))
        assert list(results.records()) == [extraction(document).to_json() for document in corpus()]


def test_cut_anywhere(path):
    whole = path.read_bytes()
    ends = [number + 1 for number, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(0, len(whole) + 1, 7):
        path.write_bytes(whole[:length])
        complete = max(sum(end <= length for end in ends) - 1, 0)
        assert taken_up(path)[0] == complete
        assert path.read_bytes() == whole[: ends[complete]]


def test_of_something_else_is_refused(path):
    before = path.read_bytes()
    for other, message in (
        ({**FROM, "model": "n"}, "another model: found m, expected n; delete the file"),
        ({**FROM, "threshold": 0.5}, "another threshold: found None, expected 0"),
    ):
        with pytest.raises(ValueError, match=message):
            PartialResults(path, other)
    with pytest.raises(
        ValueError, match="line 2: found document 'generated-0-0', expected document 'generated-0-1'"
    ):
        taken_up(path, corpus()[1:])
    with pytest.raises(
        ValueError, match="line 4: found document 'generated-0-2', expected no more documents"
    ):
        taken_up(path, corpus()[:2])
    assert path.read_bytes() == before


def test_damage_is_refused(path):
    lines = path.read_text("utf-8").splitlines(keepends=True)
    for bad in ("{nonsense\n", "3\n"):
        path.write_text("".join([*lines[:2], bad, *lines[3:]]), "utf-8")
        with pytest.raises(ValueError, match=r"line 3: found b'.*expected a JSON object"):
            taken_up(path)
    path.write_text("[\n", "utf-8")
    with pytest.raises(ValueError, match="line 1"):
        taken_up(path)


def test_a_line_is_on_disk_when_it_is_added(tmp_path):
    path = tmp_path / "out.partial"
    with PartialResults(path, FROM) as results:
        results.append(extraction(corpus()[0]))
        assert json.loads(path.read_text("utf-8").splitlines()[1])["id"] == corpus()[0].id
