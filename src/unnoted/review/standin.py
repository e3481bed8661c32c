"""Stand-in until ordering is there."""
import random
from enum import StrEnum

class Order(StrEnum):
    BY_PROBABILITY = "by-probability"
    BY_GAIN = "by-gain"
    BY_DOCUMENT = "by-document"
    AUDIT = "audit"

def ordered(found, order):
    rows = list(range(len(found.suggestions)))
    if order is Order.AUDIT:
        random.Random(0).shuffle(rows)
    if order is Order.BY_DOCUMENT:
        place = {name: i for i, name in enumerate(found.documents)}
        rows.sort(key=lambda i: place[found.suggestions[i].document])
    return rows
