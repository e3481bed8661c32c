"""How well the sentences that support a fact were found."""

from unnoted.evaluation.gold import Gold
from unnoted.evaluation.score import Score
from unnoted.evaluation.submission import Submission


def evidence_score(submission: Submission, gold: Gold) -> Score | None:
    """Score evidence sentences as the official scorer does; None if no prediction has any.

    A predicted sentence is right if its fact is right and the sentence is among that fact's gold evidence.
    The gold counts the evidence of every gold fact, found or not; the predicted counts that of every
    prediction, right or wrong, except in documents that do not exist: those the official scorer passes over
    here, though it counts them against the facts.
    """
    correct = predicted = 0
    for key, prediction in submission.predictions.items():
        if prediction.document not in gold.documents:
            continue
        sentences = set(prediction.evidence)
        predicted += len(sentences)
        if key in gold.facts:
            correct += len(sentences.intersection(gold.facts[key].evidence))
    if not predicted:
        return None
    return Score(correct, predicted, sum(len(fact.evidence) for fact in gold.facts.values()))
