"""The linear model of types, places and words, against tests/reference/lexical.py."""

from collections import Counter

import pytest
import torch
from tests.reference import lexical as plain
from tests.unit.training.factories import tiny_encoder

from unnoted import SSRPU
from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.losses import LabelLikelihood
from unnoted.models import lexical as module
from unnoted.models.batch import Collator
from unnoted.models.model import RelationModel
from unnoted.training import ConfigError, Trainer, load_config
from unnoted.training import lexical as lexical_fit
from unnoted.training.config import OptimizerConfig
from unnoted.training.initialization import TypeCounts, initial_scores, initialize
from unnoted.training.trainer import compute_features

DOCUMENTS = tuple(generate_documents(12))
CORPUS = Corpus(DOCUMENTS, RelationVocabulary.from_documents(DOCUMENTS), CandidatePairs())
MULTIPLIER = 2
ONE_EPOCH = OptimizerConfig(epochs=1)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


def model_on(encoder, share=0.7, **options):
    torch.manual_seed(0)
    return RelationModel.from_encoder(
        encoder, CORPUS.relations, entity_types=CORPUS.entity_types, embedding=8, block=4,
        lexical_weight=share, **options,
    )  # fmt: skip


def random_weights(lexical):
    torch.manual_seed(1)
    for weight in lexical.buffers():
        if weight is lexical.stem:
            weight.copy_(torch.randint(0, 9, weight.shape))
        else:
            weight.copy_(torch.randn(weight.shape))


def plain_log_odds(lexical, document):
    """By plain loops."""
    tables = [getattr(lexical, name).double().tolist() for name in ("types", "places", "words")]
    return plain.log_odds(document, *tables, lexical.stem.tolist(), module.CONTEXT_TOKENS, module.STEMS)


@pytest.mark.parametrize("markers", [True, False])
@pytest.mark.parametrize("cells", [2**22, 50])
def test_log_odds_are_those_of_plain_loops(encoder, markers, cells, monkeypatch):
    monkeypatch.setattr(module, "CELLS_AT_ONCE", cells)
    model = model_on(encoder, markers=markers)
    random_weights(model.lexical)
    features = compute_features(model, CORPUS)
    batch = Collator(features)([features[index] for index in range(4)])
    wanted = [row for index in range(4) for row in plain_log_odds(model.lexical, features[index])]
    torch.testing.assert_close(model.lexical.log_odds(batch), torch.tensor(wanted), rtol=1e-4, atol=1e-4)


def test_a_trained_model_mixes_log_odds_by_share_and_one_in_training_does_not(encoder):
    model, network = model_on(encoder), model_on(encoder, share=0.0)
    random_weights(model.lexical)
    features = compute_features(model, CORPUS)
    batch = Collator(features)([features[0], features[1]])
    alone, mixed = network.eval()(batch).logits, model.eval()(batch).logits
    above = 0.3 * (alone[:, 1:] - alone[:, :1]) + 0.7 * model.lexical.log_odds(batch)
    torch.testing.assert_close(mixed[:, 1:] - mixed[:, :1], above)
    torch.testing.assert_close(mixed[:, 0], alone[:, 0], rtol=0, atol=0)
    torch.manual_seed(2)
    alone = network.train()(batch).logits
    torch.manual_seed(2)
    torch.testing.assert_close(model.train()(batch).logits, alone, rtol=0, atol=0)


def test_documents_without_pairs_have_no_scores(encoder):
    model = model_on(encoder, candidates=CandidatePairs(intra_sentence=True))
    lonely = Corpus(DOCUMENTS[:1], CORPUS.relations, CandidatePairs(intra_sentence=True))
    features = compute_features(model, lonely)
    batch = Collator(features)([features[0]])
    none = batch.head[:0]
    empty = type(batch)(
        **{name: getattr(batch, name) for name in batch.__dataclass_fields__}
        | {"head": none, "tail": none, "pair_document": none}
    )
    assert model.lexical.log_odds(empty).shape == (0, len(CORPUS.relations))


def objective(features, lexical, noted):
    """What is fitted, by plain loops."""
    total = lexical_fit.WORD_PENALTY / 2 * float(lexical.words.double().square().sum())
    total += lexical_fit.PLACE_PENALTY / 2 * float(lexical.places.double().square().sum())
    for document in features:
        labels = set(zip(document.fact_pair.tolist(), document.fact_relation.tolist(), strict=True))
        for pair, row in enumerate(plain_log_odds(lexical, document)):
            total += sum(plain.label_loss(odds, (pair, k) in labels, noted) for k, odds in enumerate(row))
    return total


