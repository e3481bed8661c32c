"""Progress of long work: the time that is left is that of what is left, whatever was slow or done before."""

import pytest

from unnoted import progress
from unnoted.progress import Progress, TimeLeft, read_progress, show_progress


@pytest.fixture
def clock(monkeypatch):
    """The seconds of `progress`, which pass only by `clock.append`."""
    seconds = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: sum(seconds))
    return seconds


def follow(steps, total=100.0):
    left = TimeLeft(total)
    for second, done in steps:
        left.report(done, second)
    return left


def test_there_is_no_pace_before_the_second_batch():
    assert follow([]).seconds is None and follow([(50, 10)]).seconds is None
    assert follow([(50, 10), (55, 20)]).seconds == 40


@pytest.mark.parametrize("first", [0.1, 10, 10_000])
def test_a_slow_first_batch_says_nothing(first):
    assert follow([(first, 8), (first + 2, 16), (first + 4, 24)]).seconds == pytest.approx(19)


def test_batches_that_threads_finish_side_by_side_are_one():
    assert follow([(10, 10), (10.01, 20)]).seconds is None
    assert follow([(10, 10), (10.01, 20), (20, 30), (20.01, 40)]).seconds == pytest.approx(30, rel=0.01)


def test_the_pace_of_late_counts_where_it_changes():
    fast = [(second, 10 * second) for second in range(1, 6)]
    slow = [(5 + second, 50 + second) for second in range(1, 21)]
    assert follow(fast + slow).seconds == pytest.approx(30)


@pytest.mark.parametrize("steps", [600, 5000])
def test_of_many_reports_some_are_kept(steps):
    left = follow([(second, second) for second in range(1, steps + 1)], total=2 * steps)
    assert left.seconds == pytest.approx(steps) and len(left._marks) <= progress.MAX_MARKS


def test_what_was_done_before_took_no_time(clock):
    shown = []
    made = Progress(100, lambda share, left, note: shown.append((share, left)))
    made.skip(50)
    for done in (55, 60):
        clock.append(10)
        made.report(done)
    assert shown == [(0.55, None), (0.6, 80)]


def test_parts_count_as_much_as_they_are_said_to(clock):
    shown = []
    whole = Progress(10, lambda share, left, note: shown.append((share, left)))
    for size, steps in ((4, 2), (6, 3)):  # a step takes 2 of the whole in either
        with whole.part(size), show_progress(steps, "part") as part:
            for step in range(steps):
                clock.append(10)
                part.report(step + 1)
    assert [share for share, _ in shown] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1])
    assert [left for _, left in shown] == [None, pytest.approx(30), None, pytest.approx(10), pytest.approx(0)]


def test_each_part_has_a_pace_of_its_own(clock):
    shown = []
    whole = Progress(20, lambda share, left, note: shown.append(left))
    for seconds in (100, 1):
        with whole.part(10), show_progress(10, "part") as part:
            for step in range(10):
                clock.append(seconds)
                part.report(step + 1)
    assert shown[1] == pytest.approx(1800) and shown[11:13] == pytest.approx([8, 7])


def test_a_part_that_was_done_before_says_nothing_of_the_pace(clock):
    shown = []
    whole = Progress(100, lambda share, left, note: shown.append(left))
    with whole.part(50):
        pass
    for done in (60, 70):
        clock.append(10)
        whole.report(done)
    assert shown[-1] == pytest.approx(30)


def test_lines_are_printed_for_long_work_only(clock, capsys):
    def lines(seconds):
        with show_progress(10, "work") as made:
            for done in range(10):
                clock.append(seconds)
                made.report(done + 1, "loss 2\x1b[31m")
        return capsys.readouterr().err.splitlines()

    assert lines(2) == []
    long = lines(60)
    assert len(long) == 9 and long[0] == r"work: 20%, 8 min 00 s left, loss 2\x1b[31m"


def test_another_process_reads_the_share(tmp_path, clock):
    file = tmp_path / "progress"
    assert read_progress(file) == 0
    with show_progress(4, "work", shown=False, file=file) as made:
        for done in range(3):
            clock.append(2)
            made.report(done)
    assert read_progress(file) == 0.5
    file.write_text("0.")
    assert read_progress(file) == 0
    file.write_text("x")
    assert read_progress(file) == 0
