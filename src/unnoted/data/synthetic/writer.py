"""Writes planned sentences word by word, and notes where every entity is mentioned."""

from sys import intern

from unnoted.data.document import Mention
from unnoted.data.synthetic.dice import Dice
from unnoted.data.synthetic.sentences import Clause, SentencePlan
from unnoted.data.synthetic.vocabulary import CLOSERS, OPENERS, Words
from unnoted.data.synthetic.world import Character


class Writer:
    """The sentences of one document so far, and the mentions of each entity in them."""

    def __init__(self, characters: list[Character], dice: Dice) -> None:
        self._dice = dice
        self._characters = characters
        self._words: list[str] = []
        # The entities of the previous sentence, and those of them that it mentions by words of their own.
        self._present: list[int] = []
        self._named: list[int] = []
        self.sentences: list[Words] = []
        self.mentions: list[list[Mention]] = [[] for _ in characters]

    def write(self, plan: SentencePlan) -> int:
        """Write a sentence; returns the bit mask of the sentences that one must read to understand it."""
        dice, (phrase, head, tail) = self._dice, plan.clauses[0]
        subject = head if phrase.head_first else tail
        opening = plan.opening or (dice.pick(OPENERS) if dice.chance("opener") else ())
        words = self._words = [*opening, *self._parts(plan.clauses[0])[0]]
        pronoun = phrase.subject and self._is_antecedent(subject) and dice.chance("pronoun")
        if pronoun:
            words += self._characters[subject].kind.pronouns[self._characters[subject].gender].split()
        else:
            self._mention(subject)
        present = [subject]
        relative = len(plan.clauses) > 1 and not pronoun and dice.chance("relative clause")
        if relative:
            words += (",", self._characters[subject].kind.relative)
        for clause in plan.clauses[:-1]:
            present.append(self._finish_clause(clause, relative))
            words.append("," if relative else "and")
        present.append(self._finish_clause(plan.clauses[-1], True))
        if not opening and dice.chance("closer"):  # one remark per sentence is enough
            words += dice.pick(CLOSERS)
        words[0] = intern(words[0][0].upper() + words[0][1:])
        self.sentences.append((*words, "."))
        self._present, self._named = present, present[1:] if pronoun else present
        here = 1 << len(self.sentences) - 1
        return here | here >> 1 if pronoun else here

    def _parts(self, clause: Clause) -> tuple[Words, Words, Words]:
        """The words of a clause before, between and after its two entities."""
        phrase, head, tail = clause
        return phrase.words[2 * self._characters[head].gender + self._characters[tail].gender]

    def _finish_clause(self, clause: Clause, before_stop: bool) -> int:
        """Write a clause after its subject, maybe `before_stop` or comma; returns its other entity."""
        other = clause.tail if clause.phrase.head_first else clause.head
        _, middle, trail = self._parts(clause)
        self._words += middle
        self._mention(other, before_stop and not trail)
        self._words += trail
        return other

    def _is_antecedent(self, number: int) -> bool:
        """Whether a pronoun can only mean this entity: the last sentence names no other of its type."""
        if number not in self._named:
            return False
        types = [self._characters[there].kind.type for there in self._present if there != number]
        return self._characters[number].kind.type not in types

    def _mention(self, number: int, before_stop: bool = False) -> None:
        """Mention an entity: in full and with its description the first time, then in any form it has."""
        dice, words = self._dice, self._words
        character, mentions = self._characters[number], self.mentions[number]
        noun, form = character.description, character.full
        apposition: Words = ()
        if mentions:
            if noun and dice.chance("description again"):
                form = ("the" if words else "The", noun)
            elif dice.chance("short name again"):
                form = (character.short,)
        elif noun and before_stop and dice.chance("description behind the name"):
            apposition = (",", "an" if noun[0] in "aeiou" else "a", noun)
        elif noun:
            words += ("the", noun, "of") if character.kind.place else ("the", noun)
        start, end = len(words), len(words) + len(form)
        words += form + apposition
        mentions.append(Mention(len(self.sentences), start, end, character.kind.type, " ".join(form)))
