"""ChemDisGene's published denominator: the facts that the published systems could reach.

Published scores leave out gold facts of relations that train does not have, and of entities that have no
mention of their own: every mention of theirs is linked to several ids.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from unnoted.data.document import Document
from unnoted.evaluation.metrics import Gold, Key, Score, relation_of, scores_by, total


@dataclass(frozen=True, slots=True)
class PublishedScore:
    """The score over the facts that the published systems could reach, and what that leaves out.

    Args:
        overall: all relations that are left.
        frequent: the most frequent relations.
        unseen_relations: relations of the gold that train does not have.
        facts_of_unseen_relations: gold facts left out for their relation.
        facts_of_shared_mentions: gold facts left out for an entity, though their relation is in train.
        predictions_left_out: predictions left out for the same two reasons.
    """

    overall: Score
    frequent: Score
    unseen_relations: tuple[str, ...]
    facts_of_unseen_relations: int
    facts_of_shared_mentions: int
    predictions_left_out: int

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        left_out = {
            "unseen_relations": list(self.unseen_relations),
            "facts_of_unseen_relations": self.facts_of_unseen_relations,
            "facts_of_shared_mentions": self.facts_of_shared_mentions,
            "predictions": self.predictions_left_out,
        }
        return {"overall": self.overall.to_json(), "frequent": self.frequent.to_json(), "left_out": left_out}


def have_own_mention(document: Document) -> list[bool]:
    """For each entity, whether some mention of it is shared with no other entity of its type.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> shared, own = Mention(0, 0, 1, "Gene", "A/B"), Mention(0, 1, 2, "Gene", "A")
        >>> have_own_mention(Document("d", (("A/B", "A"),), (Entity((shared, own)), Entity((shared,)))))
        [True, False]
    """
    places = [{(*mention.span, mention.type) for mention in entity.mentions} for entity in document.entities]
    owners = Counter(place for entity in places for place in entity)
    return [any(owners[place] == 1 for place in entity) for entity in places]


def published_score(
    predicted: Collection[Key], gold: Gold, train_relations: Mapping[str, int], frequent: Collection[str]
) -> PublishedScore:
    """Score what the published systems could reach.

    Predictions are left out by the same two rules, neither right nor wrong: where such facts are no gold,
    such pairs and relations are no candidates. A relation that neither gold nor train has stays wrong.

    Args:
        predicted: distinct predictions.
        gold: the gold documents.
        train_relations: how many facts each relation has in train.
        frequent: the relations that are scored together.
    """
    unseen = {relation for relation in gold.relations if not train_relations.get(relation)}
    reachable = {title: have_own_mention(document) for title, document in gold.documents.items()}

    def is_left_out(key: Key) -> bool:
        title, head, tail, relation = key
        entities = reachable.get(title, ())
        ends = [end for end in (head, tail) if 0 <= end < len(entities)]
        return relation in unseen or not all(entities[end] for end in ends)

    facts = {key for key in gold.facts if not is_left_out(key)}
    predictions = {key for key in predicted if not is_left_out(key)}
    of_unseen = sum(key[3] in unseen for key in gold.facts)
    scores = scores_by(relation_of, predictions, facts)
    return PublishedScore(
        Score.count(predictions, facts),
        total(score for relation, score in scores.items() if relation in frequent),
        tuple(sorted(unseen)),
        of_unseen,
        len(gold.facts) - len(facts) - of_unseen,
        len(predicted) - len(predictions),
    )
