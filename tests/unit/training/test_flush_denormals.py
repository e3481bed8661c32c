"""Numbers too small to be normal."""

import pytest
import torch
from tests.unit.training.factories import tiny_encoder
from transformers import TrainerCallback

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.losses import ATLOP
from unnoted.models.model import RelationModel
from unnoted.training import OptimizerConfig, Trainer
from unnoted.training.trainer import flush_denormals

if not torch.set_flush_denormal(False):
    pytest.skip("this processor cannot flush denormal numbers", allow_module_level=True)


def small():
    return float(torch.full((), 1e-30) * 1e-10)


def test_they_are_0_within_and_as_before_without():
    with flush_denormals():
        assert small() == 0
        with flush_denormals():
            pass
        assert small() == 0
    assert small() > 0


class Look(TrainerCallback):
    seen = None

    def on_step_end(self, *arguments, **others):
        self.seen = small()


def test_they_are_0_in_training_and_not_after_it(tmp_path):
    documents = tuple(generate_documents(2))
    corpus = Corpus(documents, RelationVocabulary.from_documents(documents), CandidatePairs())
    model = RelationModel.from_encoder(tiny_encoder(tmp_path), corpus.relations, embedding=8, block=4)
    trainer = Trainer(model, ATLOP(), corpus, optimizer=OptimizerConfig(epochs=1))
    look = Look()
    trainer.add_callback(look)
    trainer.train()
    assert look.seen == 0 and small() > 0
