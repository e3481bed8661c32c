"""Rules as people write them: one in a line, in the words in which they are shown.

    country(h, t) -> located in(h, t)            # the same pair
    spouse(t, h) -> spouse(h, t)                 # the other way round
    located in(h, k) & country(k, t) -> country(h, t)

`h` and `t` are head and tail of what follows, `k` is an entity in between; `#` begins a remark. A relation
goes by its id or by its readable name. Rules that people write hold between any types, and always.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import as_file, files
from pathlib import Path

from unnoted.data.corpus import RelationVocabulary
from unnoted.errors import DataError, Defect, DefectLog, Kind
from unnoted.io import TextInput, read_whole
from unnoted.rules.bodies import body_of
from unnoted.rules.constraints import Constraints
from unnoted.rules.rule import Rule, RuleSet
from unnoted.utils import nearest, plural, short_repr

PACKAGED = ("docred",)
"""Rules that come with the package, by name."""

EXPECTED = "lines such as: country(h, t) -> located in(h, t)"

_ATOM = re.compile(r"(?P<relation>.+)\(\s*(?P<first>[htk])\s*,\s*(?P<second>[htk])\s*\)")

_SHAPES = {("ht",): "same-pair", ("th",): "inverse", ("hk", "kt"): "two-step"}
"""The kind of a body by the entities of its premises, in order."""


def written_rules(
    text: str,
    relations: RelationVocabulary | None = None,
    unknown: Callable[[int, str], None] = lambda line, relation: None,
) -> RuleSet:
    """Rules from their lines.

    Args:
        text: of a file.
        relations: known ones. A rule that names another is left out: the same file serves documents in which
            a relation does not occur. Without them relations are taken as they are written.
        unknown: is given the line of a rule that is left out, and the relation that is not known.

    Raises:
        ValueError: names the line that is no rule.

    Example:
        >>> rules = written_rules('''
        ... spouse(t, h) -> spouse(h, t)   # symmetric
        ... born in(h, k) & country(k, t) -> citizen of(h, t)''')
        >>> list(map(str, rules))
        ['spouse(t, h) -> spouse(h, t)', 'born in(h, k) & country(k, t) -> citizen of(h, t)']
    """
    ids = None if relations is None else _ids(relations)
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        if statement := line.partition("#")[0].strip():
            kind, *names = _parsed(statement, number)
            if ids is not None and (others := [name for name in names if name not in ids]):
                unknown(number, others[0])
                continue
            *premises, conclusion = names if ids is None else (ids[name] for name in names)
            rules.append(Rule(body_of(kind, premises), conclusion))
    return RuleSet(tuple(dict.fromkeys(rules)), Constraints.free())


def load_rules(
    name: str | Path, relations: RelationVocabulary, tell: Callable[[str], None] = lambda line: None
) -> RuleSet:
    """Rules by the name of a file, or of rules of the package.

    Args:
        name: of the file, or "docred".
        relations: those of the documents.
        tell: is given a line about rules of a file that name other relations. They may be misspelt.

    Raises:
        DataError: names the file, the line and what was found; also where no rule is about these relations.

    Example:
        >>> print(load_rules("docred", RelationVocabulary(("P17", "P131")))[0])
        P17(h, t) -> P131(h, t)
    """
    with as_file(files("unnoted.rules") / f"{name}.txt" if str(name) in PACKAGED else Path(name)) as path:
        file = TextInput(path).name
        try:
            text = read_whole(path)
        except DataError as error:
            raise DefectLog(file).located(error) from None
    others: list[tuple[int, str]] = []
    try:
        rules = written_rules(text, relations, lambda *found: others.append(found))
    except ValueError as error:
        raise DataError(Defect(Kind.MALFORMED, file, None, "rules", str(error), EXPECTED)) from None
    if str(name) in PACKAGED:
        others = []  # they serve many documents
    which = "".join(
        f"; line {line}: {short_repr(one)}{nearest(one, _ids(relations))}" for line, one in others[:3]
    )
    if not rules:
        found = f"no rule about {', '.join(relations.ids[:3])}, ...{which}"
        raise DataError(Defect(Kind.MALFORMED, file, None, "rules", found, EXPECTED))
    if others:
        tell(f"note: {file}: {plural(len(others), 'rule')} about other relations left out{which}")
    return rules


def _ids(relations: RelationVocabulary) -> Mapping[str, str]:
    """From everything that a relation may be called to its id; an id goes before a name."""
    return {relations.name(relation): relation for relation in relations.ids} | {
        relation: relation for relation in relations.ids
    }


def _parsed(statement: str, number: int) -> Iterator[str]:
    """The kind of a rule, the relations of its premises and of its conclusion."""
    body, arrow, head = statement.partition("->")
    atoms = [_ATOM.fullmatch(each.strip()) for each in (*body.split("&"), head)]
    if not arrow or None in atoms:
        raise ValueError(f"line {number}: {short_repr(statement)}")
    *premises, conclusion = (
        (atom["relation"].strip(), atom["first"] + atom["second"]) for atom in atoms if atom
    )
    shape = tuple(places for _, places in premises)
    if conclusion[1] != "ht" or shape not in _SHAPES:
        raise ValueError(f"line {number}: {short_repr(statement)}")
    yield _SHAPES[shape]
    yield from (relation for relation, _ in premises)
    yield conclusion[0]
