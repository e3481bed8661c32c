"""Which mentions are one entity."""

import pytest
from tests.unit.data.formats.factories import put

from unnoted.data import load_documents
from unnoted.data.check import check_files
from unnoted.data.entity_clustering import AnnotatedSpan, cluster_mentions
from unnoted.errors import DefectKind


def mark(ref, name, kind="PER", identifier=None):
    return AnnotatedSpan(ref, 0, 1, kind, name, identifier)


@pytest.mark.parametrize(
    ("marks", "links", "groups"),
    [
        ([mark("1", "Ada"), mark("2", "Ada"), mark("3", "ADA ")], [], [[0, 1, 2]]),
        ([mark("1", "Ada"), mark("2", "Ada", "LOC")], [], [[0], [1]]),
        ([mark("1", "the  Bank’s", "ORG"), mark("2", "ＢＡＮＫ", "ORG")], [], [[0, 1]]),
        # what links say is not undone by names
        (
            [mark("1", "Ada"), mark("2", "She"), mark("3", "Ada"), mark("4", "her")],
            [("1", "2"), ("3", "4")],
            [[0, 1], [2, 3]],
        ),
        ([mark("1", "Ada", identifier="Q1"), mark("2", "Ada", identifier="Q2")], [], [[0], [1]]),
        ([mark("1", "Ada", identifier="Q1"), mark("2", "Countess", identifier="Q1")], [], [[0, 1]]),
        # without id it joins the one that is called like it, and none of two
        ([mark("1", "Ada", identifier="Q1"), mark("2", "Ada")], [], [[0, 1]]),
        (
            [mark("1", "Ada", identifier="Q1"), mark("2", "Ada", identifier="Q2"), mark("3", "Ada")],
            [],
            [[0], [1], [2]],
        ),
        ([mark("1", "Ada"), mark("2", "She"), mark("3", "Bo")], [("1", "2"), ("2", "9")], [[0, 1], [2]]),
        (
            [mark("1", "Ada"), mark("2", "Bo"), mark("3", "x"), mark("4", "y")],
            [("4", "3"), ("3", "2")],
            [[0], [1, 2, 3]],
        ),
    ],
)
def test_which_mentions_are_one_entity(marks, links, groups):
    assert [
        [marks.index(mark) for mark in group] for group in cluster_mentions(marks, links).groups
    ] == groups


def test_links_join_no_different_ids(tmp_path):
    """Not even by way of a third mention, which goes with the first."""
    marks = [mark("1", "Ada", identifier="Q1"), mark("2", "She"), mark("3", "Bo", identifier="Q2")]
    found = cluster_mentions(marks, [("2", "1"), ("2", "3")])
    assert (found.groups, found.refused) == ([marks[:2], marks[2:]], [(marks[1], marks[2])])
    put(tmp_path / "a.txt", "Ada, she, Bo")
    lines = ["T1\tP 0 3\tAda", "T2\tP 5 8\tshe", "T3\tP 10 12\tBo", "*\tEquiv T2 T1 T3"]
    lines += ["N1\tReference T1 a:1", "N2\tReference T3 a:2"]
    path = put(tmp_path / "a.ann", "\n".join(lines))
    assert [len(entity.mentions) for entity in load_documents(path)[0].entities] == [2, 1]
    (defect,) = check_files([path]).log.examples[DefectKind.CONFLICTING_ID]
    assert defect.within_file == (
        "document 'a': line 3: 'a:2', expected the id of 'she', which it is linked to; they stay apart"
    )
