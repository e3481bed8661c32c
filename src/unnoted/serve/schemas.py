"""What requests and answers hold; requests are validated by it, and OpenAPI describes both."""

from typing import Annotated, NotRequired

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from typing_extensions import TypedDict

from unnoted.inference import FactRecord

_TEXT = "Ada Lorne lives in Kelm."


class _Request(BaseModel):
    """Values must have the type of their field; unknown fields are kept, and reported as notes."""

    model_config = ConfigDict(strict=True, extra="allow")


class MentionRequest(_Request):
    """Where an entity is named: characters of `text`, or words of a sentence of `sentences`."""

    start: int = Field(ge=0)
    end: int = Field(ge=1, description="behind the last character or word")
    sentence: int = Field(default=None, ge=0, description="only with `sentences`")  # type: ignore[assignment]
    type: str = Field(default=None, min_length=1, description="if it differs from the entity's")  # type: ignore[assignment]
    name: str = Field(default=None)  # type: ignore[assignment]


class EntityRequest(_Request):
    """An entity with all its mentions."""

    type: str = Field(min_length=1)
    mentions: list[MentionRequest] = Field(min_length=1)
    id: str | None = None


class DocumentRequest(_Request):
    """A document as a line of unnoted JSONL: `text` or `sentences`, and `entities`."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": ["text"]}, {"required": ["sentences"]}],
            "examples": [
                {
                    "id": "note-1",
                    "text": _TEXT,
                    "entities": [
                        {"type": "PER", "mentions": [{"start": 0, "end": 9}]},
                        {"type": "LOC", "mentions": [{"start": 19, "end": 23}]},
                    ],
                }
            ],
        }
    )

    id: str = Field(default="1", min_length=1, description="by default the number within the request")
    text: str = Field(default="", description="raw text; mentions are spans of characters")
    sentences: list[list[str]] = Field(default=[], description="words; mentions are spans of words")
    entities: list[EntityRequest]

    @model_validator(mode="after")
    def _has_text(self) -> "DocumentRequest":
        if not self.model_fields_set & {"text", "sentences"}:
            raise ValueError("a document needs `text` or `sentences`")
        return self


class TextRequest(BaseModel):
    """A plain text."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [{"text": _TEXT}]})

    text: str = Field(min_length=1, pattern=r"\S")
    id: str = Field(default="", description="by default the number within the request")


def _is_list(value: object) -> str:
    return "list" if isinstance(value, list) else "one"


Documents = Annotated[
    Annotated[DocumentRequest, Tag("one")]
    | Annotated[Annotated[list[DocumentRequest], Field(min_length=1)], Tag("list")],
    Discriminator(_is_list),
]
Texts = Annotated[
    Annotated[TextRequest, Tag("one")]
    | Annotated[Annotated[list[TextRequest], Field(min_length=1)], Tag("list")],
    Discriminator(_is_list),
]


class MentionResponse(TypedDict):
    """Where an entity is named in a text, in characters."""

    start: int
    end: int
    sentence: int


class EntityResponse(TypedDict):
    """An entity that was found in a text."""

    id: NotRequired[str]
    type: str
    name: str
    mentions: list[MentionResponse]


class DocumentResponse(TypedDict):
    """The facts of one document."""

    id: str
    facts: list[FactRecord]
    threshold: Annotated[float, Field(description="facts have a score above this")]
    expected_precision: Annotated[
        float | None,
        Field(
            description="of facts above the threshold in documents like those of the training, if calibrated"
        ),
    ]
    entities: NotRequired[Annotated[list[EntityResponse], Field(description="of a document given as text")]]
    notes: NotRequired[Annotated[list[str], Field(description="what was ignored in the document")]]


class ErrorResponse(BaseModel):
    """Why there is no result."""

    error: str
