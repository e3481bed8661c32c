"""How well a model's supporting sentences agree with labelled evidence: docs/training.md.

`python -m benchmarks.evidence MODEL HELD DEV...`: a trained model, documents with evidence on which the
threshold is chosen, and documents on which it is reported. Two scores: of the pairs that are labelled, as if
they had all been found; and of the facts that the model predicts, as the official scorer counts.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from unnoted.data import CandidatePairs, Document, Entity, load_documents
from unnoted.data.formats.predictions import Prediction
from unnoted.evaluation import evaluate
from unnoted.inference import Extractor
from unnoted.inference.scoring import attention_shares, guided_sentences, supporting_sentences
from unnoted.models.batch import Collator
from unnoted.models.features import featurise
from unnoted.models.model import RelationModel
from unnoted.models.samplers import BatchLimits, SortedBatches

Shares = NDArray[np.floating]
LabelledPair = tuple[Entity, Entity, Shares, set[int]]
Choose = Callable[[Entity, Entity, Shares], Sequence[int]]
THRESHOLDS = [round(0.05 * step, 2) for step in range(1, 11)]


def both_mentioned(head: Entity, tail: Entity, shares: Shares) -> list[int]:
    """The sentences in which both are mentioned."""
    return sorted({m.sentence for m in head.mentions} & {m.sentence for m in tail.mentions})


def by_share(threshold: float) -> Choose:
    """The sentences of at least that share."""
    return lambda head, tail, shares: guided_sentences(shares, threshold)


@torch.no_grad()
def labelled_pairs(model: RelationModel, documents: Sequence[Document]) -> list[LabelledPair]:
    """Head, tail, shares and evidence of each labelled pair that has evidence."""
    assert model.tokenizer is not None
    features = featurise(
        documents, model.tokenizer, model.relations.ids, CandidatePairs(), None, model.entity_types
    )
    found = []
    for indices in SortedBatches(features, BatchLimits(documents=16)):
        batch = Collator(features)([features[index] for index in indices])
        pairs = torch.unique(batch.evidence_pair)
        shares = attention_shares(model.encoder(batch).entity_rows(batch), batch, pairs).numpy()
        for row, pair in enumerate(pairs.tolist()):
            entities = documents[indices[int(batch.pair_document[pair])]].entities
            head, tail = (entities[int(batch.entity_slot[side[pair]])] for side in (batch.head, batch.tail))
            evidence = set(batch.evidence_sentence[batch.evidence_pair == pair].tolist())
            found.append((head, tail, shares[row], evidence))
    return found


def f1_of_labelled(pairs: list[LabelledPair], choose: Choose) -> float:
    """F1 of the sentences of labelled pairs."""
    correct = predicted = wanted = 0
    for head, tail, shares, evidence in pairs:
        chosen = set(choose(head, tail, shares))
        correct, predicted, wanted = (
            correct + len(chosen & evidence),
            predicted + len(chosen),
            wanted + len(evidence),
        )
    return 200 * correct / max(predicted + wanted, 1)


def official(model: RelationModel, documents: Sequence[Document], chosen: float) -> dict[str, str]:
    """Evidence F1 of predicted facts, by each way to choose their sentences."""
    scores = {}
    for name, threshold in (
        ("today's rule over this attention", None),
        ("guided", chosen),
        ("guided, 0.2", 0.2),
    ):
        model.config.evidence_threshold = threshold
        found = list(Extractor(model).extract(documents))
        scores[name] = _evidence_f1(documents, [each for one in found for each in one.predictions()])
    told = []
    for one in found:
        entities = one.document.entities
        for each in one.predictions():
            sentences = both_mentioned(entities[each.head], entities[each.tail], np.zeros(0))
            told.append(replace(each, evidence=tuple(sentences)))
    return {"both mentioned": _evidence_f1(documents, told), **scores}


def _evidence_f1(documents: Sequence[Document], predictions: Sequence[Prediction]) -> str:
    result = evaluate(documents, predictions)
    assert result.evidence is not None
    return f"facts F1 {100 * result.overall.f1:.2f}, evidence F1 {100 * result.evidence.f1:.2f}"


def main(folder: str, held: str, *developments: str) -> None:
    """Choose a threshold, then report."""
    model = RelationModel.from_pretrained(folder)
    pairs = labelled_pairs(model, list(load_documents(held, vocabulary=model.relations)))
    chosen = max(THRESHOLDS, key=lambda threshold: f1_of_labelled(pairs, by_share(threshold)))
    print(
        "on",
        held,
        {each: round(f1_of_labelled(pairs, by_share(each)), 1) for each in THRESHOLDS},
        "chosen",
        chosen,
    )
    for name in developments:
        documents = list(load_documents(name, vocabulary=model.relations))
        pairs = labelled_pairs(model, documents)
        rules = {"both mentioned": both_mentioned, "today's rule over this attention": supporting_sentences}
        rules |= {"guided": by_share(chosen), "guided, 0.2": by_share(0.2)}
        print(
            "labelled pairs of", name, {rule: round(f1_of_labelled(pairs, rules[rule]), 2) for rule in rules}
        )
        print("predicted facts of", name, official(model, documents, chosen))


if __name__ == "__main__":
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    for name, number in (("model", None), ("held", None), ("dev", "+")):
        parser.add_argument(name, nargs=number)
    chosen = parser.parse_args()
    main(chosen.model, chosen.held, *chosen.dev)
