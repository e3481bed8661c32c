"""Precision, recall and F1 as the official scorers compute them: overall, by part of the facts, by document."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TypeAlias, TypeVar

from unnoted.data.document import Document, Fact
from unnoted.data.formats.predictions import Prediction

Part = TypeVar("Part", bound=Hashable)

Key: TypeAlias = tuple[str, int, int, str]
"""A fact of a corpus: (document, head, tail, relation)."""

IGN_SLACK = 1e-5
"""What the official scorer adds to the predictions that are left when those known from train are ignored."""

FREQUENCIES = {"0": 0, "1 to 9": 1, "10 to 99": 10, "100 to 999": 100, "1000 or more": 1000}
"""Groups of relations, by the facts in train from which each starts."""


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall.

    Example:
        >>> harmonic_mean(0.5, 1.0), harmonic_mean(0.0, 0.0)
        (0.6666666666666666, 0.0)
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of predicted, gold and correct facts, and the figures that follow from them.

    Example:
        >>> score = Score(correct=2, predicted=4, gold=8)
        >>> score.precision, score.recall, score.f1
        (0.5, 0.25, 0.3333333333333333)
    """

    correct: int
    predicted: int
    gold: int

    @classmethod
    def count(cls, predicted: Collection[Hashable], gold: Collection[Hashable]) -> "Score":
        """The score of distinct predictions against distinct gold facts."""
        return cls(sum(item in gold for item in predicted), len(predicted), len(gold))

    @property
    def precision(self) -> float:
        """The fraction of the predicted facts that is correct; 0 without a prediction."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The fraction of the gold facts that was found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of the two."""
        return harmonic_mean(self.precision, self.recall)

    def to_json(self) -> dict[str, float]:
        """The figures and the counts behind them."""
        return {"f1": self.f1, "precision": self.precision, "recall": self.recall} | asdict(self)


@dataclass(frozen=True, slots=True)
class IgnScore:
    """Ign F1: no credit in precision for facts that are in the training data.

    As in the official scorer, only the precision is corrected: the recall keeps the facts known from train,
    among the correct and among the gold.

    Args:
        score: the score before.
        correct_in_train: how many of its correct predictions are known from train.

    Example:
        >>> ign = IgnScore(Score(correct=3, predicted=5, gold=6), correct_in_train=1)
        >>> round(ign.precision, 4), ign.recall, round(ign.f1, 4)
        (0.5, 0.5, 0.5)
    """

    score: Score
    correct_in_train: int

    @property
    def precision(self) -> float:
        """Correct facts not known from train, as a fraction of the predictions without known facts."""
        known = self.correct_in_train
        return (self.score.correct - known) / (self.score.predicted - known + IGN_SLACK)

    @property
    def recall(self) -> float:
        """The recall before: facts known from train count."""
        return self.score.recall

    @property
    def f1(self) -> float:
        """Ign F1."""
        return harmonic_mean(self.precision, self.recall)

    def to_json(self) -> dict[str, float]:
        """The figures and the count behind them."""
        figures = {"f1": self.f1, "precision": self.precision, "recall": self.recall}
        return figures | {"correct_in_train": self.correct_in_train}


@dataclass(frozen=True, slots=True)
class Gold:
    """Documents by id, and their facts, each once."""

    documents: Mapping[str, Document]
    facts: Mapping[Key, Fact]

    @classmethod
    def from_documents(cls, documents: Iterable[Document]) -> "Gold":
        """Index documents; of a fact that is listed twice the first one counts.

        Raises:
            ValueError: two documents share an id, or there is no fact.
        """
        by_id: dict[str, Document] = {}
        facts: dict[Key, Fact] = {}
        for document in documents:
            if document.id in by_id:
                raise ValueError(f"gold: two documents have the id {document.id!r}")
            by_id[document.id] = document
            for fact in document.facts:
                facts.setdefault((document.id, *fact.triple), fact)
        if not facts:
            raise ValueError(f"gold: the {len(by_id)} documents have no fact to score against")
        return cls(by_id, facts)

    @property
    def relations(self) -> Counter[str]:
        """How many facts each relation has."""
        return Counter(relation for *_, relation in self.facts)


@dataclass(frozen=True, slots=True)
class TrainOverlap:
    """How many facts each relation has in train, and which gold facts are known from it.

    A gold fact is known if some name of its head, some name of its tail and its relation, as exact strings,
    are a fact of train.
    """

    relations: Counter[str]
    known: frozenset[Key]

    @classmethod
    def from_documents(cls, gold: Gold, train: Iterable[Document]) -> "TrainOverlap":
        """Go through the training documents once; the memory needed is of the size of the gold."""
        unseen: defaultdict[tuple[str, str, str], list[Key]] = defaultdict(list)
        for key, fact in gold.facts.items():
            for named in _named_facts(gold.documents[key[0]], fact):
                unseen[named].append(key)
        relations: Counter[str] = Counter()
        known: set[Key] = set()
        for document in train:
            relations.update(relation for *_, relation in document.labels)
            for fact in document.facts:
                for named in _named_facts(document, fact):
                    known.update(unseen.pop(named, ()))
        return cls(relations, frozenset(known))


def _named_facts(document: Document, fact: Fact) -> Iterator[tuple[str, str, str]]:
    """A fact as (name, name, relation), once for every pair of names of its head and tail."""
    tails = document.entities[fact.tail].names
    for head in document.entities[fact.head].names:
        for tail in tails:
            yield head, tail, fact.relation


