"""Known negatives on their way from documents to a batch."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.models.features.making import RELATIONS, TYPES, chain_of, documents, patient, word_piece

from unnoted.data.candidates import CandidatePairs
from unnoted.errors import DataError
from unnoted.losses import LabelLikelihood
from unnoted.models.features import Collator, FeatureCache, UnlabelledPerLabelled, UnlabelledSample, featurise
from unnoted.priors import Priors
from unnoted.training.objective import FromLabels


@st.composite
def reviewed(draw):
    """Documents in which some facts are known negatives, some of them of no use, some facts besides."""
    document = draw(documents(relations=(*RELATIONS, "strange")))
    cut = draw(st.integers(0, len(document.facts)))
    rejected = tuple(fact.triple for fact in document.facts[:cut])
    return replace(document, facts=document.facts[draw(st.integers(0, cut)) :], negatives=rejected)


def known(documents_, index, batch):
    """The known negatives of one document of a batch, in its own numbers."""
    slot = batch.entity_slot
    return {
        (int(slot[batch.head[pair]]), int(slot[batch.tail[pair]]), RELATIONS[relation])
        for pair, relation in zip(batch.negative_pair.tolist(), batch.negative_relation.tolist(), strict=True)
        if batch.pair_document[pair] == index
    }


few = settings(patient, max_examples=25)

SAMPLES = [
    None,
    UnlabelledSample(0.2),
    UnlabelledPerLabelled(0.1),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
@few
@given(corpus=st.lists(reviewed(), min_size=1, max_size=3))
def test_each_reaches_the_batch_or_is_counted(corpus, sample):
    features = featurise(corpus, word_piece(), RELATIONS, CandidatePairs(), types=TYPES)
    batch = Collator.of(features, sample)(list(features))
    useful = [
        {t for t in d.negatives if t[0] != t[1] and t[2] in RELATIONS and t not in d.labels} for d in corpus
    ]
    assert [known(corpus, index, batch) for index in range(len(corpus))] == useful
    kept = sum(map(len, useful))
    assert features.report.negatives == kept
    assert features.report.idle_negatives == sum(
        sum(triple not in each for triple in d.negatives) for d, each in zip(corpus, useful, strict=True)
    )
    mask = batch.negatives()
    assert (mask is None) == (kept == 0)
    if mask is not None:
        assert mask.sum() == kept and not (mask & batch.labels()).any()


@few
@given(corpus=st.lists(reviewed(), min_size=1, max_size=3))
def test_the_weights_of_a_document_still_add_up_to_its_pairs(corpus):
    features = featurise(corpus, word_piece(), RELATIONS, CandidatePairs())
    sample = UnlabelledSample(0.3)
    for row in features:
        rows, weights = sample.draw(row)
        assert weights.sum() == pytest.approx(len(row.head), rel=1e-6)
        assert (weights[np.isin(rows, row.negative_pair)] == 1).all()


def test_a_pair_that_is_no_candidate_has_none():
    document = replace(chain_of(4), facts=(), negatives=((0, 1, "born-in"), (1, 0, "born-in")))
    features = featurise([document], word_piece(), RELATIONS, CandidatePairs(frozenset({("PER", "LOC")})))
    assert features[0].negative_pair.tolist() == [0]
    assert features.report.lines() == ["1 known negative(s) of no use: another relation, or no candidates"]


def test_they_are_kept_in_the_cache_and_change_its_key(tmp_path):
    document = replace(chain_of(4), negatives=((1, 0, "part-of"),))
    make = partial(featurise, tokenizer=word_piece(), relations=RELATIONS, candidates=CandidatePairs())
    for each in (document, chain_of(4)):
        found = make([each], cache=FeatureCache(tmp_path))
        assert len(found[0].negative_pair) == len(each.negatives)
    assert len(list(tmp_path.iterdir())) == 2


def test_one_that_points_outside_its_document_is_named():
    with pytest.raises(DataError, match=r"negatives\[0\]: found entity 9, expected an entity index below 3"):
        featurise(
            [replace(chain_of(4), negatives=((0, 9, "part-of"),))], word_piece(), RELATIONS, CandidatePairs()
        )


def test_training_hands_them_to_the_risk():
    document = replace(chain_of(4), negatives=((1, 0, "part-of"),))
    features = featurise([document], word_piece(), RELATIONS, CandidatePairs())
    batch = Collator.of(features)([features[0]])
    loss = LabelLikelihood(Priors(RELATIONS, (0.1,) * 3, (0.4,) * 3))
    scores = torch.zeros(batch.pairs, 4)
    found = FromLabels(loss)(scores, batch)
    more = (torch.log(torch.tensor(1 - 0.25 * 0.5)) - torch.log(torch.tensor(0.5))) / batch.pairs
    torch.testing.assert_close(found - loss(scores, batch.labels()), more)
