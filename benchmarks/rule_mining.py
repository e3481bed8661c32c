"""How many facts rules add to incomplete labels, and how many of these are true: docs/concepts/rules.md.

`python -m benchmarks.rule_mining SCORES`, with a file of `LabelledScores.save`: out-of-fold scores of the
documents of `train_annotated.json`. Documents that also have complete labels are judged. They are in two
halves: on the first one limits may be chosen, and rules of complete labels are mined; the second is reported.
"""

import argparse
from pathlib import Path

from benchmarks.complete_labels import DATA, Truth, read_truth
from unnoted.data import Document, Fact
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules import MiningLimits, RuleSet, ScoreCheck, checked, close, mine, noted_shares

MULTIPLIER = 3
NAIVE = MiningLimits(confidence=0.5, lift=0.0, deviations=0.0)
BEFORE_SCORES, BY_SCORES = MiningLimits(confidence=0.3), 0.4


def judged(rules: RuleSet, documents: list[Document], truth: Truth) -> str:
    """Added facts, and how many of them are true."""
    added = [(each.document.id, one.fact.triple) for each in close(documents, rules) for one in each.derived]
    right = sum(triple in truth[name] for name, triple in added)
    return f"{len(added):6,} {100 * right / max(len(added), 1):5.1f} %"


def main(data: Path, scores: LabelledScores) -> None:
    """Print the table, and the rules that are kept by scores."""
    noted, truth = read_truth(data)
    documents, relations = list(noted), noted.relations
    both = [document for document in documents if document.id in truth]
    halves = both[::2], both[1::2]
    shares = noted_shares(noted.labelled_priors * MULTIPLIER)
    true_facts = [d.with_facts(Fact(*triple) for triple in sorted(truth[d.id])) for d in halves[0]]
    before = mine(documents, shares, BEFORE_SCORES)
    check = ScoreCheck(scores, documents, before.constraints)
    kept = checked(before, check, BY_SCORES)
    rows = {
        "complete labels of the first half, bound 0.5": mine(true_facts, {}),
        "complete labels of the first half, bound 0.7": mine(true_facts, {}, MiningLimits(confidence=0.7)),
        "naive: noted share at least 0.5": mine(documents, {}, NAIVE),
        "corrected, bound 0.5": mine(documents, shares),
        "corrected, bound 0.3": before,
        "corrected, bound 0.3; by scores, bound 0.3": checked(before, check, 0.3),
        "corrected, bound 0.3; by scores, bound 0.4": kept,
        "corrected, bound 0.3; by scores, bound 0.5": checked(before, check, 0.5),
        "the same as with 0.4, without its rule of most additions": kept.kept(
            sorted(kept, key=lambda rule: check.precision(rule).added)[:-1]
        ),
    }
    for name, rules in rows.items():
        print(f"{name:58} {len(rules):4}  {'  '.join(judged(rules, half, truth) for half in halves)}")
    print(*kept.lines(relations.name), sep="\n")


if __name__ == "__main__":
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    chosen = parser.parse_args()
    main(chosen.data, LabelledScores.load(chosen.scores))
