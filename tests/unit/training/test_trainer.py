"""The trainer: what it minimises, in which order, with which rates, and when it stops."""

import json
import math
import re
import resource
import shutil
from dataclasses import replace

import pytest
import torch
from tests.unit.training.making import tiny_encoder
from transformers import TrainerCallback, set_seed

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.inference import Extractor
from unnoted.io import CHECKSUMS
from unnoted.losses import ATLOP, SPU, SSRPU, DecisionRule
from unnoted.losses.decoding import Link
from unnoted.models.model import ModelError, RelationModel
from unnoted.models.samplers import BatchLimits, ShuffledBatches
from unnoted.training import CheckpointError, NotFinite, Optimisation, Trainer
from unnoted.training.checkpoints import check_files, checkpoints
from unnoted.training.development import development_score

VOCABULARY = RelationVocabulary.from_documents(generate_documents(40))
QUICK = Optimisation(
    epochs=2, batch_documents=2, encoder_learning_rate=1e-3, head_learning_rate=1e-3, log_steps=1
)


def corpus(documents=6, candidates=None):
    return Corpus(tuple(generate_documents(documents)), VOCABULARY, candidates or CandidatePairs())


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def steady_encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("steady"), dropout=0.0)


def fresh(encoder, seed=0):
    set_seed(seed)
    return RelationModel.from_encoder(encoder, VOCABULARY, embedding=16, block=4)


def equal(one, other):
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def trained(encoder, optimisation, train=None, loss=None, **options):
    docs = train or corpus()
    model = fresh(encoder)
    loss = loss or SSRPU(priors=docs.labelled_priors * 2)
    trainer = Trainer(model, loss=loss, train=docs, optimisation=optimisation, **options)
    trainer.train()
    return model, trainer


def test_the_library_in_five_lines(encoder):
    docs = corpus(2)
    model = RelationModel.from_encoder(encoder, relations=docs.relations)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    Trainer(model, loss=SSRPU(priors=docs.labelled_priors * 3), train=docs).train()
    assert model.decoder.priors == docs.labelled_priors * 3
    assert not model.training
    assert not any(
        torch.equal(model.state_dict()[name], before[name]) for name in ("head.weight", "head.bias")
    )


def test_the_risk_falls(encoder):
    optimisation = QUICK.model_copy(update={"epochs": 12, "batch_documents": 4})
    _, trainer = trained(encoder, optimisation, corpus(24))
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert len(losses) == 72 and all(map(math.isfinite, losses))
    assert sum(losses[-6:]) < 0.6 * sum(losses[:6])


def test_the_seed_fixes_everything(encoder):
    same = [trained(encoder, QUICK)[0] for _ in range(2)]
    assert equal(*same)
    assert not equal(same[0], trained(encoder, QUICK.model_copy(update={"seed": 63}))[0])


def test_random_numbers_drawn_before_training_change_nothing(encoder):
    docs, models = corpus(), []
    for drawn in (0, 5):
        model = fresh(encoder)
        trainer = Trainer(model, loss=ATLOP(), train=docs, optimisation=QUICK)
        torch.rand(drawn)
        trainer.train()
        models.append(model)
    assert equal(*models)


class Seen(TrainerCallback):
    """Keeps what the optimiser is about to use."""

    def __init__(self):
        self.gradients, self.rates = [], []

    def on_pre_optimizer_step(self, args, state, control, model=None, optimizer=None, **others):
        self.gradients.append({n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None})
        self.rates.append([group["lr"] for group in optimizer.param_groups])


def watched(encoder, optimisation, loss, docs):
    seen = Seen()
    trainer = Trainer(fresh(encoder), loss=loss, train=docs, optimisation=optimisation)
    trainer.add_callback(seen)
    trainer.train()
    return seen, trainer


def test_rates_rise_and_fall_in_two_groups(encoder):
    optimisation = QUICK.model_copy(
        update={"epochs": 10, "encoder_learning_rate": 1e-5, "head_learning_rate": 2e-4, "warm_up": 0.2}
    )
    seen, trainer = watched(encoder, optimisation, ATLOP(), corpus(4))
    steps, rise = 20, 4
    shares = [step / rise if step < rise else (steps - step) / (steps - rise) for step in range(steps)]
    assert seen.rates == [pytest.approx([1e-5 * share, 2e-4 * share]) for share in shares]
    encoder_group, others = trainer.optimizer.param_groups
    assert encoder_group["eps"] == others["eps"] == 1e-6
    counts = [sum(p.numel() for p in group["params"]) for group in (encoder_group, others)]
    assert counts[0] == sum(p.numel() for p in trainer.relation_model.encoder.parameters())
    assert sum(counts) == sum(p.numel() for p in trainer.relation_model.parameters())


