"""Markers that tell a mention's type."""

import pytest
import torch
from tests.unit.training.making import tiny_encoder

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.models.encoders.typed_markers import type_tokens, with_typed_markers
from unnoted.models.features import Collator
from unnoted.models.model import ModelError, RelationConfig, RelationModel
from unnoted.training.preparing import features_of

DOCUMENTS = tuple(generate_documents(4))
CORPUS = Corpus(DOCUMENTS, RelationVocabulary.from_documents(DOCUMENTS), CandidatePairs())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


def model_on(folder, **options):
    torch.manual_seed(0)
    return RelationModel.from_encoder(
        folder, CORPUS.relations, entity_types=CORPUS.entity_types, embedding=8, block=4, **options
    ).eval()


def batch_of(model):
    features = features_of(model, CORPUS)
    return Collator.of(features)([features[0], features[1]])


def test_every_mention_opens_with_the_token_of_its_type_and_nothing_else_changes(folder):
    model = model_on(folder)
    batch = batch_of(model)
    tokens = [50 + number for number in range(len(CORPUS.entity_types) + 1)]
    typed = with_typed_markers(batch, tokens)
    expected = batch.input_ids.clone()
    for document, position, kind in zip(
        batch.mention_document.tolist(),
        batch.mention_position.tolist(),
        batch.mention_type.tolist(),
        strict=True,
    ):
        expected[document, position] = tokens[kind]
    assert torch.equal(typed.input_ids, expected)
    assert not torch.equal(typed.input_ids, batch.input_ids)


def test_a_type_whose_word_is_unknown_keeps_the_marker(folder):
    tokenizer = model_on(folder).tokenizer
    marker = tokenizer.convert_tokens_to_ids("*")
    assert type_tokens(tokenizer, ("Qzyxwv",)) == [marker, marker]


def test_scores_depend_on_types_and_survive_saving(folder, tmp_path):
    plain, typed = model_on(folder), model_on(folder, typed_markers=True)
    typed.config.type_tokens = [5, *range(40, 40 + len(CORPUS.entity_types))]
    batch = batch_of(plain)
    assert not torch.equal(plain(batch), typed(batch))
    typed.save_pretrained(tmp_path)
    loaded = RelationModel.from_pretrained(tmp_path)
    assert torch.equal(loaded(batch), typed(batch))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type_tokens": [5]}, "type_tokens: found 1, expected 3"),
        ({"type_tokens": [5, 5, 10**6]}, "expected numbers from 0 to"),
        ({"type_tokens": [5, 5, -1]}, "expected numbers from 0 to"),
        ({"type_tokens": [5, 5, 5], "markers": False}, "and markers whose place they take"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(folder, changes, message):
    config = model_on(folder).config.to_dict() | {"entity_types": ["A", "B"]} | changes
    with pytest.raises(ModelError, match=message):
        RelationModel(RelationConfig.from_dict(config))
