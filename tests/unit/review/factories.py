"""Small reviews for tests."""

from fastapi.testclient import TestClient

from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.data.formats import jsonl
from unnoted.data.synthetic import generate_documents
from unnoted.io import content_digest
from unnoted.review.app import create_app
from unnoted.review.schema import create_store
from unnoted.review.store import Author, ReviewStore
from unnoted.suggestions import MissingLabels, Order, Suggestion, SuggestionSet

TOKEN = "a-token-for-tests"
HOST = {"host": "127.0.0.1:8000", "authorization": f"Bearer {TOKEN}"}
HOSTILE = '<img src=x onerror="document.title=1">&amp;"\'</script><script>alert(1)</script>'


def sentence(*names):
    """Entities of alternating types in one sentence."""
    words = tuple(word for name in names for word in (*name.split(), "meets"))
    entities, start = [], 0
    for index, name in enumerate(names):
        size = len(name.split())
        mention = Mention(0, start, start + size, ("PER", "LOC")[index % 2], name)
        entities.append(Entity((mention,)))
        start += size + 1
    return words, tuple(entities)


LABELS = (Fact(0, 1, "lives", (0,)),)


def people(name="d1", names=("Ada Lorne", "Kelm", "Bo", "Ost"), facts=LABELS):
    words, entities = sentence(*names)
    return Document(name, (words,), entities, facts)


def suggested(folder, documents=None, suggestions=None, relations=None):
    """A set of suggestions whose source is a file in a folder."""
    documents = documents or [people("d1"), people("d2"), people("d3", facts=())]
    source = folder / "corpus.jsonl"
    jsonl.write(source, documents)
    listed = suggestions or [
        Suggestion("d1", 2, 3, "lives", 0.9, (0,), "a rule"),
        Suggestion("d2", 2, 1, "lives", 0.7),
        Suggestion("d3", 0, 2, "knows", 0.5),
        Suggestion("d3", 0, 1, "lives", 0.3),
        Suggestion("d2", 0, 1, "lives", 0.05, labelled=True),
    ]
    relations = relations or {"lives": ("lives in", "Where somebody lives."), "knows": ("", "")}
    missing = (MissingLabels(next(iter(relations)), 2, 3.0, 1.0, 5.0),)
    return SuggestionSet(
        str(source), "jsonl", content_digest(source), "a model", relations,
        {each.id: each for each in documents}, tuple(listed), missing,
    )  # fmt: skip


def many(folder, count):
    """As many suggestions as wanted, over generated documents."""
    documents = list(generate_documents(max(count // 60, 3)))
    relations = sorted({fact.relation for each in documents for fact in each.facts})
    listed = []
    for number in range(10**9):
        document = documents[number % len(documents)]
        size, turn = len(document.entities), number // len(documents)
        head, tail = turn % size, (turn // size) % size
        relation = relations[(turn // size**2) % len(relations)]
        if head != tail and (head, tail, relation) not in document.labels:
            listed.append(Suggestion(document.id, head, tail, relation, 1 - len(listed) / count, (0,)))
        if len(listed) == count:
            return suggested(folder, documents, listed, {each: (each, "") for each in relations})
    return None


def opened(folder, found=None):
    """A store in a folder."""
    path = folder / "s.review.db"
    create_store(path, found or suggested(folder), "s.jsonl", "0" * 64)
    return ReviewStore(path)


def client(store):
    return TestClient(create_app(store, TOKEN), base_url="http://127.0.0.1:8000", headers=HOST)


class Authors:
    """Authors of events with a new key each."""

    def __init__(self, reviewer="Ada", order=Order.SCORE, filters="{}"):
        self.reviewer, self.order, self.filters, self.number = reviewer, order, filters, 0

    def __call__(self):
        self.number += 1
        return Author(
            self.reviewer, f"{self.reviewer}-{self.order}-key-{self.number}", self.order, self.filters
        )


def states(store):
    """The state of every item."""
    return [row["state"] for row in store.query("SELECT state FROM items ORDER BY id")]