def test_gradients_are_clipped(encoder):
    seen, _ = watched(encoder, QUICK.model_copy(update={"clip": 1e-3}), ATLOP(), corpus(2))
    norm = torch.stack([gradient.norm() for gradient in seen.gradients[0].values()]).norm()
    assert float(norm) == pytest.approx(1e-3, rel=1e-3)


def alike(documents=8, entities=5):
    """Documents with the same number of pairs."""
    return [
        replace(
            document,
            entities=document.entities[:entities],
            facts=tuple(f for f in document.facts if f.head < entities and f.tail < entities),
        )
        for document in generate_documents(documents)
    ]


@pytest.mark.parametrize(("normalisation", "holds"), [("expected", True), ("per-batch", False)])
def test_8_documents_at_once_equal_1_document_8_times(steady_encoder, normalisation, holds):
    """A mean of ratios is the ratio of sums where the divisors are alike: the same number of pairs each, by the
    expected counts, and no correction. By the counts of each batch it is another number."""
    docs = Corpus(tuple(alike()), VOCABULARY, CandidatePairs())
    loss = SSRPU(docs.labelled_priors * 2, correction="none", normalisation=normalisation)
    found = []
    for size, times in ((8, 1), (1, 8)):
        update = {"epochs": 1, "batch_documents": size, "gradient_accumulation": times, "clip": 1e9}
        seen, trainer = watched(steady_encoder, QUICK.model_copy(update=update), loss, docs)
        assert len(seen.gradients) == trainer.state.global_step == 1
        found.append(seen.gradients[0])
    names = [name for name in found[0] if float(found[0][name].abs().max()) > 1e-6]
    assert len(names) > 10
    close = [torch.allclose(found[0][n], found[1][n], rtol=1e-3, atol=1e-6) for n in names]
    assert all(close) is holds


