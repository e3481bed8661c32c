"""How good suggestions are where all facts are known, and what review comes to: docs/how-to/suggest.md.

Documents of `train_annotated.json` that are also in `train_revised.json`, whose labels stand for the truth:

    python -m benchmarks.suggestions precision NAME=SCORES ...
    python -m benchmarks.suggestions scored MODEL --to SCORES
    python -m benchmarks.suggestions missing SUGGESTIONS
    python -m benchmarks.suggestions review SUGGESTIONS --plot docs/how-to/review.svg
    python -m benchmarks.suggestions intervals SUGGESTIONS
    python -m benchmarks.suggestions mended SUGGESTIONS --decisions 1000 --order probability --to FILE
    python -m benchmarks.suggestions gained 0=EVALUATION 1000=EVALUATION 1000p=EVALUATION ... --plot FILE

SCORES are files of `OutOfFoldScores.save`, SUGGESTIONS what `unnoted suggest` wrote, EVALUATION what `unnoted
evaluate --json` printed for a model that was trained after so many decisions (p: without known negatives).
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.complete_labels import DATA, Truth, known_pairs
from unnoted.calibration.out_of_fold import OutOfFoldScores
from unnoted.data import Document, load_documents
from unnoted.data.compare import match_entities
from unnoted.data.decisions import Decision, apply_decisions
from unnoted.suggestions import BelowCutoff, Order, ReviewDecision, SuggestionSet, estimate_completeness, rank

FIRST = (100, 200, 500, 1000)
DECISIONS = (0, 100, 300, 1000, 3000)
SIMULATED, AUDITED = 200, (50, 200, 500)


def truth_of(noted: list[Document], complete: list[Document]) -> Truth:
    """All facts of each document that has complete labels, in the entities of the incomplete ones.

    Entities are matched one to one by their mentions where that can be. Where the complete labels join or
    part entities, a fact holds between all entities that share a mention with those it is noted of.
    """
    others, truth = {document.id: document for document in complete}, {}
    for document in noted:
        other = others.get(document.id)
        if other is None or other.sentences != document.sentences:
            continue
        mapping = match_entities(document, other)
        own: dict[int, list[int]] = {index: [] for index in range(len(other.entities))}
        for index, entity in enumerate(document.entities):
            for theirs, candidate in enumerate(other.entities):
                if mapping[index] == theirs if mapping is not None else _share_a_mention(entity, candidate):
                    own[theirs].append(index)
        truth[document.id] = frozenset(
            (head, tail, relation)
            for h, t, relation in other.labels
            for head in own[h]
            for tail in own[t]
            if head != tail
        )
    return truth


def _share_a_mention(entity, other) -> bool:
    return bool({mention.span for mention in entity.mentions} & {mention.span for mention in other.mentions})


def read_truth(data: Path) -> tuple[list[Document], Truth]:
    """The documents with incomplete labels, and the truth of those that have it."""
    documents = list(load_documents(data / "train_annotated.json"))
    return documents, truth_of(documents, list(load_documents(data / "train_revised.json")))


def scored(data: Path, folder: Path, to: Path) -> None:
    """What a model says of the documents that it was trained on."""
    from unnoted.models.model import RelationModel
    from unnoted.training.calibrate import score_documents

    documents = load_documents(data / "train_annotated.json")
    score_documents(RelationModel.from_pretrained(folder), documents.documents).save(to)


def precision(data: Path, named: list[str], cleanlab: bool) -> None:
    """Of the first suggestions by each file of scores, how many are true."""
    _, truth = read_truth(data)
    print("scores" + "".join(f" {first:>6}" for first in FIRST))
    for each in named:
        name, _, path = each.partition("=")
        scores = OutOfFoldScores.load(Path(path))
        known = known_pairs(scores, truth)
        open_ = ~scores.labelled & known[:, None]
        # One curve for all relations keeps the order of margins.
        rankings = {name: scores.margin} | ({f"{name}, by cleanlab": _cleanlab(scores)} if cleanlab else {})
        for title, ranking in rankings.items():
            values = np.where(open_, ranking, -np.inf).ravel()
            top = np.argpartition(-values, FIRST[-1])[: FIRST[-1]]
            top = top[np.argsort(-values[top], kind="stable")]
            holds = np.array([_holds(scores, int(index), truth) for index in top])
            print(title + "".join(f" {holds[:first].mean():6.3f}" for first in FIRST), flush=True)


def _cleanlab(scores: OutOfFoldScores) -> np.ndarray:
    """How much cleanlab doubts that a pair does not have a relation, [P, K]."""
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

    labels = [np.flatnonzero(row).tolist() for row in scores.labelled]
    probability = 1 / (1 + np.exp(-np.clip(scores.margin.astype(np.float64), -50, 50)))
    quality = get_label_quality_scores_per_class(
        labels, probability, method="self_confidence", adjust_pred_probs=True
    )
    return -np.asarray(quality)


def _holds(scores: OutOfFoldScores, index: int, truth: Truth) -> bool:
    row, column = divmod(index, len(scores.relations))
    triple = int(scores.head[row]), int(scores.tail[row]), scores.relations[column]
    return triple in truth[scores.documents[scores.document[row]]]


class Answers:
    """Suggestions of documents whose truth is known, with the answers.

    Args:
        found: what `unnoted suggest` wrote.
        truth: of its documents.
    """

    def __init__(self, found: SuggestionSet, truth: Truth) -> None:
        self.listed = [each for each in found.suggestions if each.document in truth and not each.labelled]
        self.holds = np.array([each.triple in truth[each.document] for each in self.listed])
        noted = {name: found.documents[name].labels for name in truth}
        self.noted = sum(len(noted[name] & truth[name]) for name in truth)
        self.total = sum(map(len, truth.values()))
        self.scores = np.array([each.score for each in self.listed])

    def after(self, order: Order, seed: int = 0) -> np.ndarray:
        """The completeness after each number of decisions, from none."""
        positions = rank(self.listed, order, seed=seed)
        found = np.append(0, np.cumsum(self.holds[positions]))
        return (self.noted + found) / self.total


def review(found: SuggestionSet, truth: Truth, plot: Path | None) -> None:
    """Completeness after so many decisions, in each order."""
    answers = Answers(found, truth)
    print(
        f"{len(answers.listed):,} suggestions, {answers.holds.sum():,} true; "
        f"{answers.noted:,} of {answers.total:,} true facts noted"
    )
    curves = {order.value: answers.after(order) for order in Order if order is not Order.RANDOM}
    curves["random"] = np.mean([answers.after(Order.RANDOM, seed) for seed in range(20)], axis=0)
    print("order".ljust(12) + "".join(f" {decisions:>6}" for decisions in DECISIONS))
    for name, curve in curves.items():
        print(name.ljust(12) + "".join(f" {curve[decisions]:6.3f}" for decisions in DECISIONS))
    if plot is not None:
        _draw(curves, plot)


def _draw(curves: dict[str, np.ndarray], plot: Path) -> None:
    from unnoted.report.svg import look, new_axes, style

    points = np.unique(np.linspace(0, DECISIONS[-1], 61).astype(int))
    with style():
        axes = new_axes(3.2, xlabel="Decisions", ylabel="True facts that are labelled")
        for number, (name, curve) in enumerate(curves.items()):
            options = look(number) | {"marker": "", "label": f"by {name}" if name != "random" else name}
            axes.plot(points, curve[points], **options)
        axes.legend(frameon=False)
        axes.figure.savefig(plot, format="svg", metadata={"Date": None}, bbox_inches="tight")


def gained(named: list[str], plot: Path | None) -> None:
    """F1 and average precision after so many decisions, with and without known negatives."""
    lines: dict[str, list[tuple[int, float]]] = {"with known negatives": [], "without": []}
    for each in named:
        decisions, _, path = each.partition("=")
        found = json.loads(Path(path).read_text("utf-8"))
        f1, area = 100 * found["overall"]["f1"], 100 * found["curve"]["average_precision"]
        print(f"{decisions:>6} decisions: F1 {f1:.2f}, average precision {area:.2f}")
        for name, line in lines.items():
            if decisions == "0" or decisions.endswith("p") == (name == "without"):
                line.append((int(decisions.rstrip("p")), f1))
    if plot is not None:
        _draw_gains(lines, plot)


def _draw_gains(lines: dict[str, list[tuple[int, float]]], plot: Path) -> None:
    from unnoted.report.svg import look, new_axes, style

    with style():
        axes = new_axes(3.2, xlabel="Decisions", ylabel="F1 after retraining")
        for number, (name, line) in enumerate(lines.items()):
            axes.plot(*zip(*sorted(line), strict=True), **look(number), label=name)
        axes.legend(frameon=False)
        axes.figure.savefig(plot, format="svg", metadata={"Date": None}, bbox_inches="tight")


def intervals(found: SuggestionSet, truth: Truth) -> None:
    """How often the interval of completeness holds the truth, and how wide it is."""
    answers = Answers(found, truth)
    # Of what was not listed, as much as these documents are of all suggestions.
    share = len(answers.listed) / sum(not each.labelled for each in found.suggestions)
    expected = (found.below_cutoff.expected or 0.0) * share
    below_cutoff = BelowCutoff(round(found.below_cutoff.candidates * share), expected)
    hidden = answers.total - answers.noted - int(answers.holds.sum())
    print("order        decisions audited  listed: covers  width    all: covers  width")
    for order in (Order.SCORE, Order.DOCUMENT):
        positions = rank(answers.listed, order)
        for decisions in (0, 1000):
            for audited in AUDITED:
                outcome = [
                    _outcome(answers, positions[:decisions], audited, seed, below_cutoff, hidden)
                    for seed in range(SIMULATED)
                ]
                covers, width, covers_all, width_all = np.mean(outcome, axis=0)
                print(
                    f"{order.value:12} {decisions:9} {audited:7} {covers:15.3f} {width:6.3f} "
                    f"{covers_all:14.3f} {width_all:6.3f}",
                    flush=True,
                )


def _outcome(answers, decided_before, audited, seed, below_cutoff, hidden) -> tuple[float, ...]:
    random = np.random.default_rng(seed).permutation(len(answers.listed))
    drawn = random[~np.isin(random, decided_before)][:audited]
    brought = [(i, Order.SCORE) for i in decided_before.tolist()] + [
        (i, Order.RANDOM) for i in drawn.tolist()
    ]
    decisions = [
        ReviewDecision(i, bool(answers.holds[i]), order, False, number)
        for number, (i, order) in enumerate(brought)
    ]
    outcome = []
    for rest, more in ((None, 0), (below_cutoff, hidden)):
        result = estimate_completeness(answers.noted, answers.scores, decisions, rest)
        true = result.found / (answers.noted + answers.holds.sum() + more)
        outcome += [result.low <= true <= result.high, result.high - result.low]
    return tuple(outcome)


def missing(found: SuggestionSet, truth: Truth, rows: int) -> None:
    """Labels of each relation that are missing, estimated against true."""
    documents = [found.documents[name] for name in truth]
    labelled = Counter(fact.relation for document in documents for fact in document.facts)
    true = Counter(
        relation for d in documents for h, t, relation in truth[d.id] if (h, t, relation) not in d.labels
    )
    errors, inside, sums = [], [], np.zeros(2)
    print("relation labelled  true  estimated    low   high")
    for number, each in enumerate(sorted(found.missing, key=lambda one: -labelled[one.relation])):
        if labelled[each.relation] < 20:
            continue
        share = labelled[each.relation] / each.labelled  # the estimate is for all documents
        estimated, low, high = (share * end for end in (each.missing, each.low, each.high))
        errors.append(abs(np.log((estimated + 1) / (true[each.relation] + 1))))
        inside.append(low <= true[each.relation] <= high)
        sums += (true[each.relation], estimated)
        if number < rows:
            counts = f"{labelled[each.relation]:8} {true[each.relation]:5}"
            print(f"{each.relation:8} {counts} {estimated:10.0f} {low:6.0f} {high:6.0f}")
    print(f"{len(errors)} relations with 20 labels or more: {sums[0]:.0f} missing, {sums[1]:.0f} estimated;")
    print(f"off by a factor of {np.exp(np.median(errors)):.2f} (median), {np.mean(inside):.2f} within")


def mended(found: SuggestionSet, truth: Truth, order: Order, decisions: int, to: Path) -> None:
    """Write the training file after so many decisions."""
    answers = Answers(found, truth)
    said = []
    for position in rank(answers.listed, order)[:decisions].tolist():
        each = answers.listed[position]
        evidence = each.evidence if answers.holds[position] else ()
        said.append(Decision(each.document, *each.triple, bool(answers.holds[position]), evidence))
    report = apply_decisions(found.source, said, to, overwrite=True)
    print(f"{report.added} facts added, {report.rejected} known negatives: {to}")


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    ways = ["precision", "scored", "missing", "review", "intervals", "mended", "gained"]
    parser.add_argument("what", choices=ways)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--cleanlab", action="store_true")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--rows", type=int, default=15)
    parser.add_argument("--order", type=Order, default=Order.SCORE)
    parser.add_argument("--decisions", type=int, default=1000)
    parser.add_argument("--to", type=Path)
    given = parser.parse_args()
    if given.what == "precision":
        precision(given.data, given.files, given.cleanlab)
        return
    if given.what == "gained":
        gained(given.files, given.plot)
        return
    if given.what in ("scored", "mended") and given.to is None:
        parser.error("--to: found none, expected a file to write to")
    if given.what == "scored":
        scored(given.data, Path(given.files[0]), given.to)
        return
    found, (_, truth) = SuggestionSet.load(given.files[0]), read_truth(given.data)
    match given.what:
        case "missing":
            missing(found, truth, given.rows)
        case "review":
            review(found, truth, given.plot)
        case "intervals":
            intervals(found, truth)
        case "mended":
            mended(found, truth, given.order, given.decisions, given.to)


if __name__ == "__main__":
    main()
