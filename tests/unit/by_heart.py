"""Eight generated documents, and a training that ends as soon as its model knows them by heart."""

from tests.making import make_loss
from torch import nn
from transformers import TrainerCallback, set_seed

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.models.encoders import RecurrentConfig, make_encoder
from unnoted.models.model import RelationModel
from unnoted.training import Optimisation, Trainer
from unnoted.training.development import development_score

BY_HEART = 0.95
SMALL = RecurrentConfig(hidden_size=64, num_hidden_layers=1, hidden_dropout_prob=0.0)


class Learnt(TrainerCallback):
    """Ends a training as soon as its documents are known by heart; looks every 20 steps."""

    def __init__(self, model, documents):
        self.model, self.documents, self.scores = model, documents, []

    def on_step_end(self, args, state, control, **others):
        if state.global_step % 20 == 0:
            self.scores.append(development_score(self.model, self.documents)["eval_f1"])
            control.should_training_stop = self.scores[-1] >= BY_HEART


def learn(folder, loss, head, how, encoder=SMALL):
    """Train on eight documents until they are known, and demand that they are.

    Args:
        folder: where the encoder is made.
        loss: by its name.
        head: what `RelationModel.from_encoder` is told, but for the documents.
        how: settings of `Optimisation`.
        encoder: its configuration.
    """
    documents = tuple(generate_documents(8))
    docs = Corpus(documents, RelationVocabulary.from_documents(documents), CandidatePairs())
    make_encoder(folder, documents, config=encoder, rarest=1)
    set_seed(0)
    model = RelationModel.from_encoder(folder, docs.relations, entity_types=docs.entity_types, **head)
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0  # it is there to hinder what is tested here
    optimisation = Optimisation(**{"epochs": 300, "batch_documents": 8, **how})
    trainer = Trainer(model, make_loss(loss, docs.labelled_priors), docs, optimisation=optimisation)
    learnt = Learnt(model, documents)
    trainer.add_callback(learnt)
    trainer.train()
    assert max(learnt.scores) >= BY_HEART, learnt.scores
