"""What DocRED's written rules tell of labels, and what they add: docs/concepts/rules.md.

`python -m benchmarks.written_rules`: for original, extremely few and complete labels of the training
documents, the multiplier that the rules imply beside the true one, and how many of the facts that they add
are true. Documents that also have complete labels are judged.
"""

import argparse
from pathlib import Path

from benchmarks.complete_labels import DATA, read_truth
from benchmarks.rule_mining import judged
from unnoted.data import Document, Fact
from unnoted.data.levels import level
from unnoted.data.thinning import thin
from unnoted.rules import implied_facts, load_rules


def main(data: Path) -> None:
    """Print a row for each labelling."""
    corpus, truth = read_truth(data)
    noted = list(corpus)
    labellings: dict[str, list[Document]] = {
        "original": noted,
        "extreme": list(thin(noted, level("extreme", lambda: noted), 0)),
        "complete": [d.with_facts(Fact(*t) for t in sorted(truth[d.id])) for d in noted if d.id in truth],
    }
    rules = load_rules("docred", corpus.relations)
    for name, documents in labellings.items():
        found = implied_facts(documents, rules)
        both = [document for document in documents if document.id in truth]
        true = sum(len(truth[d.id]) for d in both) / sum(len(d.labels) for d in both)
        print(
            f"{name:9} {found.implied:6,} follow, {found.noted:6,} noted: {found.multiplier:.2f} facts "
            f"a label (true: {true:.2f}); added and true: {judged(rules, both, truth)}"
        )


if __name__ == "__main__":
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("--data", type=Path, default=DATA)
    main(parser.parse_args().data)