def test_the_fit_is_a_minimum_of_the_penalised_likelihood(encoder, monkeypatch):
    monkeypatch.setattr(lexical_fit, "MIN_DOCUMENTS", 3)
    monkeypatch.setattr(lexical_fit, "ITERATIONS", 200)
    few = Corpus(DOCUMENTS[:4], CORPUS.relations, CandidatePairs())
    model = model_on(encoder)
    features = compute_features(model, few)
    initialize(model, LabelLikelihood(few.labelled_priors * MULTIPLIER, propensity_slope=0.0), features)
    lexical = model.lexical
    lowest = objective(features, lexical, noted=1 / MULTIPLIER)
    word = int(lexical.words.abs().sum(1).argmax())
    relation = int(lexical.words[word].abs().argmax())
    for table, row in ((lexical.places, 2), (lexical.words, word)):
        for change in (0.05, -0.05):
            kept = table[row, relation].clone()
            table[row, relation] += change
            assert objective(features, lexical, noted=1 / MULTIPLIER) > lowest
            table[row, relation] = kept


def test_only_stems_of_enough_documents_have_weight(encoder, monkeypatch):
    monkeypatch.setattr(lexical_fit, "MIN_DOCUMENTS", 4)
    model = model_on(encoder)
    features = compute_features(model, CORPUS)
    initialize(model, LabelLikelihood(CORPUS.labelled_priors * MULTIPLIER), features)
    texts = model.tokenizer.convert_ids_to_tokens(list(range(len(model.tokenizer))))
    stems = [lexical_fit.stem_of(text) for text in texts]
    found = Counter(stem for each in features for stem in {stems[int(token)] for token in each.tokens})
    number = model.lexical.stem.tolist()
    assert {stems[token] for token in range(len(stems)) if number[token]} == {
        stem for stem, count in found.items() if count >= 4
    }
    # tokens of one stem have one number, and the numbers of two stems differ
    numbered = {(stems[token], number[token]) for token in range(len(stems)) if number[token]}
    assert len(numbered) == len({stem for stem, _ in numbered}) == max(number)
    assert not model.lexical.words.view(len(module.SLOTS), module.STEMS, -1)[:, 0].any()


def test_of_too_many_stems_the_most_frequent_have_weight(encoder, monkeypatch):
    features = compute_features(model_on(encoder), CORPUS)
    batches = lexical_fit.sample_batches(features)
    all_of_them = lexical_fit.number_frequent_stems(torch.arange(1000), batches)
    monkeypatch.setattr(lexical_fit, "STEMS", 4)
    few = lexical_fit.number_frequent_stems(torch.arange(1000), batches)
    assert few.tolist() == [number if number < 4 else 0 for number in all_of_them.tolist()]
    assert few.max() == 3


def test_a_trainer_fits_and_the_fit_is_saved_with_the_model(encoder, tmp_path):
    model, loss = model_on(encoder), LabelLikelihood(CORPUS.labelled_priors * MULTIPLIER)
    Trainer(model, loss, CORPUS, optimizer=ONE_EPOCH).train()
    assert model.lexical.types.any() and model.type_bias is None
    wanted = initial_scores(
        TypeCounts.from_features(compute_features(model, CORPUS), len(CORPUS.entity_types)), loss.decoder
    )
    torch.testing.assert_close(model.lexical.types.double(), torch.from_numpy(wanted), rtol=1e-4, atol=1e-4)
    words = model.lexical.words.clone()
    model.save_pretrained(tmp_path)
    torch.testing.assert_close(RelationModel.from_pretrained(tmp_path).lexical.words, words, rtol=0, atol=0)


def test_scores_that_are_no_log_odds_are_refused():
    with pytest.raises(ConfigError, match="lexical_weight"):
        load_config("small", {"lexical_weight": 0.5, "output": "runs/x"})


def test_a_trainer_refuses_them_too(encoder):
    with pytest.raises(ValueError, match="lexical_weight"):
        Trainer(model_on(encoder), SSRPU(priors=CORPUS.labelled_priors * MULTIPLIER), CORPUS).train()
