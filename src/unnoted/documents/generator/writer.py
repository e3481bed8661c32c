"""Writes planned sentences word by word, and notes where every entity is mentioned."""

from random import Random

from unnoted.documents.generator.names import PRONOUNS, Character
from unnoted.documents.generator.phrases import CLOSERS, OPENERS, Words
from unnoted.documents.generator.plan import Clause, SentencePlan
from unnoted.documents.generator.relations import Kind
from unnoted.documents.schema import Mention

_OPENER = 0.2
_CLOSER = 0.2
_PRONOUN = 0.75
_RELATIVE_CLAUSE = 0.4
_APPOSITION = 0.5

# How an entity is mentioned again: by its description if it has one, else by its short name, else in full.
_DESCRIBED_AGAIN = 0.4
_SHORT_AGAIN = 0.55

_RELATIVES: tuple[str, ...] = tuple("who" if kind == Kind.PERSON else "which" for kind in Kind)

_capitalised: dict[str, str] = {}
"""Every word that has opened a sentence, with its capital: one string object each, however many documents."""


def _capitalise(word: str) -> str:
    if word not in _capitalised:
        _capitalised[word] = word[0].upper() + word[1:]
    return _capitalised[word]


def _with_article(noun: str) -> Words:
    return ("an" if noun[0] in "aeiou" else "a", noun)


class Writer:
    """The sentences of one document and the mentions in them, as they are written.

    Attributes:
        sentences: the words of each sentence so far.
        mentions: the mentions of each entity so far, by entity number.
    """

    __slots__ = ("_characters", "_named", "_present", "_random", "_words", "mentions", "sentences")

    def __init__(self, characters: list[Character], random: Random) -> None:
        self._random = random.random
        self._characters = characters
        self._words: list[str] = []
        # The entities of the previous sentence, and those of them that it mentions by words of their own.
        self._present: tuple[int, ...] = ()
        self._named: tuple[int, ...] = ()
        self.sentences: list[Words] = []
        self.mentions: list[list[Mention]] = [[] for _ in characters]

    def write(self, plan: SentencePlan) -> int:
        """Write a sentence; returns the bit mask of the sentences that one must read to understand it."""
        draw = self._random
        words = self._words = []
        evidence = 1 << len(self.sentences)
        clause, joined, opening, _ = plan
        phrase = clause.phrase
        subject = clause.head if phrase.head_first else clause.tail

        if opening:
            words += opening
        elif draw() < _OPENER:
            words += OPENERS[int(draw() * len(OPENERS))]
        opened = bool(words)
        words += phrase.lead[self._genders(clause)]
        pronoun = phrase.subject and self._is_antecedent(subject) and draw() < _PRONOUN
        if pronoun:
            character = self._characters[subject]
            words += PRONOUNS[character.kind][character.gender]
            evidence |= evidence >> 1
        else:
            self._mention(subject)
        if joined is None:
            present: tuple[int, ...] = (subject, self._finish_clause(clause, True))
        else:
            relative = not pronoun and draw() < _RELATIVE_CLAUSE
            present = self._write_joined(clause, joined, subject, relative)
        # One remark a sentence is enough.
        if not opened and draw() < _CLOSER:
            words += CLOSERS[int(draw() * len(CLOSERS))]
        words.append(".")
        words[0] = _capitalise(words[0])
        self.sentences.append(tuple(words))
        self._present = present
        self._named = present[1:] if pronoun else present
        return evidence

    def _write_joined(self, first: Clause, second: Clause, subject: int, relative: bool) -> tuple[int, ...]:
        """Both clauses after their common subject; returns the entities of the sentence."""
        words = self._words
        if relative:
            words += (",", _RELATIVES[self._characters[subject].kind])
        other = self._finish_clause(first, relative)
        words.append("," if relative else "and")
        return subject, other, self._finish_clause(second, True)

    def _finish_clause(self, clause: Clause, before_stop: bool) -> int:
        """The words of a clause after its subject; `before_stop`: a comma or full stop follows it.

        Returns the entity that is not the subject.
        """
        phrase, head, tail = clause
        words = self._words
        genders = self._genders(clause)
        other = tail if phrase.head_first else head
        words += phrase.middle[genders]
        trail = phrase.trail[genders]
        self._mention(other, before_stop and not trail)
        words += trail
        return other

    def _genders(self, clause: Clause) -> int:
        """Which form of its phrase a clause takes."""
        return 2 * self._characters[clause.head].gender + self._characters[clause.tail].gender

    def _is_antecedent(self, number: int) -> bool:
        """Whether a pronoun now can only mean this entity.

        The previous sentence names it, and no other entity of its type stands there.
        """
        if number not in self._named:
            return False
        characters = self._characters
        entity_type = characters[number].type
        return all(there == number or characters[there].type != entity_type for there in self._present)

    def _mention(self, number: int, before_stop: bool = False) -> None:
        """Mention an entity: in full and with its description the first time, then in any form it has."""
        draw = self._random
        words = self._words
        character = self._characters[number]
        mentions = self.mentions[number]
        description = character.description
        form, name = character.full, character.full_name
        apposition: Words = ()
        if mentions:
            if description and draw() < _DESCRIBED_AGAIN:
                article = "the" if words else "The"
                form, name = (article, description), f"{article} {description}"
            elif draw() < _SHORT_AGAIN:
                form, name = character.short, character.short_name
        elif description:
            if before_stop and draw() < _APPOSITION:
                apposition = (",", *_with_article(description))
            elif character.kind >= Kind.CITY:
                words += ("the", description, "of")
            else:
                words += ("the", description)
        start = len(words)
        words += form
        mentions.append(Mention(len(self.sentences), start, len(words), character.type, name))
        words += apposition
