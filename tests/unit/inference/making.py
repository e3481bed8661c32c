"""Tiny models that read generated documents."""

from functools import cache

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, PreTrainedTokenizerFast

from unnoted.calibration import Calibration, ExpectedFacts
from unnoted.data.document import Document, Entity, Mention
from unnoted.data.synthetic import generate_documents, relation_names
from unnoted.inference.facts import Results
from unnoted.inference.scoring import Decision
from unnoted.losses import DecisionRule, Link, ScoreDecoder
from unnoted.models.model import RelationConfig, RelationModel

RELATIONS = list(relation_names())[:5]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "*"]


@cache
def corpus(count=12, seed=0):
    return tuple(generate_documents(count, seed=seed))


@cache
def tokenizer():
    """Knows the frequent words whole; of the others it sees the letters."""
    words = {word for document in corpus(30) for sentence in document.sentences for word in sentence}
    short = sorted(word for word in words if word.isalpha() and len(word) < 5)
    letters = sorted({letter for word in words for letter in word})
    pieces = dict.fromkeys([*SPECIALS, *letters, *(f"##{letter}" for letter in letters), *short])
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


def reading_model(dtype=torch.float64, seed=0, link="ranking-margin", **settings):
    """A model with random weights whose encoder takes less than a document at once, and its tokenizer."""
    torch.manual_seed(seed)
    encoder = BertConfig(
        vocab_size=len(tokenizer()),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=24,
        max_position_embeddings=settings.pop("positions", 200),
        pad_token_id=0,
    )
    config = RelationConfig(
        encoder_config=encoder.to_dict(),
        relations=RELATIONS,
        relation_names=relation_names(),
        **{"embedding": 12, "block": 4, **settings},
    )
    model = RelationModel(config).to(dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
        model.head.bias[0] += 2.0  # so that most pairs have few relations
    model.tokenizer = tokenizer()
    model.decoder = ScoreDecoder(DecisionRule(), Link(link))
    return model


def calibration(threshold=0.3):
    """Of a model whose scores are probabilities; expects one fact in two at most thresholds."""
    odds = np.linspace(4, -4, 400)
    expected = ExpectedFacts.from_probabilities(1 / (1 + np.exp(-odds)), np.ones(400), pairs=400)
    return Calibration((-2.0, 0.0, 2.0), (-4.0, -1.0, 4.0), expected, threshold)


def saved_model(folder, **settings):
    """The folder of a saved model."""
    reading_model(torch.float32, **settings).save_pretrained(folder)
    return folder


def results_of(records):
    """What a writer of results takes."""
    return Results(records, lambda: iter(()), "model", Decision(0.5, None))


def document_of(id, *sentences, entities=()):
    """A document of sentences in one string each; an entity is a list of (sentence, start, end)."""
    built = tuple(
        Entity(tuple(Mention(s, start, end, "PER", "name") for s, start, end in spans)) for spans in entities
    )
    return Document(id, tuple(tuple(sentence.split()) for sentence in sentences), built)
