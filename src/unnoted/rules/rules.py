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
from unnoted.errors import DataError, DefectLog
from unnoted.io import TextInput, read_whole
from unnoted.utils import nearest, plural, short_repr

MAX_ROUNDS = 2
"""How often rules are applied to what follows from them, unless told otherwise."""

EXAMPLE = "lines such as: country(h, t) -> located in(h, t)"

_ATOM = re.compile(r"(?P<relation>.+)\(\s*(?P<first>[htk])\s*,\s*(?P<second>[htk])\s*\)")


class RuleKind(StrEnum):
    """The shape of the premises."""

    SUBSUMPTION = "subsumption"
    INVERSION = "inversion"
    COMPOSITION = "composition"


_SHAPES = {RuleKind.SUBSUMPTION: ("ht",), RuleKind.INVERSION: ("th",), RuleKind.COMPOSITION: ("hk", "kt")}
"""The entities of the premises of each kind."""

Body: TypeAlias = tuple[RuleKind, tuple[str, ...]]
"""What a rule asks for: a kind, and the relations of its premises."""

Premises: TypeAlias = tuple[Triple, ...]
"""The facts that a conclusion rests on, in the order of the rule."""


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """If the premises hold, the conclusion does.

    Example:
        >>> print(Rule(RuleKind.COMPOSITION, ("born in", "country"), "citizen of"))
        born in(h, k) & country(k, t) -> citizen of(h, t)
    """

    kind: RuleKind
    premises: tuple[str, ...]
    conclusion: str

    def __post_init__(self) -> None:
        if len(self.premises) != len(_SHAPES[self.kind]):
            raise ValueError(f"a rule of the kind {self.kind} has not {len(self.premises)} premises")

    def __str__(self) -> str:
        return self.to_text()

    @property
    def body(self) -> Body:
        """Kind and premises."""
        return self.kind, self.premises

    def to_text(self, name: Callable[[str], str] = str) -> str:
        """The rule as a line of a file; `name` gives the readable name of a relation."""
        atoms = (
            f"{name(relation)}({entities[0]}, {entities[1]})"
            for relation, entities in zip(self.premises, _SHAPES[self.kind], strict=True)
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


def parse_rules(text: str) -> RuleSet:
    """Rules from their lines, each once, with relations as they are written.

    Example:
        >>> rules = parse_rules('''
        ... spouse(t, h) -> spouse(h, t)   # symmetric
        ... born in(h, k) & country(k, t) -> citizen of(h, t)''')
        >>> list(map(str, rules))
        ['spouse(t, h) -> spouse(h, t)', 'born in(h, k) & country(k, t) -> citizen of(h, t)']
    """
    return tuple(dict.fromkeys(rule for _, rule in _parse_lines(text)))


def _parse_lines(text: str) -> Iterator[tuple[int, Rule]]:
    kinds = {shape: kind for kind, shape in _SHAPES.items()}
    for number, line in enumerate(text.splitlines(), 1):
        if not (statement := line.partition("#")[0].strip()):
            continue
        body, _, head = statement.partition("->")
        matches = [_ATOM.fullmatch(atom.strip()) for atom in (*body.split("&"), head)]
        atoms = [(each["relation"].strip(), each["first"] + each["second"]) for each in matches if each]
        *premises, conclusion = atoms or [("", "")]
        kind = kinds.get(tuple(entities for _, entities in premises))
        if len(atoms) < len(matches) or conclusion[1] != "ht" or kind is None:
            raise ValueError(f"line {number}: {short_repr(statement)}")
        yield number, Rule(kind, tuple(relation for relation, _ in premises), conclusion[0])


def load_rules(
    path: str | Path, relations: RelationVocabulary, log: Callable[[str], None] = lambda line: None
) -> RuleSet:
    """Rules from a file, each once, with the ids of relations.

    Rules of other relations are left out: one file serves corpora in which a relation does not occur.

    Raises:
        DataError: names the file and the line; also where no rule is about these relations.
    """
    file = TextInput(path).name
    ids = {relations.name(relation): relation for relation in relations.ids}
    ids |= {relation: relation for relation in relations.ids}  # an id goes before a name
    rules, others = [], []
    try:
        for number, rule in _parse_lines(read_whole(path)):
            unknown = [name for name in (*rule.premises, rule.conclusion) if name not in ids]
            if unknown:
                others.append(f"; line {number}: {short_repr(unknown[0])}{nearest(unknown[0], ids)}")
            else:
                premises = tuple(ids[name] for name in rule.premises)
                rules.append(Rule(rule.kind, premises, ids[rule.conclusion]))
    except DataError as error:
        raise DefectLog(file).located(error) from None
    except ValueError as error:
        raise DataError(str(error), EXAMPLE, place="rules", file=file) from None
    which = "".join(others[:3])
    if not rules:
        found = f"no rule about {', '.join(relations.ids[:3])}, ...{which}"
        raise DataError(found, EXAMPLE, place="rules", file=file)
    if others:
        log(f"note: {file}: {plural(len(others), 'rule')} about other relations left out{which}")
    return tuple(dict.fromkeys(rules))


@dataclass(frozen=True, slots=True)
class DerivedFact:
    """A fact that follows by a rule.

    Attributes:
        fact: with the evidence of its premises.
        rule: by which it follows.
        premises: the facts that it rests on, labelled or derived.
    """

    fact: Fact
    rule: Rule
    premises: Premises


@dataclass(frozen=True, slots=True)
class ClosedDocument:
    """A document with labelled and derived facts, and how the derived ones follow."""

    document: Document
    derived: tuple[DerivedFact, ...] = ()


def deductive_closure(
    documents: Iterable[Document], rules: Sequence[Rule], max_rounds: int = MAX_ROUNDS
) -> list[ClosedDocument]:
    """Add to each document what follows from its facts.

    Labelled facts are never changed or removed, and known negatives are never added. Of several ways to a
    fact, that of the first rule in alphabetical order is named.

    Example:
        >>> from unnoted.data.document import Entity, Mention
        >>> pair = [Entity((Mention(0, i, i + 1, "PER", name),)) for i, name in enumerate(("Ada", "Bo"))]
        >>> document = Document("d", (("Ada", "Bo"),), tuple(pair), (Fact(0, 1, "spouse", (0,)),))
        >>> (closed,) = deductive_closure([document], parse_rules("spouse(t, h) -> spouse(h, t)"))
        >>> [(each.fact.triple, each.premises) for each in closed.derived]
        [((1, 0, 'spouse'), ((0, 1, 'spouse'),))]
    """
    by_body = group_by_body(sorted(rules, key=str))
    return [_close(document, by_body, max_rounds) for document in documents]


def _close(document: Document, by_body: Mapping[Body, Sequence[Rule]], max_rounds: int) -> ClosedDocument:
    facts = {fact.triple: fact for fact in document.facts}
    derived: list[DerivedFact] = []
    for _ in range(max_rounds):
        ways: dict[Triple, tuple[str, Premises, Rule]] = {}
        for triple, rule, premises in derive(document, facts, by_body):
            if triple not in facts:
                way = str(rule), premises, rule
                ways[triple] = min(ways.get(triple, way), way)
        found = []
        for triple, (_, premises, rule) in sorted(ways.items()):
            evidence = sorted({sentence for premise in premises for sentence in facts[premise].evidence})
            found.append(DerivedFact(Fact(*triple, tuple(evidence)), rule, premises))
        if not found:
            break
        facts |= {each.fact.triple: each.fact for each in found}
        derived += found
    added = (each.fact for each in derived)
    return ClosedDocument(document.with_facts((*document.facts, *added)), tuple(derived))


def group_by_body(rules: Iterable[Rule]) -> dict[Body, list[Rule]]:
    """Rules by what they ask for, as `derive` takes them."""
    by_body: dict[Body, list[Rule]] = defaultdict(list)
    for rule in rules:
        by_body[rule.body].append(rule)
    return by_body


def derive(
    document: Document, facts: Iterable[Triple], by_body: Mapping[Body, Sequence[Rule]]
) -> Iterator[tuple[Triple, Rule, Premises]]:
    """Everything that facts of a document imply in one step, but for its known negatives."""
    rejected = frozenset(document.negatives)
    for body, (head, tail), premises in match_bodies(facts):
        for rule in by_body.get(body, ()):
            triple = head, tail, rule.conclusion
            if head != tail and triple not in rejected:
                yield triple, rule, premises


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
