"""The paper's three levels of labelling, by name."""

from collections.abc import Callable, Iterable

from unnoted.data.document import Document
from unnoted.data.thinning import DOCRED_SHARE, KeepAll, OnePerRelation, PopularShare, Thinning
from unnoted.utils import lookup

LEVELS: dict[str, Callable[[Iterable[Document]], Thinning]] = {
    "full": lambda documents: KeepAll(),
    "incomplete": lambda documents: PopularShare.fit(documents, DOCRED_SHARE),
    "extreme": lambda documents: OnePerRelation(),
}
"""Full: all facts. Incomplete: the share that DocRED's annotators labelled, with their bias. Extreme: one
label per relation per document."""


def level(name: str, documents: Callable[[], Iterable[Document]]) -> Thinning:
    """The rule of a level; `documents` gives those whose frequencies the rule may need to know.

    Example:
        >>> level("extreme", list)
        OnePerRelation()
    """
    return lookup("level", name, LEVELS)(documents())
