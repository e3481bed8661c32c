"""Label Studio."""

import pytest
from tests.unit.data.formats.factories import kinds, put, triples

from unnoted.data import DataError, load_documents
from unnoted.data.formats import detect_format


def region(ref, start, end, name, kind="PER", **more):
    return {
        "id": ref,
        "type": "labels",
        "value": {"start": start, "end": end, "text": name, "labels": [kind]},
        **more,
    }


def arc(head, tail, *labels, **more):
    return {
        "from_id": head,
        "to_id": tail,
        "type": "relation",
        "direction": "right",
        "labels": list(labels),
        **more,
    }


RESULT = [region("a", 0, 3, "Ada"), region("b", 8, 10, "Bo"), arc("a", "b", "met")]


def task(result=RESULT, text="Ada met Bo.", **more):
    return {"id": 7, "data": {"text": text}, "annotations": [{"result": result}]} | more


def test_a_task_of_label_studio(tmp_path):
    path = put(tmp_path / "a.json", [task()])
    (document,) = load_documents(path)
    assert (detect_format(path).name, document.id, triples(document)) == (
        "Label Studio JSON",
        "7",
        [("Ada", "met", "Bo")],
    )


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"direction": "left"}, [("Bo", "met", "Ada")]),
        ({"direction": "bi"}, [("Ada", "met", "Bo"), ("Bo", "met", "Ada")]),
        ({"labels": ["met", "likes"]}, [("Ada", "met", "Bo"), ("Ada", "likes", "Bo")]),
        ({"labels": []}, [("Ada", "related", "Bo")]),
    ],
)
def test_relations_of_label_studio(tmp_path, more, found):
    (document,) = load_documents(put(tmp_path / "a.json", [task([*RESULT[:2], arc("a", "b", "met") | more])]))
    assert triples(document) == found


def test_entities_of_label_studio(tmp_path):
    text = "Ada met Bo. She left. The countess smiled."
    note = {"meta": {"text": ["id: Q7"]}}
    result = [
        region("a", 0, 3, "Ada", **note),
        region("b", 8, 10, "Bo"),
        region("c", 12, 15, "She"),
        region("d", 22, 34, "The countess", **note),
        arc("c", "a", "Coref"),
    ]
    (document,) = load_documents(put(tmp_path / "a.json", [task(result, text)]))
    assert [(e.id, [m.name for m in e.mentions]) for e in document.entities] == [
        ("Q7", ["Ada", "She", "The countess"]),
        (None, ["Bo"]),
    ]
    assert document.facts == ()


def test_a_second_label_of_a_region_is_reported(tmp_path):
    both = region("a", 0, 3, "Ada")
    both["value"]["labels"] = ["PER", "COUNTESS"]
    path = put(tmp_path / "a.json", [task([both, *RESULT[1:]])])
    assert load_documents(path)[0].entities[0].type == "PER"
    assert kinds(path)["unused-annotation"] == 1


def test_which_annotation_of_a_task_counts(tmp_path):
    old = {"result": [], "updated_at": "2026-01-01"}
    new = {"result": RESULT, "updated_at": "2026-02-01"}
    cancelled = {"result": [], "updated_at": "2026-03-01", "was_cancelled": True}
    truth = {"result": RESULT[:2], "ground_truth": True}
    for annotations, facts in (([old, new, cancelled], 1), ([new, old], 1), ([new, truth], 0)):
        (document,) = load_documents(put(tmp_path / "a.json", [task(annotations=annotations)]))
        assert len(document.facts) == facts


def test_offsets_in_units_of_utf_16_are_recognised(tmp_path):
    """Older versions of Label Studio counted as JavaScript does."""
    text = "💩 Ada met\nBo."
    for shift in (0, 1):
        result = [region("a", 2 + shift, 5 + shift, "Ada"), region("b", 6 + shift, 12 + shift, "met\\nBo")]
        (document,) = load_documents(put(tmp_path / "a.json", [task(result, text)]))
        assert [entity.name for entity in document.entities] == ["Ada", "met\nBo"]


def test_a_task_as_version_1_23_exports_it(tmp_path):
    """Predictions are numbers there, and the editor adds `origin`; made by Label Studio 1.23.2."""
    annotation = {"id": 1, "completed_by": 1, "result": [{**item, "origin": "manual"} for item in RESULT]}
    annotation |= {"was_cancelled": False, "ground_truth": True, "updated_at": "2026-11-17T10:28:52.066127Z"}
    exported = {
        "id": 1,
        "annotations": [annotation],
        "drafts": [],
        "predictions": [1],
        "data": {"text": "Ada met Bo."},
    }
    assert len(load_documents(put(tmp_path / "a.json", [exported]))[0].facts) == 1
    (document,) = load_documents(put(tmp_path / "a.json", [exported | {"annotations": []}]))
    assert document.entities == ()


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (
            task([region("a", 1, 4, "Ada")]),
            r"annotations\[0\].result\[0\].value.text: 'Ada', expected 'da ', the",
        ),
        (
            task([region("a", 0, 400, None)]),
            r"annotations\[0\].result\[0\], start/end: 0 to 400, expected 0 <=",
        ),
        (
            task([region("a", "x", 4, None)]),
            r"annotations\[0\].result\[0\].value.start: 'x', expected a whole",
        ),
        (task([arc("a", 3, "met")]), r"annotations\[0\].result\[0\].to_id: 3, expected a string"),
        (task(data={"a": "x", "b": "y"}), r"data: texts in \['a', 'b'\], expected one, or one called 'text'"),
    ],
)
def test_a_bad_task_is_named(tmp_path, bad, problem):
    with pytest.raises(DataError, match=f"line 1: document '7': {problem}"):
        load_documents(put(tmp_path / "a.json", [bad]))
