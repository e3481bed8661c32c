"""From the types of whatever found the mentions to the types that a model was trained with."""

from collections.abc import Callable, Collection, Mapping
from warnings import warn

from unnoted.utils import nearest, short_repr

LEFT_OUT = ""
"""What a type is called whose mentions are left out."""


class TypeNames:
    """What a model calls the types of found mentions.

    A given name comes first. A type that the model knows keeps its name, another one gets its usual name if
    the model knows that. What is left keeps its name, and is told once: the model has never seen it.

    Args:
        known: the types that the model knows; empty if it tells none apart, then every name is kept.
        given: names that come first; an empty one leaves the mentions of a type out.
        usual: what the finder's types are usually called.
        told: is given one line for each type that the model does not know; by default a warning.

    Raises:
        ValueError: a given name is not known to the model.

    Example:
        >>> names = TypeNames(["LOC", "PER"], given={"DATE": ""}, usual={"GPE": "LOC", "PERSON": "PER"},
        ...                   told=print)
        >>> [names.of(type) for type in ("PERSON", "LOC", "DATE")]
        ['PER', 'LOC', '']
        >>> names.of("LAW")
        mentions of type LAW were found, which the model does not know (it knows LOC, PER)
        'LAW'
    """

    def __init__(
        self,
        known: Collection[str] = (),
        given: Mapping[str, str] | None = None,
        usual: Mapping[str, str] | None = None,
        told: Callable[[str], None] = warn,
    ) -> None:
        self.known = frozenset(known)
        self.given = dict(given or {})
        self.usual = dict(usual or {})
        self._told = told
        self._told_of: set[str] = set()
        for type, name in self.given.items():
            if self.known and name != LEFT_OUT and name not in self.known:
                expected = ", ".join(sorted(self.known)) + nearest(name, self.known)
                raise ValueError(
                    f"type {short_repr(type)}: found {short_repr(name)}, expected one of {expected}"
                )

    def of(self, type: str) -> str:
        """The model's name of a type; empty where its mentions are left out."""
        if type in self.given:
            return self.given[type]
        if not self.known or type in self.known:
            return type
        usual = self.usual.get(type)
        if usual in self.known:
            return str(usual)
        if type not in self._told_of:
            self._told_of.add(type)
            known = ", ".join(sorted(self.known))
            self._told(
                f"mentions of type {type} were found, which the model does not know (it knows {known})"
            )
        return type
