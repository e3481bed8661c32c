"""Templates made ready for use: split into words once, at import."""

from dataclasses import dataclass

from unnoted.documents.generator import templates
from unnoted.documents.generator.closure import NUMBERS, RELATION_IDS

Words = tuple[str, ...]

_GENDERS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""(gender of the head, gender of the tail) at position 2 * head + tail."""

# After these words the first slot is not the subject of a verb in the singular.
_NOT_SUBJECT_BEFORE = ("and",)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One template, split around its two slots; the words are given for each combination of genders.

    Attributes:
        head_first: whether the head stands in the first slot.
        subject: whether the first slot opens the phrase and is its subject, so that a pronoun can stand
            there and a second phrase with the same subject can be joined on.
        lead: the words before the first slot.
        middle: the words between the slots.
        trail: the words after the second slot.
    """

    head_first: bool
    subject: bool
    lead: tuple[Words, ...]
    middle: tuple[Words, ...]
    trail: tuple[Words, ...]


def _inflect(word: str, head: int, tail: int) -> str:
    if not word.startswith("["):
        return word
    slot, forms = word[1:-1].split(":")
    return forms.split("|")[head if slot == "h" else tail]


def compile_phrase(template: str) -> Phrase:
    """Split a template into words.

    Example:
        >>> phrase = compile_phrase("{t} was the [t:father|mother] of {h}")
        >>> phrase.head_first, phrase.subject, phrase.middle[0], phrase.middle[1]
        (False, True, ('was', 'the', 'father', 'of'), ('was', 'the', 'mother', 'of'))
    """
    words = template.split()
    first, second = sorted((words.index("{h}"), words.index("{t}")))
    parts = (words[:first], words[first + 1 : second], words[second + 1 :])
    lead, middle, trail = (
        tuple(tuple(_inflect(word, head, tail) for word in part) for head, tail in _GENDERS) for part in parts
    )
    subject = first == 0 and words[1] not in _NOT_SUBJECT_BEFORE
    return Phrase(words[first] == "{h}", subject, lead, middle, trail)


STATEMENTS: tuple[tuple[Phrase, ...], ...] = tuple(
    tuple(map(compile_phrase, templates.STATEMENTS.get(relation, ()))) for relation in RELATION_IDS
)
"""The phrases of each relation, by number; empty for derived relations."""

HEAD_SUBJECT: tuple[tuple[Phrase, ...], ...] = tuple(
    tuple(phrase for phrase in phrases if phrase.subject and phrase.head_first) for phrases in STATEMENTS
)
"""Of these, the ones whose subject is the head."""

TAIL_SUBJECT: tuple[tuple[Phrase, ...], ...] = tuple(
    tuple(phrase for phrase in phrases if phrase.subject and not phrase.head_first) for phrases in STATEMENTS
)
"""Of these, the ones whose subject is the tail."""

UNREAL: tuple[tuple[Phrase, tuple[int, ...]], ...] = tuple(
    (compile_phrase(template), tuple(NUMBERS[relation] for relation in denied))
    for template, denied in templates.UNREAL
)
"""Phrases that deny or imagine a relation, with the numbers of all relations that must not hold."""

NEUTRAL: dict[tuple[str, str], tuple[Phrase, ...]] = {
    types: tuple(map(compile_phrase, phrases)) for types, phrases in templates.NEUTRAL.items()
}
"""Phrases that mention two entities without relating them, by their types."""

DENIALS: tuple[Words, ...] = tuple(tuple(words.split()) for words in templates.DENIALS)
OPENERS: tuple[Words, ...] = tuple(tuple(words.split()) for words in templates.OPENERS)
CLOSERS: tuple[Words, ...] = tuple(tuple(words.split()) for words in templates.CLOSERS)
