"""Invented names and descriptions, drawn anew for every document.

People's family names, places and organisations share one pool of made-up words, and nothing about a name
depends on the facts: a name says at most what type its entity has.
"""

from dataclasses import dataclass
from itertools import product
from random import Random

from unnoted.documents.generator.relations import ENTITY_TYPES, Kind

GIVEN_NAMES: tuple[str, ...] = tuple(
    start + end
    for start, end in product(
        ("A", "Be", "Co", "Da", "E", "Fi", "Ga", "He", "Ju", "Ka", "Li", "Mo"), ("rilo", "meth")
    )
)
STEMS: tuple[str, ...] = tuple(
    start + end
    for start, end in product(
        ("Bra", "Cel", "Dro", "Fen", "Gwi", "Hul", "Kes", "Lom", "Nev", "Ost", "Pel", "Quo", "Tor", "Vem"),
        ("dath", "bick", "gorn", "lund", "neth", "tusk"),
    )
)  # fmt: skip
ORGANISATION_WORDS = ("House", "Works", "Union", "Hall", "Group", "League", "Trust", "Circle")
PLACE_WORDS = ("New", "Old", "Upper", "Lower")
TITLE_ADJECTIVES = (
    "Grey", "Silent", "Broken", "Golden", "Hidden", "Quiet", "Crooked", "Empty", "Pale", "Burning",
    "Distant", "Hollow",
)  # fmt: skip
TITLE_NOUNS = (
    "Lantern", "Orchard", "Bridge", "Mirror", "Winter", "Ladder", "Garden", "Compass", "Feather", "Window",
    "Kettle", "Shadow", "Anchor", "Violin", "Staircase", "Candle", "Meadow", "Clock",
)  # fmt: skip

DESCRIPTIONS: tuple[tuple[str, ...], ...] = (
    ("novelist", "engineer", "painter", "chemist", "historian", "sailor", "surgeon", "botanist", "architect",
     "composer", "lawyer", "actor"),
    ("company", "firm", "institute", "academy", "society", "foundation", "guild"),
    ("novel", "play", "essay", "poem", "memoir", "ballad"),
    ("city", "town", "port", "village"),
    ("country", "kingdom", "republic", "duchy"),
)  # fmt: skip
"""The nouns that describe each kind. None is bound to a relation: a sailor may write, a guild may publish."""

PRONOUNS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("he",), ("she",)),
    (("that", "organisation"),),
    (("that", "work"),),
    (("that", "place"),),
    (("that", "place"),),
)
"""What stands for an entity just mentioned, by kind and gender. These words are not mentions."""

_HAS_SHORT_PLACE_NAME = 0.3
_HAS_DESCRIPTION = 0.55


@dataclass(slots=True)
class Character:
    """One entity of a world: what it is and every form under which a document may mention it.

    Attributes:
        kind: what it is.
        type: its entity type in the document.
        full: the words of its full name.
        full_name: the same, joined.
        short: the words of its short name; its full name where it has no shorter one.
        short_name: the same, joined.
        description: a noun that no other entity of the document has; empty where it has none.
        gender: 0 or 1 for people, which decides pronouns and words such as "son"; 0 for all else.
        roles: bit mask of the roles that statements have given it.
    """

    kind: Kind
    type: str
    full: tuple[str, ...]
    full_name: str
    short: tuple[str, ...]
    short_name: str
    description: str
    gender: int
    roles: int


class NameSource:
    """Draws the characters of one document; no word of a name and no description is drawn twice.

    Example:
        >>> source = NameSource(Random("example"))
        >>> person = source.draw(Kind.PERSON)
        >>> person.type, len(person.full), person.short == person.full[1:]
        ('PER', 2, True)
    """

    __slots__ = ("_random", "_used")

    def __init__(self, random: Random) -> None:
        self._random = random.random
        self._used: set[str] = set()

    def draw(self, kind: Kind) -> Character:
        """A new character of a kind."""
        random = self._random
        gender = 0
        if kind == Kind.PERSON:
            gender = int(random() * 2)
            short = self._unused(STEMS)
            full: tuple[str, ...] = (self._unused(GIVEN_NAMES), short)
        elif kind == Kind.WORK:
            short = self._unused(TITLE_NOUNS)
            full = ("The", self._unused(TITLE_ADJECTIVES), short)
        elif kind == Kind.ORGANISATION:
            short = self._unused(STEMS)
            full = (short, ORGANISATION_WORDS[int(random() * len(ORGANISATION_WORDS))])
        else:
            short = self._unused(STEMS)
            full = (short,)
            if random() < _HAS_SHORT_PLACE_NAME:
                full = (PLACE_WORDS[int(random() * len(PLACE_WORDS))], short)
        return Character(
            kind,
            ENTITY_TYPES[kind],
            full,
            " ".join(full),
            (short,),
            short,
            self._description(kind),
            gender,
            0,
        )

    def _unused(self, pool: tuple[str, ...]) -> str:
        random, used, size = self._random, self._used, len(pool)
        word = pool[int(random() * size)]
        while word in used:
            word = pool[int(random() * size)]
        used.add(word)
        return word

    def _description(self, kind: Kind) -> str:
        if self._random() >= _HAS_DESCRIPTION:
            return ""
        pool = DESCRIPTIONS[kind]
        word = pool[int(self._random() * len(pool))]
        # Going without is simpler than a second draw, and some entities have no description anyway.
        if word in self._used:
            return ""
        self._used.add(word)
        return word
