"""What DocRED's written rules tell of labels, and what they add: docs/concepts/rules.md.

`python -m benchmarks.written_rules`: for original, extremely few and complete labels of the training
documents, the multiplier that the rules imply beside the true one, and how many of the facts that they add
are true. Documents that also have complete labels are judged.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.rule_mining import DATA, judged, truth_of
from unnoted.documents import Document, Fact, RelationVocabulary, load_documents
from unnoted.documents.levels import level
from unnoted.documents.schema import Triple
from unnoted.documents.thinning import thin
from unnoted.rules import RuleSet, close, implied_facts, load_rules

FEWEST = 5
"""Labels of a relation from which its ratio is compared."""


def ratio_errors(documents: list[Document], rules: RuleSet, truth: dict[str, frozenset[Triple]]) -> str:
    """|log2| of estimated over true facts a label, by relation: the median, and weighed by true facts.

    Beside it the best that one multiplier for all relations can do, which nobody knows.
    """
    both = [document for document in documents if document.id in truth]
    noted, judged_noted, true, closed = (
        Counter(relation for labels in several for *_, relation in labels)
        for several in (
            (d.labels for d in documents),
            (d.labels for d in both),
            (truth[d.id] for d in both),
            (each.document.labels for each in close(documents, rules)),
        )
    )
    rest = implied_facts(documents, rules).multiplier * noted.total() / closed.total()
    relations = [relation for relation, count in judged_noted.items() if count >= FEWEST]
    right = np.array([true[relation] / judged_noted[relation] for relation in relations])
    found = np.array([max(1.0, rest * closed[relation] / noted[relation]) for relation in relations])
    weights = [true[relation] for relation in relations]

    def errors(estimates: object) -> tuple[float, float]:
        off = np.abs(np.log2(estimates / right))
        return float(np.median(off)), float(np.average(off, weights=weights))

    single = [errors(np.full(len(right), value)) for value in np.arange(1, 12, 0.05)]
    best = [min(each[number] for each in single) for number in (0, 1)]
    own = errors(found)
    return (
        f"{len(relations)} relations, error of ratios {own[0]:.2f} and weighed {own[1]:.2f}; "
        f"best single multipliers {best[0]:.2f} and {best[1]:.2f}"
    )


def main(data: Path) -> None:
    """Print a row for each labelling."""
    relations = RelationVocabulary.from_file(data / "rel_info.json")
    noted = list(load_documents(data / "train_annotated.json", vocabulary=relations))
    truth = truth_of(noted, list(load_documents(data / "train_revised.json", vocabulary=relations)))
    labellings: dict[str, list[Document]] = {
        "original": noted,
        "extreme": list(thin(noted, level("extreme", lambda: noted), 0)),
        "complete": [d.with_facts(Fact(*t) for t in sorted(truth[d.id])) for d in noted if d.id in truth],
    }
    rules = load_rules("docred", relations)
    for name, documents in labellings.items():
        found = implied_facts(documents, rules)
        both = [document for document in documents if document.id in truth]
        true = sum(len(truth[d.id]) for d in both) / sum(len(d.labels) for d in both)
        print(
            f"{name:9} {found.implied:6,} follow, {found.noted:6,} noted: {found.multiplier:.2f} facts "
            f"a label (true: {true:.2f}); added and true: {judged(rules, both, truth)}"
        )
        print(f"{'':9} {ratio_errors(documents, rules, truth)}")


if __name__ == "__main__":
    main(DATA)
