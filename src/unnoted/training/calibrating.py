"""What out-of-fold scores are for: priors before the main training, probabilities and the line after it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from unnoted.common.wording import counted
from unnoted.documents.candidates import Candidates
from unnoted.documents.schema import Document
from unnoted.model import RelationModel
from unnoted.priors import Priors
from unnoted.priors.estimating import CAUTION, estimate_priors
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.training.ingredients import risk_of
from unnoted.training.scored_documents import labelled_scores
from unnoted.training.settings import Settings
from unnoted.training.stages import Plan


def with_estimated_priors(
    plan: Plan, settings: Settings, scores: LabelledScores, tell: Callable[[str], None]
) -> Plan:
    """The plan with a risk under priors that were estimated from out-of-fold scores."""
    estimated = estimate_priors(scores, settings.seed)
    ratio = estimated.ratio
    tell(
        f"priors estimated: {ratio.estimate:.2f} facts for each labelled one "
        f"({ratio.low:.2f} to {ratio.high:.2f}), over all relations"
    )
    tell(f"note: {CAUTION}")
    return replace(plan, main=replace(plan.main, risk=risk_of(settings, estimated.priors)))


def calibrate(
    model: RelationModel,
    settings: Settings,
    scores: LabelledScores,
    train: Sequence[Document],
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Let a trained model show calibrated probabilities, and decide where the expected F1 is best.

    The curves are fitted on out-of-fold scores. One multiplier for all says nothing of single relations, and
    then there is one curve for all. Where the models of the folds had another loss, curves are moved to the
    margins of this model by their ranks among pairs without a label.

    Facts between pairs that are no candidates are missed wherever the line is, and F1 counts them. That there
    are as many for each of their labels as there are among candidates is assumed.

    Args:
        model: a trained one.
        settings: of its run.
        scores: out of fold.
        train: the training documents with the labels that the scores have, of all pairs.
        tell: is given lines for the user.

    Returns:
        What a record should say of it.
    """
    meaning = model.meaning
    labelled = tuple(scores.labelled_share.tolist())
    overall = labelled if meaning.priors is None else map(max, meaning.priors.overall, labelled)
    priors = Priors(scores.relations, labelled, tuple(overall))
    final = None
    if settings.priors == "estimated":
        own = labelled_scores(model, train)
        final = own.margin[~own.labelled.any(1)]
    by_relation = settings.prior_file is not None or settings.priors == "estimated"
    missed = labels_elsewhere(train, model.candidates)
    elsewhere = missed * sum(priors.overall) / (sum(labelled) or 1.0)
    model.meaning = meaning.calibrated(
        scores, priors, by_relation=by_relation, final=final, elsewhere=elsewhere
    )
    fitted = model.meaning.calibration
    assert fitted is not None, "it was just made"
    for each in fitted.disagreements()[:5]:
        times = each.stated / each.prior if each.prior else float("inf")
        tell(f"note: {each.relation} is stated {times:.1f} times as often as its prior says")
    if missed:
        tell(f"note: {counted(missed, 'label')} of pairs that are no candidates; such facts are missed")
    tell(f"calibrated on {counted(scores.pairs, 'pair')}; line at {fitted.line:.3f}")
    return {
        "pairs": scores.pairs,
        "line": fitted.line,
        "expected_f1": fitted.expected.best_f1,
        "selection": fitted.selection,
    }


def labels_elsewhere(documents: Iterable[Document], candidates: Candidates) -> int:
    """How many labels are of pairs that are no candidates.

    Example:
        >>> from unnoted.documents.candidates import AllPairs, InOneSentence
        >>> from unnoted.documents.generator import generate_documents
        >>> documents = list(generate_documents(20))
        >>> labels_elsewhere(documents, AllPairs())
        0
        >>> labels_elsewhere(documents, InOneSentence(AllPairs())) > 0
        True
    """
    return sum(
        not candidates.allows(document.entities[head], document.entities[tail])
        for document in documents
        for head, tail, _ in document.labels
    )
