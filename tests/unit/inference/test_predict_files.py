"""Results that outlive an interruption."""

import json
import os
import resource
from contextlib import closing

import pytest
from tests.unit.inference.making import corpus

from unnoted.inference.facts import ExtractedFact, Extraction
from unnoted.inference.predict_files import PartialResults, threads_of_partial

FROM = {"model": "m", "threshold": None}


def opened(path, fingerprint=FROM):
    return closing(PartialResults(path, fingerprint))


def record(document):
    return Extraction(document, (ExtractedFact(0, 1, "r", "name of r", 0.5, (0,)),)).to_json()


@pytest.fixture
def path(tmp_path):
    """The results of three documents."""
    path = tmp_path / "out.partial"
    with opened(path) as results:
        assert results.skip_completed(iter(corpus())) == 0
        for document in corpus()[:3]:
            results.append(record(document))
    return path


def taken_up(path, documents=None):
    """How many are done, the next document, and the ids of the results."""
    stream = iter(corpus() if documents is None else documents)
    with opened(path) as results:
        done = results.skip_completed(stream)
        return done, next(stream, None), [record["id"] for record in results.records()]


def test_goes_on_after_what_is_done(path):
    ids = [document.id for document in corpus()]
    assert taken_up(path) == (3, corpus()[3], ids[:3])
    with opened(path) as results:
        stream = iter(corpus())
        results.skip_completed(stream)
        for document in stream:
            results.append(record(document))
        assert list(results.records()) == [record(document) for document in corpus()]


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
        ({**FROM, "model": "n"}, "another model .*'m', now 'n'"),
        ({**FROM, "threshold": 0.5}, "another threshold .*None, now 0"),
    ):
        with pytest.raises(ValueError, match=message):
            PartialResults(path, other)
    with pytest.raises(ValueError, match=r"line 2 .*'generated-0-0'.*'generated-0-1'"):
        taken_up(path, corpus()[1:])
    with pytest.raises(ValueError, match=r"line 4 .*'generated-0-2'"):
        taken_up(path, corpus()[:2])
    assert path.read_bytes() == before


def test_damage_is_refused(path):
    lines = path.read_text("utf-8").splitlines(keepends=True)
    for bad in ("{nonsense\n", "3\n", lines[2].replace("0.5", "0.6"), lines[2].replace("\t", " ")):
        path.write_text("".join([*lines[:2], bad, *lines[3:]]), "utf-8")
        with pytest.raises(ValueError, match=r"line 3 .*checksum"):
            taken_up(path)
    path.write_text("[\n", "utf-8")
    with pytest.raises(ValueError, match="line 1"):
        taken_up(path)


def test_a_line_is_on_disk_when_it_is_added(tmp_path):
    path = tmp_path / "out.partial"
    with opened(path) as results:
        results.append(record(corpus()[0]))
        assert json.loads(path.read_text("utf-8").splitlines()[1].partition("\t")[0])["id"] == corpus()[0].id


def test_only_whole_chunks_are_kept(path):
    whole = path.read_bytes()
    stream = iter(corpus())
    with opened(path) as results:
        assert results.skip_completed(stream, chunk=2) == 2
    assert next(stream) == corpus()[2]
    assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:3])


@pytest.mark.parametrize(
    "content", ["mine", "mine\n", "[1, 2]", '{"id": 1}\n', '{"partial results of me": 2}\n']
)
def test_a_file_of_the_user_is_left_as_it_is(path, content):
    path.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=r"out\.partial: b'.*' in line 1"):
        PartialResults(path, FROM)
    assert path.read_text("utf-8") == content


def test_a_first_line_that_was_cut_is_begun_anew(path):
    first = path.read_bytes().splitlines(keepends=True)[0]
    with opened(path.with_name("other"), {**FROM, "model": "a longer name"}):
        pass
    other = path.with_name("other").read_bytes()
    for begun in (b"", first[:1], first[:20], first[:-1], other[:-1]):
        path.write_bytes(begun)
        with opened(path):
            assert path.read_bytes() == first


def test_links_and_pipes_are_not_opened(path, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    path.unlink()
    path.symlink_to(victim)
    with pytest.raises(ValueError, match=r"out\.partial: a link"):
        PartialResults(path, FROM)
    assert victim.read_bytes() == b""
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ValueError, match="no regular file"):
        PartialResults(path, FROM)


@pytest.mark.parametrize(
    ("threads", "expected"), [(3, 3), (None, None), (0, None), ("3", None), (True, None), ([], None)]
)
def test_an_interrupted_run_is_continued_with_its_threads(tmp_path, threads, expected):
    with opened(tmp_path / "out.partial", {**FROM, "threads": threads}):
        assert threads_of_partial(tmp_path / "out.partial") == expected
    (tmp_path / "out.partial").write_bytes(b"[3]\n")
    assert threads_of_partial(tmp_path / "out.partial") is threads_of_partial(tmp_path / "none") is None


def test_a_full_disk_is_told(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(tmp_path / "out.partial") as results:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
        try:
            with pytest.raises(OSError, match=r"not written: File too large.*out\.partial"):
                for document in corpus() * 100:
                    results.append(record(document))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
