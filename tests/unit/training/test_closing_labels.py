"""Labels closed by rules: what is added follows from what was noted, and the priors count it."""

import numpy as np

from unnoted.documents.candidates import AllPairs
from unnoted.documents.corpus import Corpus
from unnoted.documents.relations import RelationVocabulary
from unnoted.documents.schema import Document, Entity, Fact, Mention
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules import close
from unnoted.training.closing_labels import mined_rules, with_more_labels

DOCUMENTS = 60
PEOPLE = tuple(Entity((Mention(0, word, word + 1, "PER", name),)) for word, name in enumerate("ABCD"))


def corpus():
    """A and B are spouses, noted both ways in half of the documents and one way in the others; C knows D."""
    documents = []
    for number in range(DOCUMENTS):
        facts = [Fact(0, 1, "spouse"), Fact(2, 3, "knows")]
        facts += [Fact(1, 0, "spouse")] if number % 2 else []
        documents.append(Document(f"d{number}", (("A", "B", "C", "D"),), PEOPLE, tuple(facts)))
    return Corpus(tuple(documents), RelationVocabulary(("knows", "spouse")), AllPairs())


def scores_of(documents):
    """Spouses score high both ways, noted or not; `knows` only from C to D."""
    pairs = [(n, h, t) for n in range(len(documents)) for h in range(4) for t in range(4) if h != t]
    document, head, tail = np.array(pairs, dtype=np.int32).T
    noise = np.random.default_rng(0).normal(0, 0.1, (len(pairs), 2))
    margin = noise - 3
    margin[(head + tail == 1), 1] += 6
    margin[(head == 2) & (tail == 3), 0] += 6
    labelled = np.zeros((len(pairs), 2), dtype=bool)
    for row, (number, h, t) in enumerate(pairs):
        for k, relation in enumerate(documents.relations.ids):
            labelled[row, k] = (h, t, relation) in documents[number].labels
    names = tuple(each.id for each in documents)
    return LabelledScores(documents.relations.ids, names, document, head, tail, margin.astype("f4"), labelled)


def test_a_symmetric_relation_is_closed_and_another_is_not():
    documents = corpus()
    rules = mined_rules(documents, documents.labelled_priors * 1.5, scores_of(documents))
    derived = [each.fact.triple for closed in close(documents.documents, rules) for each in closed.derived]
    assert set(derived) == {(1, 0, "spouse")} and len(derived) == DOCUMENTS // 2


def test_overall_priors_stay_and_labelled_ones_grow():
    documents = corpus()
    priors = documents.labelled_priors * 1.1
    closed = [
        document.with_facts({*document.facts, Fact(1, 0, "spouse")}) for document in documents.documents
    ]
    more = with_more_labels(priors, Corpus(tuple(closed), documents.relations, documents.candidates))
    knows, spouse = range(2)
    assert more.overall[knows] == priors.overall[knows] and more.labelled[knows] == priors.labelled[knows]
    assert more.labelled[spouse] == 2 / 12
    assert more.overall[spouse] == 2 / 12  # more are labelled than the prior said there are
