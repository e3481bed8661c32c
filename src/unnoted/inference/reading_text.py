"""What turns text into documents for a model: entity types under the names that the model knows."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from warnings import warn

from unnoted.data.ner import EntitySource, TextReader

if TYPE_CHECKING:  # transformers takes seconds to load, and is needed only when a model is
    from unnoted.models.model import RelationModel


def known_types(model: "RelationModel") -> tuple[str, ...]:
    """The entity types that a model was trained with, sorted; none, if it tells none apart."""
    paired = model.candidates.types or ()
    return tuple(sorted({*model.entity_types, *(type for pair in paired for type in pair)}))


def text_reader(
    model: "RelationModel",
    entities: EntitySource,
    types: Mapping[str, str] | None = None,
    told: Callable[[str], None] = warn,
) -> TextReader:
    """A reader whose documents a model understands; the arguments are those of `TextReader.of`."""
    return TextReader.of(entities, known_types(model), types, told)
