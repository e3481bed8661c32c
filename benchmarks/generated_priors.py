"""Estimated against true ratios on generated documents, at five levels of labelling: docs/concepts/priors.md.

    python -m benchmarks.generated_priors --plot docs/concepts/multiplier-levels.svg

At each level a share of all true facts is labelled, drawn by lot. Rules that a person would write for these
relations tell how complete the labels are (`priors: implied`), in 100 draws. Then, in one draw, models of two
folds, a small LSTM each, score the documents that they have not seen, and priors are estimated from these
scores as `unnoted priors` does.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from unnoted.data.synthetic import generate_documents
from unnoted.data.thinning import UniformShare, thin
from unnoted.data.writing import write_documents
from unnoted.experiments.demonstrate import FIXED
from unnoted.models.encoders.making import make_encoder
from unnoted.priors.estimated import EstimatedPriors
from unnoted.priors.estimating import estimate_priors
from unnoted.rules import implied_facts, written_rules
from unnoted.training import Settings
from unnoted.training.cross_fit import cross_fit

SHARES = (0.12, 0.2, 0.33, 0.5, 1.0)
DOCUMENTS, EPOCHS, DRAWS = 400, 12, 100

RULES = """
spouse_of(t, h) -> spouse_of(h, t)
sibling_of(t, h) -> sibling_of(h, t)
borders(t, h) -> borders(h, t)
parent_of(t, h) -> child_of(h, t)
child_of(t, h) -> parent_of(h, t)
teacher_of(t, h) -> student_of(h, t)
student_of(t, h) -> teacher_of(h, t)
owns(t, h) -> owned_by(h, t)
owned_by(t, h) -> owns(h, t)
author_of(t, h) -> written_by(h, t)
written_by(t, h) -> author_of(h, t)
"""


def implied(share: float) -> np.ndarray:
    """[draws, 4]: true facts for each label, what rules imply, and the ends of its interval."""
    truth, rules = list(generate_documents(DOCUMENTS, seed=0)), written_rules(RULES)
    facts = sum(len(document.facts) for document in truth)
    rows = []
    for seed in range(DRAWS):
        labelled = list(thin(truth, UniformShare(share), seed=seed))
        found = implied_facts(labelled, rules)
        labels = sum(len(document.facts) for document in labelled)
        rows.append((facts / labels, found.multiplier, *found.interval))
    return np.array(rows)


def estimated(share: float, folder: Path) -> tuple[EstimatedPriors, np.ndarray]:
    """The estimate from labels of which a share is left, and how many facts of each relation are true."""
    truth = list(generate_documents(DOCUMENTS, seed=0))
    labelled = list(thin(truth, UniformShare(share), seed=0))
    write_documents(folder / "train.jsonl", labelled)
    make_encoder(folder / "encoder", labelled, seed=0)
    settings = Settings(
        train=(folder / "train.jsonl",),
        encoder=str(folder / "encoder"),
        output=folder / "run",
        epochs=EPOCHS,
        loss="label-likelihood",
        priors="estimated",
        start="types",
        calibrated=True,
        **FIXED,
    )
    scores = cross_fit(settings)
    facts = [fact.relation for document in truth for fact in document.facts]
    return estimate_priors(scores, 0), np.array([facts.count(relation) for relation in scores.relations])


def draw(levels: dict[str, list[tuple[float, ...]]], plot: Path) -> None:
    """Facts per label as each way tells them, with their intervals, over the true ones."""
    from unnoted.report.svg import look, new_axes, style

    with style():
        axes = new_axes(3.4, xlabel="True facts per label", ylabel="Told, with 90 % interval")
        for number, (name, rows) in enumerate(levels.items()):
            true, found, low, high = np.array(rows).T
            options = look(number) | {"linestyle": "", "label": name, "capsize": 3}
            # Two series at the same place would hide each other's intervals.
            axes.errorbar(true * 1.03**number, found, (found - low, high - found), **options)
        ends = [1.0, 1 / SHARES[0]]
        axes.plot(ends, ends, color="0.5", linewidth=0.8)
        axes.set(xscale="log", yscale="log")
        ticks = (1, 2, 3, 5, 8, 12, 20)
        axes.set_xticks(ticks[:-2], map(str, ticks[:-2]), minor=False)
        axes.set_yticks(ticks, map(str, ticks), minor=False)
        axes.minorticks_off()
        axes.legend(frameon=False)
        axes.figure.savefig(plot, format="svg", metadata={"Date": None}, bbox_inches="tight")


def told_by_rules(share: float) -> tuple[float, ...]:
    """Print what rules imply at a level; the means over draws."""
    true, found, low, high = implied(share).T
    held = ((low - 1e-9 <= true) & (true <= high + 1e-9)).mean()
    error = np.median(np.abs(np.log2(found / true)))
    print(
        f"{share:.0%} labelled, implied: {found.mean():.2f} ({low.mean():.2f} to {high.mean():.2f}) for "
        f"{true.mean():.2f}; median |log2| error {error:.2f}, {held:.0%} of intervals hold",
        flush=True,
    )
    return tuple(float(each.mean()) for each in (true, found, low, high))


def told_by_scores(share: float) -> tuple[float, ...]:
    """Train and print what out-of-fold scores tell at a level."""
    with TemporaryDirectory() as folder:
        found, facts = estimated(share, Path(folder))
    rows = [row for row in found.rows() if row["labelled"]]
    kept = [bool(row["labelled"]) for row in found.rows()]
    true = facts[kept] / np.array([row["labelled"] for row in rows])
    ratio, low, high = (
        np.array([row[name] for row in rows]) for name in ("ratio", "ratio_low", "ratio_high")
    )
    error = np.median(np.abs(np.log2(ratio / true)))
    held = ((low - 1e-6 <= true) & (true <= high + 1e-6)).mean()
    pooled, overall = found.ratio, facts.sum() / sum(row["labelled"] for row in rows)
    print(
        f"{share:.0%} labelled, estimated: {pooled.estimate:.2f} ({pooled.low:.2f} to {pooled.high:.2f}) for "
        f"{overall:.2f}; by relation, median |log2| error {error:.2f}, {held:.0%} of intervals hold",
        flush=True,
    )
    return float(overall), pooled.estimate, pooled.low, pooled.high


def main() -> None:
    """Draw labels, train, estimate, compare."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("--plot", type=Path)
    chosen = parser.parse_args()
    levels = {
        "implied by rules": [told_by_rules(share) for share in SHARES],
        "estimated from scores": [told_by_scores(share) for share in SHARES],
    }
    if chosen.plot is not None:
        draw(levels, chosen.plot)


if __name__ == "__main__":
    main()
