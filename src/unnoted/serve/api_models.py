"""What goes in and out, as the OpenAPI page shows it. Requests are read by the readers of documents."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

_EXAMPLE: dict[str, Any] = {
    "id": "note-1",
    "text": "Ada Lorne lives in Kelm.",
    "entities": [
        {"type": "PER", "mentions": [{"start": 0, "end": 9}]},
        {"type": "LOC", "mentions": [{"start": 19, "end": 23}]},
    ],
}


class GivenMention(BaseModel):
    """Where an entity is named: characters of `text`, or words of a sentence of `sentences`."""

    start: int = Field(ge=0)
    end: int = Field(ge=1, description="behind the last character or word")
    sentence: int | None = Field(None, ge=0, description="only with `sentences`")
    type: str | None = Field(None, description="where it differs from the entity's")
    name: str | None = None


class GivenEntity(BaseModel):
    """One thing, and all places where it is named."""

    type: str = Field(min_length=1)
    mentions: list[GivenMention] = Field(min_length=1)
    id: str | None = None


class GivenDocument(BaseModel):
    """A document as a line of unnoted JSONL has it: `text` or `sentences`, and `entities`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [_EXAMPLE],
            "anyOf": [{"required": ["text"]}, {"required": ["sentences"]}],
        }
    )

    id: str = Field("1", min_length=1, description="by default the document's number in the request")
    text: str = Field("", description="raw text; mentions are spans of characters")
    sentences: list[list[str]] = Field([], description="words; mentions are spans of words")
    entities: list[GivenEntity]


class GivenText(BaseModel):
    """A plain text."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"text": _EXAMPLE["text"]}]})

    text: str = Field(min_length=1)
    id: str = Field("1", min_length=1)


class FoundFact(BaseModel):
    """A predicted fact."""

    head: int = Field(description="the number of the head entity, from 0")
    tail: int
    relation: str
    head_name: str
    tail_name: str
    relation_name: str
    confidence: float = Field(description="orders facts; 0.5 is the model's line")
    margin: float
    evidence: list[int] = Field(description="supporting sentences, numbered from 0")
    sentences: list[str]
    head_type: str
    tail_type: str
    head_id: str | None
    tail_id: str | None
    head_offsets: list[list[int]] | None = Field(None, description="of documents that are given as text")
    tail_offsets: list[list[int]] | None = None
    probability: float | None = Field(None, description="that the fact holds; only of a calibrated model")


class FoundPlace(BaseModel):
    """Where an entity was found, in characters."""

    start: int
    end: int
    sentence: int


class FoundEntity(BaseModel):
    """An entity that was found in a text."""

    type: str
    name: str
    mentions: list[FoundPlace]
    id: str | None = None


class DocumentResult(BaseModel):
    """The facts of one document."""

    id: str
    facts: list[FoundFact]
    entities: list[FoundEntity] | None = Field(None, description="only where they were looked for")
    notes: list[str] | None = Field(None, description="what was ignored in the document")


class ErrorAnswer(BaseModel):
    """Why there is no result."""

    error: str
    document: str | None = None
    field: str | None = None
    line: int | None = None


class RelationAnswer(BaseModel):
    """A relation that the model knows."""

    id: str
    name: str


class ModelAnswer(BaseModel):
    """What the model knows."""

    model: str
    calibrated: bool = Field(description="whether facts have probabilities and targets can be asked for")
    text: bool = Field(description="whether plain text is taken (`/extract/text`)")
    types: list[str]
    relations: list[RelationAnswer]


class StatusAnswer(BaseModel):
    """How the service is."""

    status: str


def given_schemas() -> dict[str, Any]:
    """The schemas of requests by name, for the components of OpenAPI.

    Example:
        >>> sorted(given_schemas())
        ['GivenDocument', 'GivenEntity', 'GivenMention', 'GivenText']
    """
    models = [(model, "validation") for model in (GivenDocument, GivenText)]
    _, schema = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    found: dict[str, Any] = schema["$defs"]
    return found


def one_or_many(name: str) -> dict[str, Any]:
    """The schema of a request that is one thing or a list of them."""
    one = {"$ref": f"#/components/schemas/{name}"}
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}
