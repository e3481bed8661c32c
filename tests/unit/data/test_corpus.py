"""A corpus and its labelled priors."""

from fractions import Fraction

import pytest
from hypothesis import given
from tests.strategies import corpora

from unnoted.data import AllPairs, Corpus, DataError, Document, Entity, Fact, Mention, RelationVocabulary
from unnoted.data.candidates import observed


@given(corpora)
def test_labelled_priors_equal_a_plain_count(documents):
    vocabulary = RelationVocabulary(("P17", "spouse", "unseen"))
    for rule in (AllPairs(), observed(documents)):
        corpus = Corpus(tuple(documents), vocabulary, rule)
        pairs = [(d, pair) for d in documents for pair in rule.pairs(d)]
        counts = [sum(relation in d.labels.relations(*pair) for d, pair in pairs) for relation in vocabulary]
        expected = tuple(float(Fraction(count, max(len(pairs), 1))) for count in counts)
        if 1.0 in expected:  # nothing is unlabelled, so there is no such prior
            with pytest.raises(DataError, match=r"labelled prior 1\.0"):
                _ = corpus.labelled_priors
        else:
            assert corpus.labelled_priors.labelled == corpus.labelled_priors.overall == expected


@given(corpora)
def test_a_part_keeps_relations_and_candidates(documents):
    corpus = Corpus(tuple(documents), RelationVocabulary.of(documents), AllPairs())
    part = corpus[1:]
    assert list(part) == documents[1:] and part.relations == corpus.relations
    assert corpus[0] is documents[0] and len(corpus) == len(documents)


def test_a_prior_above_what_known_negatives_leave_is_refused():
    people = tuple(Entity((Mention(0, at, at + 1, "PER", "a"),)) for at in range(2))
    document = Document("d", (("a", "b"),), people, (Fact(0, 1, "met"),), negatives=((1, 0, "met"),))
    corpus = Corpus((document,), RelationVocabulary(("met",)), AllPairs())
    assert corpus.labelled_priors.labelled == (0.5,)  # of two pairs, the rejected one included
    corpus.require_room(corpus.labelled_priors)
    expected = "relation 'met': found overall prior 0.6, expected at most 0.5: 1 of 2 pairs were rejected"
    with pytest.raises(DataError, match=expected):
        corpus.require_room(corpus.labelled_priors * 1.2)
