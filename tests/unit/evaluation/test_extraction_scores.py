"""A model's figures and its curve."""

import numpy as np
import pytest
from tests.unit.inference.making import RELATIONS, corpus, document_of, reading_model

from unnoted.evaluation import precision_recall_curve
from unnoted.evaluation.extraction_scores import FLOOR, evaluate_extractor
from unnoted.inference import Extractor

ALONE = document_of("alone", "Only one came .", entities=[[(0, 1, 2)]])


@pytest.fixture(scope="module")
def extractor():
    return Extractor(reading_model())


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_the_curve_is_that_of_the_facts_one_by_one(extractor, threshold):
    gold = [*corpus(), ALONE]
    true = {(document.id, *fact.triple) for document in gold for fact in document.facts}
    assert {relation for *_, relation in true} - set(RELATIONS), (
        "some facts are of relations unknown to the model"
    )
    shown = []
    list(extractor.extract(gold, threshold=threshold, seen=shown.append))
    found = {
        (scored.document.id, int(scored.head[p]), int(scored.tail[p]), RELATIONS[k]): scored.confidence[p, k]
        for scored in shown
        for p, k in np.ndindex(scored.decided.shape)
        if scored.decided[p, k] or scored.probability[p, k] >= FLOOR
    }
    expected = precision_recall_curve(list(found.values()), [key in true for key in found], len(true))
    curve = evaluate_extractor(extractor, gold, threshold=threshold).curve
    assert len(curve) == len(expected) > 10
    for name in ("thresholds", "precisions", "recalls"):
        assert np.allclose(getattr(curve, name), getattr(expected, name), rtol=1e-9)


def test_the_score_is_of_what_is_stated(extractor):
    stated = [claim.key for extraction in extractor.extract(corpus()) for claim in extraction.predictions()]
    evaluation = evaluate_extractor(extractor, list(corpus()))
    assert evaluation.overall.predicted == len(stated) > 0


def test_every_document_with_a_pair_is_shown_once(extractor):
    shown = []
    list(extractor.extract([*corpus(), ALONE], seen=shown.append))
    assert sorted(scored.document.id for scored in shown) == sorted(document.id for document in corpus())
    for scored in shown:
        pairs = len(scored.document.entities) * (len(scored.document.entities) - 1)
        assert scored.head.shape == scored.tail.shape == (pairs,)
        assert (
            scored.confidence.shape
            == scored.probability.shape
            == scored.decided.shape
            == (pairs, len(RELATIONS))
        )