def test_the_rest_of_an_epoch_counts_by_its_own_batches(steady_encoder):
    update = {"epochs": 1, "batch_documents": 1, "gradient_accumulation": 4, "clip": 1e9, "encoder_learning_rate": 0,
              "head_learning_rate": 0}  # fmt: skip
    seen, trainer = watched(steady_encoder, QUICK.model_copy(update=update), ATLOP(), corpus(5))
    assert trainer.state.global_step == 2
    # The last step has one document only, and its gradient is that document's.
    batch = list(trainer.get_train_dataloader())[-1]
    model = trainer.relation_model.train()
    model.zero_grad()
    ATLOP()(model(batch).logits, batch.labels()).backward()
    expected = {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
    for name, gradient in seen.gradients[1].items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(("batches", "steps"), [("like-length", 8), ("random", 8)])
def test_each_document_once_an_epoch_in_the_order_of_the_seed(encoder, batches, steps):
    seen = []

    class Noting(Trainer):
        def compute_loss(self, model, inputs, *others, **more):
            seen.append(inputs.documents)
            return super().compute_loss(model, inputs, *others, **more)

    docs = corpus(7)
    drawn = QUICK.model_copy(update={"batches": batches})
    trainer = Noting(fresh(encoder), loss=ATLOP(), train=docs, optimisation=drawn)
    trainer.train()
    like_length = batches == "like-length"
    order = ShuffledBatches(trainer.features, BatchLimits(2), QUICK.seed, like_length=like_length)
    expected = [tuple(docs[i].id for i in batch) for epoch in range(2) for batch in order.of_epoch(epoch)]
    assert seen == expected and len(seen) == trainer.state.global_step == steps


@pytest.mark.parametrize(
    ("loss", "decision", "link"),
    [
        (lambda priors: ATLOP(), DecisionRule(top_k=4), "threshold-softmax"),
        (lambda priors: SPU(priors), DecisionRule("zero"), "squared"),
        (lambda priors: SSRPU(priors, margin=0.4), DecisionRule(), "ranking-margin"),
    ],
)
def test_the_model_learns_what_its_scores_mean(encoder, tmp_path, loss, decision, link):
    rule = CandidatePairs(frozenset({("PER", "LOC")}))
    docs = corpus(candidates=rule)
    model = fresh(encoder)
    Trainer(model, loss=loss(docs.labelled_priors), train=docs)
    model.save_pretrained(tmp_path)
    again = RelationModel.from_pretrained(tmp_path)
    assert (again.decoder.decision, again.decoder.link.name, again.candidates) == (decision, link, rule)
    assert again.decoder.priors == (None if decision == DecisionRule(top_k=4) else docs.labelled_priors)
    assert again.decoder.link.margin == (0.4 if link == "ranking-margin" else 0.25)


def test_probabilities_of_a_model_without_class_weight_are_not_divided_by_it(encoder):
    docs, model = corpus(), fresh(encoder)
    Trainer(model, loss=SSRPU(docs.labelled_priors * 2, class_weight=False), train=docs)
    assert model.decoder.priors == docs.labelled_priors * 2
    scores = torch.randn(3, len(VOCABULARY) + 1) / 10
    plain = model.decoder.probabilities(scores)
    assert torch.equal(plain, Link("ranking-margin", 0.25)(scores))
    Trainer(model, loss=SSRPU(docs.labelled_priors * 2), train=docs)
    assert (model.decoder.probabilities(scores) < plain).any()


def test_other_relations_are_refused(encoder):
    docs = replace(corpus(), relations=RelationVocabulary(("other",)))
    with pytest.raises(ModelError, match="are unknown to it: other"):
        Trainer(fresh(encoder), loss=ATLOP(), train=docs)
    with pytest.raises(ValueError, match="found no training document"):
        Trainer(fresh(encoder), loss=ATLOP(), train=corpus(0))


class Poisoned(ATLOP):
    """A loss that is not finite in one batch."""

    def __init__(self, batch, value):
        super().__init__()
        self.left, self.value = batch, value

    def batch_loss(self, *batch):
        self.left -= 1
        return super().batch_loss(*batch) + (self.value if self.left == 0 else 0.0)


@pytest.mark.parametrize(("value", "log_steps"), [(math.nan, 100), (math.inf, 1)])
def test_a_risk_that_is_not_finite_stops_the_run(encoder, tmp_path, value, log_steps):
    optimisation = QUICK.model_copy(update={"log_steps": log_steps, "checkpoint_steps": 4})
    trainer = Trainer(
        fresh(encoder), loss=Poisoned(5, value), train=corpus(6), optimisation=optimisation, folder=tmp_path
    )
    second = ShuffledBatches(trainer.features, BatchLimits(2), QUICK.seed).of_epoch(1)[1]
    titles = ", ".join(repr(trainer.features[i].id) for i in second)
    with pytest.raises(NotFinite) as caught:
        trainer.train()
    assert str(caught.value) == f"step 5: found loss {value}, expected a finite number; documents: {titles}"
    assert [path.name for path in checkpoints(tmp_path / "checkpoints")] == ["checkpoint-4"]


class FullDisk(TrainerCallback):
    """From a step on, no file may grow beyond a limit."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **others):
        if state.global_step == self.step:
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def test_a_full_disk_leaves_the_checkpoint_before_good(encoder, tmp_path):
    optimisation = QUICK.model_copy(update={"checkpoint_steps": 2})
    whole, _ = trained(encoder, optimisation, folder=tmp_path / "whole")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    trainer = Trainer(
        fresh(encoder), SSRPU(corpus().labelled_priors * 2), corpus(), optimisation=optimisation,
        folder=tmp_path / "full",
    )  # fmt: skip
    trainer.add_callback(FullDisk(4))
    try:
        with pytest.raises(CheckpointError, match=r"step 4 was not written .* checkpoint-2 is whole"):
            trainer.train()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    folder = tmp_path / "full" / "checkpoints"
    assert [path.name for path in folder.iterdir()] == ["checkpoint-2"]
    model = fresh(encoder, seed=9)
    Trainer(
        model,
        SSRPU(corpus().labelled_priors * 2),
        corpus(),
        optimisation=optimisation,
        folder=tmp_path / "full",
    ).train(resume=True)
    assert equal(model, whole)


def test_the_last_two_checkpoints_are_kept_and_are_models(encoder, tmp_path):
    model, _ = trained(encoder, QUICK.model_copy(update={"checkpoint_steps": 1}), folder=tmp_path)
    kept = checkpoints(tmp_path / "checkpoints")
    assert [path.name for path in kept] == ["checkpoint-5", "checkpoint-6"]
    assert equal(RelationModel.from_pretrained(kept[-1]), model)
    assert not list(tmp_path.rglob("training_args.bin"))
    assert json.loads((kept[-1] / "trainer_state.json").read_text())["global_step"] == 6


def test_without_a_folder_nothing_is_written(encoder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trained(encoder, QUICK)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def stopped(encoder, tmp_path_factory):
    """The folder of a training of one epoch of three steps."""
    folder = tmp_path_factory.mktemp("stopped")
    trained(encoder, QUICK.model_copy(update={"epochs": 1}), folder=folder)
    return folder


def test_a_checkpoint_of_an_earlier_version_is_resumed(encoder, stopped, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    (checkpoint,) = (folder / "checkpoints").iterdir()
    path = checkpoint / "config.json"
    config = json.loads(path.read_text("utf-8"))
    for key in ("architecture_options", "markers"):  # which it did not know
        del config[key]
    path.write_text(json.dumps(config), "utf-8")
    (checkpoint / CHECKSUMS).unlink()
    docs = corpus()
    loss = SSRPU(priors=docs.labelled_priors * 2)
    resumed = Trainer(fresh(encoder), loss=loss, train=docs, optimisation=QUICK, folder=folder)
    resumed.train(resume=True)
    assert resumed.state.global_step == 6 and len(resumed.state.log_history) > 3  # three of them from before


STATE = ["model.safetensors", "optimizer.pt", "scheduler.pt", "trainer_state.json", "rng_state.pth"]


@pytest.mark.parametrize("name", STATE)
@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_a_damaged_checkpoint_is_named(encoder, stopped, tmp_path, name, damage):
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "checkpoints" / "checkpoint-3" / name
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    loss = SSRPU(corpus().labelled_priors * 2)
    trainer = Trainer(fresh(encoder), loss, corpus(), folder=tmp_path, optimisation=QUICK)
    with pytest.raises(CheckpointError, match=r"checkpoint-3.*remove this checkpoint"):
        trainer.train(resume=True)


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


def forget_checksums(path):
    (path.parent / CHECKSUMS).unlink()


DAMAGE = {
    "a bit of the weights": (lambda f: flip(f / "model.safetensors"), r"model\.safetensors: the content differs"),
    "a bit of the optimiser": (lambda f: flip(f / "optimizer.pt"), r"optimizer\.pt: the content differs"),
    "a bit of the random numbers": (lambda f: flip(f / "rng_state.pth"), r"rng_state\.pth: the content differs"),
    "an edited step": (
        lambda f: (edit(f / "trainer_state.json", global_step=1), forget_checksums(f / "any")),
        "global_step: found 1, expected that of checkpoint-6",
    ),
    "another model": (
        lambda f: (edit(f / "config.json", candidates=[["PER", "LOC"]]), forget_checksums(f / "any")),
        r"config\.json: candidates: found .* expected this model's 'all'",
    ),
    "half a file": (
        lambda f: (f / "optimizer.pt").write_bytes((f / "optimizer.pt").read_bytes()[:1000]), "found 1,000 bytes",
    ),
    "a lost file": (lambda f: (f / "scheduler.pt").unlink(), r"found no scheduler\.pt"),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(encoder, tmp_path_factory):
    """A training of six steps with checkpoints after the third and the last, and its model."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, trained(encoder, QUICK, folder=folder)[0]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_last_checkpoint_is_passed_over_for_the_one_before(encoder, whole, tmp_path, damage):
    folder, model = whole
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    apply, message = DAMAGE[damage]
    apply(tmp_path / "checkpoints" / "checkpoint-6")
    again, told = fresh(encoder, seed=9), []
    trainer = Trainer(
        again, SSRPU(corpus().labelled_priors * 2), corpus(), folder=tmp_path, optimisation=QUICK
    )
    trainer.train(resume=True, tell=told.append)
    assert equal(again, model)
    assert re.search(rf"checkpoint-6.*{message}|{message}", told[0])
    assert told[0].endswith("; continuing from checkpoint-3 instead") and len(told) == 1
    # What was damaged has been written again.
    check_files(tmp_path / "checkpoints" / "checkpoint-6")


def test_two_damaged_checkpoints_are_an_error(encoder, whole, tmp_path):
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    for path in checkpoints(tmp_path / "checkpoints"):
        flip(path / "model.safetensors")
    trainer = Trainer(
        fresh(encoder), SSRPU(corpus().labelled_priors * 2), corpus(), folder=tmp_path, optimisation=QUICK
    )
    with pytest.raises(CheckpointError, match=r"checkpoint-6/model\.safetensors: the content differs"):
        trainer.train(resume=True)


class Overflow(TrainerCallback):
    """After a step, one weight is infinite; no loss shows it yet."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, model, **others):
        if state.global_step == self.step:
            with torch.no_grad():
                model.head.bias[0] = math.inf


def test_a_training_that_ends_in_weights_that_are_not_finite_is_an_error(encoder, tmp_path):
    for folder in (tmp_path, None):
        trainer = Trainer(
            fresh(encoder), SSRPU(corpus().labelled_priors * 2), corpus(), folder=folder, optimisation=QUICK
        )
        trainer.add_callback(Overflow(6))
        with pytest.raises(NotFinite, match=r"step 6: found weights scores\.bias that are not finite"):
            trainer.train()
    assert [path.name for path in checkpoints(tmp_path / "checkpoints")] == ["checkpoint-3"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_needs_a_gpu(encoder, precision):
    with pytest.raises(ValueError, match="expected 'auto' or 'float32' without a GPU"):
        trained(encoder, QUICK.model_copy(update={"precision": precision}))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_trains_on_a_gpu(encoder, precision):
    _, trainer = trained(encoder, QUICK.model_copy(update={"precision": precision}))
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert len(losses) == 6 and all(map(math.isfinite, losses))


@pytest.mark.parametrize("sample", [{"unlabelled_share": 0.3}, {"unlabelled_per_labelled": 1}])
def test_a_sample_of_unlabelled_pairs_changes_with_the_epoch(encoder, sample):
    seen = []

    class Noting(Trainer):
        def compute_loss(self, model, inputs, *others, **more):
            seen.append((inputs.documents, inputs.pairs, tuple(inputs.head.tolist())))
            return super().compute_loss(model, inputs, *others, **more)

    docs = corpus(1)
    optimisation = QUICK.model_copy(update={**sample, "epochs": 2})
    Noting(fresh(encoder), ATLOP(), docs, optimisation=optimisation).train()
    (first, second), whole = seen, docs.candidates.count(docs[0])
    assert first[1] == second[1] < whole and first[2] != second[2]


def test_a_sample_without_weights_is_refused_for_a_risk_with_priors(encoder):
    optimisation, docs = QUICK.model_copy(update={"unlabelled_per_labelled": 4}), corpus(2)
    with pytest.raises(
        ValueError, match="unlabelled_per_labelled: found 4, expected none: the loss has priors"
    ):
        Trainer(fresh(encoder), SSRPU(docs.labelled_priors * 2), docs, optimisation=optimisation)


@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_a_resumed_training_with_another_schedule_and_sample_ends_with_the_same_weights(
    encoder, tmp_path, schedule
):
    choices = {"schedule": schedule, "unlabelled_per_labelled": 1, "checkpoint_steps": 2, "epochs": 3}
    optimisation, docs = QUICK.model_copy(update=choices), corpus(6)

    class Stopping(TrainerCallback):
        def on_step_end(self, args, state, control, **others):
            control.should_training_stop = state.global_step == 5

    def trainer(folder):
        return Trainer(fresh(encoder), ATLOP(), docs, optimisation=optimisation, folder=tmp_path / folder)

    whole = trainer("whole")
    whole.train()
    stopped = trainer("stopped")
    stopped.add_callback(Stopping())
    stopped.train()
    resumed = trainer("stopped")
    resumed.train(resume=True)
    assert whole.state.global_step == resumed.state.global_step > 5
    assert equal(whole.relation_model, resumed.relation_model)
    assert not equal(whole.relation_model, stopped.relation_model)


def test_development_documents_are_scored_after_every_epoch_and_change_nothing(encoder):
    gold = tuple(generate_documents(3, start=50))
    watched, trainer = trained(encoder, QUICK, dev=gold)
    seen = [entry for entry in trainer.state.log_history if "eval_f1" in entry]
    assert [entry["epoch"] for entry in seen] == [1.0, 2.0]
    final = development_score(watched, gold)
    assert {name: seen[-1][name] for name in final} == final
    unwatched, _ = trained(encoder, QUICK)
    assert equal(watched, unwatched)


def test_a_development_score_is_that_of_the_evaluation(encoder):
    model, gold = fresh(encoder), tuple(generate_documents(3))
    claims = [claim for found in Extractor(model).extract(gold) for claim in found.predictions()]
    keys = {claim.key for claim in claims}
    true = {
        (document.id, fact.head, fact.tail, fact.relation) for document in gold for fact in document.facts
    }
    score = development_score(model, gold)
    assert score["eval_precision"] == pytest.approx(len(keys & true) / len(keys))
    assert score["eval_recall"] == pytest.approx(len(keys & true) / len(true))
