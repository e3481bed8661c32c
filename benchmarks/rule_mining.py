"""How many facts rules add to incomplete labels, and how many of these are true: docs/concepts/rules.md.

`python -m benchmarks.rule_mining SCORES`, with a file of `LabelledScores.save`: out-of-fold scores of the
documents of `train_annotated.json`. Documents that also have complete labels are judged. They are in two
halves: on the first one limits may be chosen, and rules of complete labels are mined; the second is reported.
"""

import argparse
from pathlib import Path

from unnoted.documents import Document, Fact, RelationVocabulary, load_documents
from unnoted.documents.comparison import match_entities
from unnoted.documents.schema import Triple
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules import MiningLimits, RuleSet, ScoreCheck, checked, close, mine, noted_shares

DATA = Path(__file__).parents[2] / "shared/data/docred"
MULTIPLIER = 3
NAIVE = MiningLimits(confidence=0.5, lift=0.0, deviations=0.0)
BEFORE_SCORES, BY_SCORES = MiningLimits(confidence=0.3), 0.4

Truth = dict[str, frozenset[Triple]]


def truth_of(noted: list[Document], complete: list[Document]) -> Truth:
    """All facts of the documents whose entities are the same in both labellings, by document."""
    others = {document.id: document for document in complete}
    truth = {}
    for document in noted:
        other = others.get(document.id)
        mapping = None if other is None else match_entities(document, other)
        if other is not None and mapping is not None:
            back = {index: own for own, index in enumerate(mapping)}
            truth[document.id] = frozenset((back[h], back[t], r) for h, t, r in other.labels)
    return truth


def judged(rules: RuleSet, documents: list[Document], truth: Truth) -> str:
    """Added facts, and how many of them are true."""
    added = [(each.document.id, one.fact.triple) for each in close(documents, rules) for one in each.derived]
    right = sum(triple in truth[name] for name, triple in added)
    return f"{len(added):6,} {100 * right / max(len(added), 1):5.1f} %"


def main(data: Path, scores: LabelledScores) -> None:
    """Print the table, and the rules that are kept by scores."""
    relations = RelationVocabulary.from_file(data / "rel_info.json")
    noted = load_documents(data / "train_annotated.json", vocabulary=relations)
    complete = load_documents(data / "train_revised.json", vocabulary=relations)
    documents, truth = list(noted), truth_of(list(noted), list(complete))
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