def scores_by(
    part: Callable[[Key], Part], predicted: Collection[Key], gold: Collection[Key]
) -> dict[Part, Score]:
    """The score of each part, in the order in which the gold, then the predictions, come upon it.

    Args:
        part: the part that a fact belongs to.
        predicted: distinct predictions.
        gold: distinct gold facts; membership should be quick.

    Example:
        >>> gold = {("d", 0, 1, "spouse"): 0, ("d", 1, 0, "spouse"): 1}
        >>> scores_by(relation_of, [("d", 0, 1, "spouse"), ("d", 0, 1, "child")], gold)["spouse"]
        Score(correct=1, predicted=1, gold=2)
    """
    in_gold = Counter(map(part, gold))
    in_predicted = Counter(map(part, predicted))
    correct = Counter(part(key) for key in predicted if key in gold)
    return {name: Score(correct[name], in_predicted[name], in_gold[name]) for name in in_gold | in_predicted}


def relation_of(key: Key) -> str:
    """The relation of a fact."""
    return key[3]


def total(scores: Iterable[Score]) -> Score:
    """The micro-averaged score of several parts together."""
    counts = [(score.correct, score.predicted, score.gold) for score in scores]
    return Score(*map(sum, zip(*counts, strict=True))) if counts else Score(0, 0, 0)


def document_scores(
    gold: Iterable[Document], predicted: Collection[Key], train: Iterable[Document]
) -> dict[str, IgnScore]:
    """The score of each document by its id, in the order of the gold: what resampling needs.

    Documents without a fact and without a prediction have their zeros. Predictions about documents that are
    not in the gold are listed under the id that they claim, so that the counts add up to the overall ones.

    Args:
        gold: the documents with their facts.
        predicted: distinct predictions.
        train: the training documents in use.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> gold = [Document(id, (("Ada", "Bo"),), (ada, bo), (Fact(0, 1, "spouse"),)) for id in ("a", "b")]
        >>> scores = document_scores(gold, [("b", 0, 1, "spouse"), ("b", 1, 0, "spouse")], train=())
        >>> scores["a"].score, scores["b"].score
        (Score(correct=0, predicted=0, gold=1), Score(correct=1, predicted=2, gold=1))
    """
    truth = Gold.from_documents(gold)
    overlap = TrainOverlap.from_documents(truth, train)
    none = dict.fromkeys(truth.documents, Score(0, 0, 0))
    scores = none | scores_by(lambda key: key[0], predicted, truth.facts)
    known = Counter(key[0] for key in predicted if key in overlap.known)
    return {document: IgnScore(score, known[document]) for document, score in scores.items()}


class Distance(StrEnum):
    """Whether some sentence names both entities of a fact."""

    INTRA = "intra-sentence"
    INTER = "cross-sentence"
    UNKNOWN = "unknown pair"


def scores_by_distance(predicted: Collection[Key], gold: Gold) -> dict[Distance, Score]:
    """Intra- and cross-sentence scores; `UNKNOWN` only where predictions name a pair that does not exist."""
    sentences: dict[str, list[frozenset[int]]] = {}

    def distance(key: Key) -> Distance:
        title, head, tail, _ = key
        if title not in sentences:
            document = gold.documents.get(title)
            sentences[title] = [entity.sentences for entity in document.entities] if document else []
        places = sentences[title]
        if not (0 <= head < len(places) and 0 <= tail < len(places)):
            return Distance.UNKNOWN
        return Distance.INTER if places[head].isdisjoint(places[tail]) else Distance.INTRA

    scores = dict.fromkeys((Distance.INTRA, Distance.INTER), Score(0, 0, 0))
    return scores | scores_by(distance, predicted, gold.facts)


def scores_by_frequency(relations: Mapping[str, Score], train: Mapping[str, int]) -> dict[str, Score]:
    """Scores of groups of relations, by how many facts of train each relation has.

    Args:
        relations: the score of each relation.
        train: how many facts each relation has in train.

    Example:
        >>> parts = {"rare": Score(1, 1, 2), "rarer": Score(0, 1, 1), "common": Score(5, 6, 7)}
        >>> scores_by_frequency(parts, {"rare": 9, "rarer": 1, "common": 100})
        {'1 to 9': Score(correct=1, predicted=2, gold=3), '100 to 999': Score(correct=5, predicted=6, gold=7)}
    """
    groups: dict[str, list[Score]] = {name: [] for name in FREQUENCIES}
    for relation, score in relations.items():
        name = [name for name, least in FREQUENCIES.items() if train.get(relation, 0) >= least][-1]
        groups[name].append(score)
    return {name: total(scores) for name, scores in groups.items() if scores}


def evidence_score(predictions: Mapping[Key, Prediction], gold: Gold) -> Score | None:
    """Score evidence sentences as the official scorer does; None if no prediction has any.

    A predicted sentence is correct if its fact is correct and the sentence is among that fact's gold evidence.
    The gold counts the evidence of every gold fact, found or not; the predicted counts that of every
    prediction, right or wrong, except in documents that do not exist: those the official scorer skips here,
    though it counts them against the facts.
    """
    correct = predicted = 0
    for key, prediction in predictions.items():
        if prediction.document not in gold.documents:
            continue
        sentences = set(prediction.evidence)
        predicted += len(sentences)
        if key in gold.facts:
            correct += len(sentences.intersection(gold.facts[key].evidence))
    if not predicted:
        return None
    return Score(correct, predicted, sum(len(fact.evidence) for fact in gold.facts.values()))
