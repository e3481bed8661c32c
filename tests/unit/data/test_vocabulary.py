"""Files of relations: ids, names, numbers, descriptions."""

import json

import pytest

from unnoted.data import RelationVocabulary
from unnoted.errors import DataError


def read(tmp_path, content):
    path = tmp_path / "relations.json"
    path.write_text(json.dumps(content))
    return RelationVocabulary.from_file(path)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (["P17", "P26"], RelationVocabulary(("P17", "P26"))),
        ({"P17": "country"}, RelationVocabulary(("P17",), {"P17": "country"})),
        ({"P26": 2, "Na": 0, "P17": 1}, RelationVocabulary(("P17", "P26"))),
        (
            {"P17": {"name": "country", "description": "Where it lies."}, "P26": "spouse", "P1": {}, "P2": {"name": " "}},
            RelationVocabulary(
                ("P17", "P26", "P1", "P2"), {"P17": "country", "P26": "spouse"}, {"P17": "Where it lies."}
            ),
        ),
    ],
)  # fmt: skip
def test_relations_of_every_form(tmp_path, content, found):
    assert read(tmp_path, content) == found


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"P1": {"nane": "x"}}, r"json: relation 'P1': found 'nane': 'x', expected a name and a description"),
        (
            {"P1": {"name": 3}},
            r"relation 'P1': found 'name': 3, expected a name and a description, both text",
        ),
        ({"P1": {"name": "x"}, "P2": 4}, r"relation 'P2': found 'name': 4, expected a name and a desc"),
        ({"P1": [1]}, "expected an object of relation to name, to name and description or to number, or"),
    ],
)
def test_what_is_no_vocabulary_is_named(tmp_path, content, problem):
    with pytest.raises(DataError, match=problem):
        read(tmp_path, content)
