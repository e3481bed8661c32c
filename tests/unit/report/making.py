"""A demonstration without any training: generated documents, hidden facts, made-up extractions."""

from dataclasses import replace
from functools import cache
from random import Random

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.hide_labels import PopularityBiased, hide_labels
from unnoted.data.synthetic import generate_documents, relation_names
from unnoted.evaluation import Score, evaluate
from unnoted.experiments.demonstrate import Demonstration, MethodResult, ShownDocument
from unnoted.inference import ExtractedFact, Extraction

NAMES = relation_names()
LIMIT = 0.5
"""What is at least as probable is predicted."""


def made_up(document, true, title, skill):
    """An extraction: true facts get higher probabilities than invented ones, the more so the more skill."""
    random = Random(f"{title} {document.id}")
    facts = {}
    for fact in true:
        probability = min(0.999, max(0.001, random.gauss(skill, 0.25)))
        facts[fact.triple] = (probability, fact.evidence)
    relations = sorted(NAMES)
    for _ in range(len(true)):
        head, tail = random.sample(range(len(document.entities)), 2)
        triple = head, tail, random.choice(relations)
        facts.setdefault(triple, (min(0.95, abs(random.gauss(0.15, 0.2))), (0,)))
    return Extraction(
        document,
        tuple(
            ExtractedFact(*triple, NAMES[triple[2]], round(p, 4), evidence, p >= LIMIT)
            for triple, (p, evidence) in sorted(facts.items())
            if p >= 0.05
        ),
    )


SECTIONS = ["done", "methods", "recovered", "curves", "relations", "documents", "again"]
"""The sections of the demonstration's page, in order."""


@cache
def demonstration(skills=(("ATLOP", 0.42), ("SSR-PU", 0.68)), train=30, test=30):
    full = list(generate_documents(train, seed=1))
    labelled = list(hide_labels(full, PopularityBiased.fit(full, 0.35), seed=1))
    unseen = list(generate_documents(test, seed=2))
    methods = tuple(method(title, skill, full, labelled, unseen) for title, skill in skills)
    return Demonstration(
        train_documents=train,
        test_documents=test,
        labelled=sum(len(document.facts) for document in labelled),
        hidden=sum(len(document.facts) for document in full)
        - sum(len(document.facts) for document in labelled),
        prior_multiplier=2.9,
        epochs=20,
        seed=1,
        encoder="a small transformer trained from scratch",
        relation_names=NAMES,
        methods=methods,
        complete=Score(correct=640, predicted=800, gold=1000),
        shown=tuple(
            ShownDocument(
                document,
                tuple(fact for fact in true.facts if fact.triple not in document.labels),
                {title: made_up(document, true.facts, title, skill) for title, skill in skills},
            )
            for true, document in zip(full[:2], labelled[:2], strict=True)
        ),
    )


def method(title, skill, full, labelled, unseen):
    predictions = [
        prediction
        for document in unseen
        for prediction in made_up(document, document.facts, title, skill).predictions()
    ]
    beyond = {
        (fact.head, fact.tail, fact.relation, document.id)
        for true, document in zip(full, labelled, strict=True)
        for fact in made_up(document, true.facts, title, skill).facts
        if fact.decided and (fact.head, fact.tail, fact.relation) not in document.labels
    }
    hidden = {
        (*fact.triple, document.id)
        for true, document in zip(full, labelled, strict=True)
        for fact in true.facts
        if fact.triple not in document.labels
    }
    return MethodResult(
        title,
        evaluate(unseen, predictions, vocabulary=NAMES, threshold=LIMIT),
        Score.of(beyond, hidden),
        ((1.0, 0.5), (2.0, 0.4)),
        123.4,
    )


def silent(title="Silence"):
    """A method that predicts nothing at all."""
    unseen = list(generate_documents(3, seed=2))
    return MethodResult(title, evaluate(unseen, []), Score(0, 0, 40), (), 1.0)


def with_shown(*shown):
    return replace(demonstration(), shown=shown)


def words(text, *entities, facts=(), id="d"):
    """A document of one sentence; an entity is (start, end, type, name)."""
    return Document(
        id,
        (tuple(text.split()),),
        tuple(Entity((Mention(0, start, end, kind, name),)) for start, end, kind, name in entities),
        tuple(facts),
    )


def fact(head, tail, relation, *evidence):
    return Fact(head, tail, relation, evidence)


def predicted(document, *facts, decided=True):
    """An extraction of (head, tail, relation, probability)."""
    return Extraction(
        document,
        tuple(ExtractedFact(h, t, r, r, p, (0,), decided) for h, t, r, p in facts),
    )
