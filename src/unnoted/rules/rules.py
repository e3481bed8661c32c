"""Horn rules between relations, written by a person: parsing, and the deductive closure of labels.

One rule a line:

    country(h, t) -> located in(h, t)                        # subsumption: the same pair
    spouse(t, h) -> spouse(h, t)                             # inversion: the other way round
    located in(h, k) & country(k, t) -> country(h, t)        # composition: in two steps

`h` and `t` are head and tail of the conclusion, `k` is an entity in between; `#` begins a comment. A relation
goes by its id or by its readable name. Rules that a person writes hold always, and between any types.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from unnoted.data.corpus import RelationVocabulary
from unnoted.data.document import Document, Fact, Triple
from unnoted.errors import DataError, Defect, DefectLog, Kind
from unnoted.io import TextInput, read_whole
from unnoted.utils import nearest, plural, short_repr

MAX_ROUNDS = 2
"""How often rules are applied to what follows from them, unless told otherwise."""

EXAMPLE = "lines such as: country(h, t) -> located in(h, t)"

_ATOM = re.compile(r"(?P<relation>.+)\(\s*(?P<first>[htk])\s*,\s*(?P<second>[htk])\s*\)")

Premises: TypeAlias = tuple[Triple, ...]
"""The facts that a conclusion rests on, in the order of the rule."""


class RuleKind(StrEnum):
    """The shape of the premises."""

    SUBSUMPTION = "subsumption"
    INVERSION = "inversion"
    COMPOSITION = "composition"


_SHAPES = {
    ("ht",): RuleKind.SUBSUMPTION,
    ("th",): RuleKind.INVERSION,
    ("hk", "kt"): RuleKind.COMPOSITION,
}  # fmt: skip
"""Kinds by the entities of their premises."""


Body: TypeAlias = tuple[RuleKind, tuple[str, ...]]
"""What a rule asks for: a kind, and the relations of its premises."""


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """If the premises hold, the conclusion does.

    Args:
        kind: the shape of the premises.
        premises: their relations, in order.
        conclusion: the relation that follows from head to tail.

    Example:
        >>> print(Rule(RuleKind.COMPOSITION, ("born in", "country"), "citizen of"))
        born in(h, k) & country(k, t) -> citizen of(h, t)
    """

    kind: RuleKind
    premises: tuple[str, ...]
    conclusion: str

    def __post_init__(self) -> None:
        if len(self.premises) != 1 + (self.kind is RuleKind.COMPOSITION):
            raise ValueError(f"a rule of the kind {self.kind} has not {len(self.premises)} premises")

    def __str__(self) -> str:
        return self.to_text()

    @property
    def body(self) -> Body:
        """Kind and premises."""
        return self.kind, self.premises

    def to_text(self, name: Callable[[str], str] = str) -> str:
        """The rule as a line of a file; `name` gives the readable name of a relation."""
        (shape,) = (shape for shape, kind in _SHAPES.items() if kind is self.kind)
        atoms = (
            f"{name(relation)}({entities[0]}, {entities[1]})"
            for relation, entities in zip(self.premises, shape, strict=True)
        )
        return f"{' & '.join(atoms)} -> {name(self.conclusion)}(h, t)"

    def to_json(self) -> dict[str, Any]:
        """The rule as JSON can hold it."""
        return {"kind": str(self.kind), "premises": list(self.premises), "conclusion": self.conclusion}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Rule":
        """What `to_json` gave."""
        return cls(RuleKind(value["kind"]), tuple(map(str, value["premises"])), str(value["conclusion"]))


RuleSet: TypeAlias = tuple[Rule, ...]


def parse_rules(
    text: str,
    relations: RelationVocabulary | None = None,
    on_unknown: Callable[[int, str], None] = lambda line, relation: None,
) -> RuleSet:
    """Rules from their lines, each once.

    Args:
        text: of a file.
        relations: the known ones; without them relations are taken as they are written.
        on_unknown: is given the number of a line that names an unknown relation, and the relation. Its rule
            is left out: one file serves corpora in which a relation does not occur.

    Raises:
        ValueError: names the line that is no rule.

    Example:
        >>> rules = parse_rules('''
        ... spouse(t, h) -> spouse(h, t)   # symmetric
        ... born in(h, k) & country(k, t) -> citizen of(h, t)''')
        >>> list(map(str, rules))
        ['spouse(t, h) -> spouse(h, t)', 'born in(h, k) & country(k, t) -> citizen of(h, t)']
    """
    ids = None if relations is None else _ids(relations)
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (statement := line.partition("#")[0].strip()):
            continue
        rule = _parse_rule(statement, number)
        if ids is not None:
            named = (*rule.premises, rule.conclusion)
            if unknown := [name for name in named if name not in ids]:
                on_unknown(number, unknown[0])
                continue
            rule = Rule(rule.kind, tuple(ids[name] for name in rule.premises), ids[rule.conclusion])
        rules.append(rule)
    return tuple(dict.fromkeys(rules))


def load_rules(
    path: str | Path, relations: RelationVocabulary, log: Callable[[str], None] = lambda line: None
) -> RuleSet:
    """Rules from a file.

    Args:
        path: of the file.
        relations: those of the documents.
        log: is given a line about rules of other relations. They may be misspelt.

    Raises:
        DataError: names the file and the line; also where no rule is about these relations.
    """
    file = TextInput(path).name
    try:
        text = read_whole(path)
    except DataError as error:
        raise DefectLog(file).located(error) from None
    unknown: list[tuple[int, str]] = []
    try:
        rules = parse_rules(text, relations, lambda *found: unknown.append(found))
    except ValueError as error:
        raise DataError(Defect(Kind.MALFORMED, file, None, "rules", str(error), EXAMPLE)) from None
    which = "".join(
        f"; line {line}: {short_repr(name)}{nearest(name, _ids(relations))}" for line, name in unknown[:3]
    )
    if not rules:
        found = f"no rule about {', '.join(relations.ids[:3])}, ...{which}"
        raise DataError(Defect(Kind.MALFORMED, file, None, "rules", found, EXAMPLE))
    if unknown:
        log(f"note: {file}: {plural(len(unknown), 'rule')} about other relations left out{which}")
    return rules


def _ids(relations: RelationVocabulary) -> dict[str, str]:
    """From everything that a relation may be called to its id; an id goes before a name."""
    by_name = {relations.name(relation): relation for relation in relations.ids}
    return by_name | {relation: relation for relation in relations.ids}


def _parse_rule(statement: str, number: int) -> Rule:
    body, arrow, head = statement.partition("->")
    atoms = [match for each in (*body.split("&"), head) if (match := _ATOM.fullmatch(each.strip()))]
    named = [(atom["relation"].strip(), atom["first"] + atom["second"]) for atom in atoms]
    *premises, conclusion = named or [("", "")]
    kind = _SHAPES.get(tuple(entities for _, entities in premises))
    if not arrow or len(atoms) != body.count("&") + 2 or conclusion[1] != "ht" or kind is None:
        raise ValueError(f"line {number}: {short_repr(statement)}")
    return Rule(kind, tuple(relation for relation, _ in premises), conclusion[0])


@dataclass(frozen=True, slots=True)
class DerivedFact:
    """A fact that follows by a rule.

    Attributes:
        fact: with the evidence of its premises.
        rule: by which it follows.
        premises: the facts that it rests on, labelled or derived.
        round: in which it was added, from 1.
    """

    fact: Fact
    rule: Rule
    premises: Premises
    round: int


@dataclass(frozen=True, slots=True)
class ClosedDocument:
    """A document with labelled and derived facts, and how the derived ones follow."""

    document: Document
    derived: tuple[DerivedFact, ...] = ()


def close(
    documents: Iterable[Document], rules: Sequence[Rule], max_rounds: int = MAX_ROUNDS
) -> list[ClosedDocument]:
    """Add to each document what follows from its facts.

    Labelled facts are never changed or removed, and known negatives are never added. Of several ways to a
    fact, that of the first rule in alphabetical order is named.

    Args:
        documents: with their labelled facts.
        rules: that always hold.
        max_rounds: how often rules are applied at most; it ends earlier once nothing follows.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> pair = [Entity((Mention(0, i, i + 1, "PER", name),)) for i, name in enumerate(("Ada", "Bo"))]
        >>> document = Document("d", (("Ada", "Bo"),), tuple(pair), (Fact(0, 1, "spouse", (0,)),))
        >>> (closed,) = close([document], parse_rules("spouse(t, h) -> spouse(h, t)"))
        >>> [(each.fact.triple, each.premises) for each in closed.derived]
        [((1, 0, 'spouse'), ((0, 1, 'spouse'),))]
    """
    if max_rounds < 0:
        raise ValueError(f"max_rounds must be 0 or more, not {max_rounds}")
    by_body: dict[Body, list[Rule]] = defaultdict(list)
    for rule in sorted(rules, key=str):
        by_body[rule.body].append(rule)
    return [_close(document, by_body, max_rounds) for document in documents]


def _close(document: Document, by_body: Mapping[Body, Sequence[Rule]], max_rounds: int) -> ClosedDocument:
    facts = {fact.triple: fact for fact in document.facts}
    rejected = frozenset(document.negatives)
    derived: list[DerivedFact] = []
    for round_ in range(1, max_rounds + 1):
        ways: dict[Triple, tuple[str, Premises, Rule]] = {}
        for body, (head, tail), premises in match_bodies(facts):
            for rule in by_body.get(body, ()):
                triple = head, tail, rule.conclusion
                if triple not in facts and triple not in rejected and head != tail:
                    way = str(rule), premises, rule
                    ways[triple] = min(ways.get(triple, way), way)
        for triple, (_, premises, rule) in sorted(ways.items()):
            evidence = sorted({sentence for premise in premises for sentence in facts[premise].evidence})
            derived.append(DerivedFact(Fact(*triple, tuple(evidence)), rule, premises, round_))
        if not ways:
            break
        facts |= {each.fact.triple: each.fact for each in derived[-len(ways) :]}
    added = (each.fact for each in derived)
    return ClosedDocument(document.with_facts((*document.facts, *added)), tuple(derived))


def match_bodies(facts: Iterable[Triple]) -> Iterator[tuple[Body, tuple[int, int], Premises]]:
    """Every way in which a body holds among the facts of one document, with head and tail of its conclusion.

    Example:
        >>> found = {(str(kind), pair) for (kind, _), pair, _ in match_bodies([(0, 1, "P131"), (1, 2, "P17")])}
        >>> sorted(found)  # doctest: +NORMALIZE_WHITESPACE
        [('composition', (0, 2)), ('inversion', (1, 0)), ('inversion', (2, 1)), ('subsumption', (0, 1)),
         ('subsumption', (1, 2))]
    """
    facts = sorted(set(facts))
    by_head: dict[int, list[Triple]] = defaultdict(list)
    for fact in facts:
        by_head[fact[0]].append(fact)
    for fact in facts:
        head, middle, relation = fact
        yield (RuleKind.SUBSUMPTION, (relation,)), (head, middle), (fact,)
        yield (RuleKind.INVERSION, (relation,)), (middle, head), (fact,)
        for onward in by_head[middle]:
            _, tail, second = onward
            if tail not in (head, middle):
                yield (RuleKind.COMPOSITION, (relation, second)), (head, tail), (fact, onward)
