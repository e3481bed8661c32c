"""The scoring rules of DocRED and ChemDisGene, one loop each, over plain lists.

Gold and train are lists of documents; a prediction is (title, head, tail, relation, evidence, score).
"""


def distinct(predictions):
    """Of predictions of the same fact, the first."""
    kept = []
    for prediction in predictions:
        if not any(prediction[:4] == earlier[:4] for earlier in kept):
            kept.append(prediction)
    return kept


def gold_facts(gold):
    """Every fact of every document once: (title, head, tail, relation, evidence)."""
    facts = []
    for document in gold:
        for fact in document.facts:
            row = (document.id, fact.head, fact.tail, fact.relation, list(fact.evidence))
            if not any(row[:4] == earlier[:4] for earlier in facts):
                facts.append(row)
    return facts


def find(rows, key):
    for row in rows:
        if row[:4] == key:
            return row
    return None


def document_of(gold, title):
    for document in gold:
        if document.id == title:
            return document
    return None


def figures(correct, predicted, gold):
    """P, R and F1 of counts, 0 where there is nothing to divide by."""
    precision = correct / predicted if predicted > 0 else 0.0
    recall = correct / gold if gold > 0 else 0.0
    return precision, recall, f1(precision, recall)


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def counts(predictions, facts, wanted=lambda key: True):
    """How many are correct, predicted and gold, among the facts that are wanted."""
    correct = predicted = gold = 0
    for prediction in predictions:
        if wanted(prediction[:4]):
            predicted += 1
            if find(facts, prediction[:4]) is not None:
                correct += 1
    for fact in facts:
        if wanted(fact[:4]):
            gold += 1
    return correct, predicted, gold


def is_known(document, head, tail, relation, train):
    """Whether a name of the head, a name of the tail and the relation are together a fact of train."""
    for head_mention in document.entities[head].mentions:
        for tail_mention in document.entities[tail].mentions:
            for other in train:
                for fact in other.facts:
                    for other_head in other.entities[fact.head].mentions:
                        for other_tail in other.entities[fact.tail].mentions:
                            if (
                                head_mention.name == other_head.name
                                and tail_mention.name == other_tail.name
                                and relation == fact.relation
                            ):
                                return True
    return False


def ign(predictions, facts, gold, train):
    """Ign precision, recall and F1."""
    correct = known = 0
    for title, head, tail, relation, *_ in predictions:
        if find(facts, (title, head, tail, relation)) is not None:
            correct += 1
            if is_known(document_of(gold, title), head, tail, relation, train):
                known += 1
    precision = (correct - known) / (len(predictions) - known + 1e-5)
    recall = correct / len(facts)
    return precision, recall, f1(precision, recall)


def evidence(predictions, facts, gold):
    """Correct, predicted and gold evidence sentences."""
    correct = predicted = total = 0
    for *_, sentences in facts:
        total += len(sentences)
    for prediction in predictions:
        if document_of(gold, prediction[0]) is None:
            continue
        fact = find(facts, prediction[:4])
        for sentence in sorted(set(prediction[4])):
            predicted += 1
            if fact is not None and sentence in fact[4]:
                correct += 1
    return correct, predicted, total


def shares_a_sentence(document, head, tail):
    for one in document.entities[head].mentions:
        for other in document.entities[tail].mentions:
            if one.sentence == other.sentence:
                return True
    return False


def named_alone(document, index):
    """Whether an entity has a mention that is not a mention of another entity of the same type."""
    for mention in document.entities[index].mentions:
        alone = True
        for other_index, other in enumerate(document.entities):
            for other_mention in other.mentions:
                if (
                    other_index != index
                    and other_mention.span == mention.span
                    and other_mention.type == mention.type
                ):
                    alone = False
        if alone:
            return True
    return False


def is_reachable(key, gold, train):
    """Whether a fact or prediction is among those that published ChemDisGene scores are about."""
    title, head, tail, relation = key
    in_gold = any(fact.relation == relation for document in gold for fact in document.facts)
    in_train = any(fact.relation == relation for document in train for fact in document.facts)
    if in_gold and not in_train:
        return False
    document = document_of(gold, title)
    if document is None:
        return True
    for index in (head, tail):
        if 0 <= index < len(document.entities) and not named_alone(document, index):
            return False
    return True


def average_precision(predictions, facts):
    """The sum over thresholds, from the highest, of the recall gained times the precision there."""
    area = before = 0.0
    for threshold in sorted({prediction[5] for prediction in predictions}, reverse=True):
        taken = [prediction for prediction in predictions if prediction[5] >= threshold]
        correct, predicted, gold = counts(taken, facts)
        area += (correct / gold - before) * correct / predicted
        before = correct / gold
    return area
