"""The relations of the generated corpus: their types, how often they are stated, and the rules of the truth.

A relation is either *stated* (a sentence says it) or *derived* (it holds only by a rule). The weights give
the long tail: among the statements about one entity, each relation is drawn in proportion to its weight.
"""

from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """What an entity is. Cities and countries are told apart here, and share the type LOC in documents."""

    PERSON = 0
    ORGANISATION = 1
    WORK = 2
    CITY = 3
    COUNTRY = 4


ENTITY_TYPES: tuple[str, ...] = ("PER", "ORG", "WORK", "LOC", "LOC")
"""The entity type of each kind, as mentions carry it."""

PERSON, ORGANISATION, WORK, CITY, COUNTRY = Kind


@dataclass(frozen=True, slots=True)
class Signature:
    """Kinds that a relation may join, and how often it is stated of them."""

    head: Kind
    tail: Kind
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Roles:
    """What a statement makes of an entity (`takes`) and what the entity must not yet be (`bars`)."""

    takes: tuple[str, ...] = ()
    bars: tuple[str, ...] = ()


def once(role: str) -> Roles:
    """A role that an entity can have only once, as a person has one place of birth."""
    return Roles((role,), (role,))


FREE = Roles()


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation of the vocabulary.

    Attributes:
        id: how facts name it.
        name: how people read it, as "head: name: tail".
        signatures: the kinds it joins; all weights are zero where it is never stated.
        head_roles: what keeps statements about one head consistent.
        tail_roles: the same for the tail.
        fresh: one side of a statement is always a new entity, so that families stay trees; `fresh_takes`
            are the roles this new entity has from the start.
        fresh_takes: see `fresh`.
    """

    id: str
    name: str
    signatures: tuple[Signature, ...]
    head_roles: Roles = FREE
    tail_roles: Roles = FREE
    fresh: bool = False
    fresh_takes: tuple[str, ...] = ()

    @property
    def stated(self) -> bool:
        """Whether a sentence can say it."""
        return any(signature.weight > 0 for signature in self.signatures)

    @property
    def types(self) -> frozenset[tuple[str, str]]:
        """The (head type, tail type) pairs it may join."""
        return frozenset((ENTITY_TYPES[s.head], ENTITY_TYPES[s.tail]) for s in self.signatures)


def _in_place(head: Kind, city: float = 0.0, country: float = 0.0) -> tuple[Signature, ...]:
    return Signature(head, CITY, city), Signature(head, COUNTRY, country)


_PEOPLE = (Signature(PERSON, PERSON),)

_ALL: tuple[Relation, ...] = (
    # People and their families. A family grows only by new people, and each set of siblings has at most one
    # stated parent, so that no statement can contradict another.
    Relation(
        "child_of", "child of", (Signature(PERSON, PERSON, 2.2),), once("has parent"), fresh=True
    ),
    Relation("parent_of", "parent of", _PEOPLE),
    Relation("grandchild_of", "grandchild of", _PEOPLE),
    Relation("grandparent_of", "grandparent of", _PEOPLE),
    Relation(
        "sibling_of",
        "sibling of",
        (Signature(PERSON, PERSON, 0.5),),
        fresh=True,
        fresh_takes=("has parent",),
    ),
    Relation(
        "spouse_of",
        "spouse of",
        (Signature(PERSON, PERSON, 0.9),),
        once("married"),
        once("married"),
        fresh=True,
    ),
    Relation(
        "student_of",
        "student of",
        (Signature(PERSON, PERSON, 0.45),),
        Roles(("student",), ("student", "teacher")),
        Roles(("teacher",), ("student",)),
    ),
    Relation("teacher_of", "teacher of", _PEOPLE),
    # People and places.
    Relation("born_in", "place of birth", _in_place(PERSON, 3.2, 0.35), once("born")),
    Relation("lives_in", "place of residence", _in_place(PERSON, 1.3, 0.15), once("home")),
    Relation("died_in", "place of death", _in_place(PERSON, 0.07), once("dead")),
    Relation("works_in", "place of work", _in_place(PERSON)),
    # People and organisations.
    Relation("works_for", "employer", (Signature(PERSON, ORGANISATION, 3.0),)),
    Relation("leads", "head of", (Signature(PERSON, ORGANISATION, 0.6),), once("leads"), once("has leader")),
    Relation("founded_by", "founder", (Signature(ORGANISATION, PERSON, 0.8),), once("has founder")),
    Relation("trained_at", "trained at", (Signature(PERSON, ORGANISATION, 0.35),), once("trained")),
    # Organisations.
    Relation("based_in", "seat", _in_place(ORGANISATION, 5.0, 0.3), once("has seat")),
    Relation(
        "owned_by",
        "owned by",
        (Signature(ORGANISATION, ORGANISATION, 0.5),),
        Roles(("owned",), ("owned", "owner")),
        Roles(("owner",), ("owned",)),
    ),
    Relation("owns", "owner of", (Signature(ORGANISATION, ORGANISATION),)),
    # Places.
    Relation("located_in", "located in", (Signature(CITY, COUNTRY, 6.0),), once("in country")),
    Relation(
        "capital_of", "capital of", (Signature(CITY, COUNTRY, 0.25),), once("in country"), once("has capital")
    ),
    Relation("borders", "shares a border with", (Signature(COUNTRY, COUNTRY, 0.4),)),
    # Works.
    Relation("written_by", "author", (Signature(WORK, PERSON, 3.0),), once("has author")),
    Relation("author_of", "author of", (Signature(PERSON, WORK),)),
    Relation("published_by", "publisher", (Signature(WORK, ORGANISATION, 1.4),), once("has publisher")),
    Relation("set_in", "setting", _in_place(WORK, 0.6, 0.1), once("has setting")),
    Relation(
        "sequel_of", "sequel of", (Signature(WORK, WORK, 0.12),), once("in series"), once("in series")
    ),
    Relation("translated_by", "translator", (Signature(WORK, PERSON, 0.05),), once("has translator")),
)  # fmt: skip

RELATIONS: dict[str, Relation] = {relation.id: relation for relation in _ALL}
"""The vocabulary, by id."""

INVERSES: dict[str, str] = {
    "child_of": "parent_of",
    "parent_of": "child_of",
    "grandchild_of": "grandparent_of",
    "grandparent_of": "grandchild_of",
    "student_of": "teacher_of",
    "teacher_of": "student_of",
    "owned_by": "owns",
    "owns": "owned_by",
    "written_by": "author_of",
    "author_of": "written_by",
    # A symmetric relation is its own inverse.
    "sibling_of": "sibling_of",
    "spouse_of": "spouse_of",
    "borders": "borders",
}
"""If r(a, b) then INVERSES[r](b, a)."""

IMPLICATIONS: dict[str, str] = {"capital_of": "located_in", "leads": "works_for"}
"""If r(a, b) then IMPLICATIONS[r](a, b)."""

COMPOSITIONS: tuple[tuple[str, str, str], ...] = (
    ("parent_of", "parent_of", "grandparent_of"),
    ("child_of", "parent_of", "sibling_of"),
    ("sibling_of", "sibling_of", "sibling_of"),
    ("sibling_of", "child_of", "child_of"),
    ("works_for", "based_in", "works_in"),
    ("works_in", "located_in", "works_in"),
    ("born_in", "located_in", "born_in"),
    ("lives_in", "located_in", "lives_in"),
    ("died_in", "located_in", "died_in"),
    ("based_in", "located_in", "based_in"),
    ("set_in", "located_in", "set_in"),
)
"""If first(a, b) and second(b, c) with a and c different, then third(a, c)."""


def relation_names() -> dict[str, str]:
    """The vocabulary as people read it: id to name.

    Example:
        >>> relation_names()["born_in"], len(relation_names())
        ('place of birth', 28)
    """
    return {relation.id: relation.name for relation in _ALL}
