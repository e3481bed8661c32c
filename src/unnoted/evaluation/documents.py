"""The score of each document, for resampling: from their counts every overall figure follows."""

from collections import Counter
from collections.abc import Collection, Iterable

from unnoted.data.document import Document
from unnoted.evaluation.breakdowns import scores_by
from unnoted.evaluation.gold import Gold, Key, TrainOverlap
from unnoted.evaluation.score import IgnScore, Score


def document_scores(
    gold: Iterable[Document], predicted: Collection[Key], train: Iterable[Document]
) -> dict[str, IgnScore]:
    """The score of each document by its id, in the order of the gold.

    Documents without a fact and without a prediction have their zeros. Predictions about documents that are
    not in the gold stand under the id that they claim, so that the counts add up to the overall ones.

    Args:
        gold: the documents with their facts.
        predicted: distinct predictions.
        train: the training documents in use.

    Raises:
        ValueError: gold without a fact, or with two documents of one id.

    Example:
        >>> from unnoted.data.document import Entity, Fact, Mention
        >>> ada, bo = (Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in enumerate(["Ada", "Bo"]))
        >>> gold = [Document(id, (("Ada", "Bo"),), (ada, bo), (Fact(0, 1, "spouse"),)) for id in ("a", "b")]
        >>> scores = document_scores(gold, [("b", 0, 1, "spouse"), ("b", 1, 0, "spouse")], train=())
        >>> scores["a"].score, scores["b"].score
        (Score(correct=0, predicted=0, gold=1), Score(correct=1, predicted=2, gold=1))
    """
    truth = Gold.of(gold)
    overlap = TrainOverlap.of(truth, train)
    scores = dict.fromkeys(truth.documents, Score(0, 0, 0)) | scores_by(document_of, predicted, truth.facts)
    known = Counter(document_of(key) for key in predicted if key in overlap.known)
    return {document: IgnScore(score, known[document]) for document, score in scores.items()}


def document_of(key: Key) -> str:
    """The document of a fact."""
    return key[0]
