"""The trainer: what it minimises, in which order, with which learning rates, and when it stops."""

import json
import math
import resource
import shutil
from dataclasses import replace

import pytest
import torch
from tests.unit.training.factories import VOCABULARY, corpus, equal, fresh_model
from torch import nn
from transformers import TrainerCallback

from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.inference import Extractor
from unnoted.losses import ATLOP, SPU, SSRPU, DecisionRule, LabelLikelihood, Link
from unnoted.models.model import ModelError, RelationModel
from unnoted.models.samplers import ShuffledBatches
from unnoted.training import CheckpointError, NotFiniteError, OptimizerConfig, Trainer
from unnoted.training import trainer as trainer_module
from unnoted.training.callbacks import describe_undertraining, development_scores
from unnoted.training.checkpoints import check_checkpoint, list_checkpoints
from unnoted.training.trainer import (
    BF16_WIDTH,
    choose_precision,
    cpu_computes_in_bf16,
    fast_floats,
    parameter_groups,
)

QUICK = {"epochs": 2, "batch_size": 2, "encoder_learning_rate": 1e-3, "head_learning_rate": 1e-3}


@pytest.fixture(autouse=True)
def every_loss_is_reported(monkeypatch):
    monkeypatch.setattr(trainer_module, "LOG_STEPS", 1)


def fresh(encoder, seed=0, **options):
    return fresh_model(encoder, seed, embedding=16, **options)


def make(encoder, loss=None, docs=None, output=None, kind=Trainer, model_seed=0, options=None, **changes):
    docs = docs or corpus(6)
    return kind(
        fresh(encoder, model_seed), loss or SSRPU(priors=docs.labelled_priors * 2), docs, output=output,
        optimizer=OptimizerConfig(**QUICK | changes), **options or {},
    )  # fmt: skip


def trained(encoder, *arguments, callback=None, **changes):
    trainer = make(encoder, *arguments, **changes)
    if callback is not None:
        trainer.add_callback(callback)
    trainer.train()
    return trainer.relation_model, trainer


def losses_of(trainer):
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_the_library_in_five_lines(encoder):
    docs = corpus(2)
    model = RelationModel.from_encoder(encoder, relations=docs.relations)
    before = {name: weight.clone() for name, weight in model.head.state_dict().items()}
    Trainer(model, loss=SSRPU(priors=docs.labelled_priors * 3), train=docs).train()
    assert model.decoder.priors == docs.labelled_priors * 3 and not model.training
    assert not any(torch.equal(before[name], weight) for name, weight in model.head.state_dict().items())


def test_constructing_a_trainer_leaves_the_model_as_it_was(encoder):
    model = fresh(encoder, use_type_bias=True, entity_types=("PER",))
    before, config = {n: w.clone() for n, w in model.state_dict().items()}, model.config.to_dict()
    Trainer(model, ATLOP(), corpus(6, CandidatePairs(intra_sentence=True)), typed_relations=True)
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
    assert model.config.to_dict() | {"use_cache": None} == config | {"use_cache": None}  # of transformers


@pytest.mark.parametrize("typed", [True, False])
def test_typed_relations_are_learnt_only_when_asked_for(encoder, typed):
    model, _ = trained(encoder, options={"typed_relations": typed}, epochs=1)
    assert (model.relation_types is not None) is typed


def test_the_loss_falls(encoder):
    _, trainer = trained(encoder, None, corpus(24), epochs=12, batch_size=4)
    losses = losses_of(trainer)
    assert len(losses) == 72 and all(map(math.isfinite, losses))
    assert sum(losses[-6:]) < 0.6 * sum(losses[:6])


def test_the_seed_fixes_everything_whatever_was_drawn_before(encoder):
    models = []
    for drawn, seed in ((0, 62), (5, 62), (0, 63)):
        trainer = make(encoder, options={"seed": seed})
        torch.rand(drawn)
        trainer.train()
        models.append(trainer.relation_model)
    assert equal(models[0], models[1]) and not equal(models[0], models[2])


class Seen(TrainerCallback):
    """Keeps what the optimizer is about to use."""

    def __init__(self):
        self.gradients, self.rates = [], []

    def on_pre_optimizer_step(self, args, state, control, model=None, optimizer=None, **others):
        self.gradients.append({n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None})
        self.rates.append([group["lr"] for group in optimizer.param_groups])


def watched(encoder, loss, docs, **changes):
    seen = Seen()
    return seen, trained(encoder, loss, docs, callback=seen, **changes)[1]


def test_learning_rates_rise_and_fall_in_two_groups(encoder):
    rates = {"encoder_learning_rate": 1e-5, "head_learning_rate": 2e-4}
    seen, trainer = watched(encoder, ATLOP(), corpus(4), epochs=10, warmup=0.2, **rates)
    steps, rise = 20, 4
    shares = [step / rise if step < rise else (steps - step) / (steps - rise) for step in range(steps)]
    assert seen.rates == [pytest.approx([1e-5 * share, 2e-4 * share]) for share in shares]
    encoder_group, others = trainer.optimizer.param_groups
    assert encoder_group["eps"] == others["eps"] == 1e-6
    counts = [sum(p.numel() for p in group["params"]) for group in (encoder_group, others)]
    assert counts[0] == sum(p.numel() for p in trainer.relation_model.encoder.parameters())
    assert sum(counts) == sum(p.numel() for p in trainer.relation_model.parameters())


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [
        ("constant", [1] * 8),
        ("cosine", [(1 + math.cos(math.pi * step / 8)) / 2 for step in range(8)]),
        (
            {"name": "cosine", "num_cycles": 2},
            [(1 + math.cos(4 * math.pi * step / 8)) / 2 for step in range(8)],
        ),
    ],
)
def test_schedules(encoder, schedule, shares):
    seen, _ = watched(encoder, ATLOP(), corpus(4), epochs=4, warmup=0, schedule=schedule)
    assert [rates[1] for rates in seen.rates] == pytest.approx([1e-3 * share for share in shares], abs=1e-9)


def test_groups_have_values_of_their_own():
    model = nn.ModuleDict({name: nn.Linear(1, 1) for name in ("encoder", "pair_encoder", "head")})
    groups = {"encoder": {"weight_decay": 0.1}, "pair_map": {"learning_rate": 3e-4}}
    config = OptimizerConfig(encoder_learning_rate=1e-5, groups=groups)
    made = parameter_groups(model, config, ("pair_encoder.",))
    values = [(group["lr"], group.get("weight_decay"), len(group["params"])) for group in made]
    assert values == [(1e-5, 0.1, 2), (1e-4, None, 2), (3e-4, None, 2)]


@pytest.mark.parametrize(
    "optimizer", [{"groups": {"pair_map": {"learning_rate": 1e-3}}}, {"unlabelled_per_labelled": 4}]
)
def test_what_does_not_fit_the_model_or_the_loss_is_refused(encoder, optimizer):
    with pytest.raises(ValueError, match=r"optimizer\.(groups\.pair_map|unlabelled_per_labelled)"):
        make(encoder, **optimizer)


def test_gradients_are_clipped(encoder):
    seen, _ = watched(encoder, ATLOP(), corpus(2), max_grad_norm=1e-3)
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
        changes = {"epochs": 1, "batch_size": size, "gradient_accumulation": times, "max_grad_norm": 1e9}
        seen, trainer = watched(steady_encoder, loss, docs, **changes)
        assert len(seen.gradients) == trainer.state.global_step == 1
        found.append(seen.gradients[0])
    names = [name for name in found[0] if float(found[0][name].abs().max()) > 1e-6]
    assert len(names) > 10
    close = [torch.allclose(found[0][n], found[1][n], rtol=1e-3, atol=1e-6) for n in names]
    assert all(close) is holds


def test_the_rest_of_an_epoch_counts_by_its_own_batches(steady_encoder):
    changes = {"epochs": 1, "batch_size": 1, "gradient_accumulation": 4, "max_grad_norm": 1e9,
               "encoder_learning_rate": 0, "head_learning_rate": 0}  # fmt: skip
    seen, trainer = watched(steady_encoder, ATLOP(), corpus(5), **changes)
    assert trainer.state.global_step == 2
    # The last step has one document only, and its gradient is that document's.
    batch = list(trainer.get_train_dataloader())[-1]["inputs"]
    model = trainer.relation_model.train()
    model.zero_grad()
    ATLOP()(model(batch).logits, batch.labels()).backward()
    expected = {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
    for name, gradient in seen.gradients[1].items():
        torch.testing.assert_close(gradient, expected[name], rtol=1e-4, atol=1e-7)


class Noting(Trainer):
    """Keeps the batches."""

    def compute_loss(self, model, inputs, *others, **more):
        self.batches = [*getattr(self, "batches", ()), inputs["inputs"]]
        return super().compute_loss(model, inputs, *others, **more)


@pytest.mark.parametrize("group_by_length", [True, False])
def test_each_document_once_an_epoch_in_the_order_of_the_seed(encoder, group_by_length):
    docs = corpus(7)
    _, trainer = trained(encoder, ATLOP(), docs, kind=Noting, group_by_length=group_by_length)
    order = ShuffledBatches(trainer.features, 2, 62, like_length=group_by_length)
    expected = [tuple(docs[i].id for i in batch) for epoch in range(2) for batch in order.of_epoch(epoch)]
    assert [batch.documents for batch in trainer.batches] == expected
    assert trainer.state.global_step == len(expected) == 8


@pytest.mark.parametrize("sample", [{"unlabelled_rate": 0.3}, {"unlabelled_per_labelled": 1}])
def test_a_sample_of_unlabelled_pairs_changes_with_the_epoch(encoder, sample):
    docs = corpus(1)
    _, trainer = trained(encoder, ATLOP(), docs, kind=Noting, **sample)
    (first, second), whole = trainer.batches, docs.candidates.count(docs[0])
    assert first.pairs == second.pairs < whole and first.head.tolist() != second.head.tolist()


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
    docs = corpus(6, rule)
    model, _ = trained(encoder, loss(docs.labelled_priors), docs, epochs=1)
    model.save_pretrained(tmp_path)
    again = RelationModel.from_pretrained(tmp_path)
    assert (again.decoder.decision, again.decoder.link.name, again.candidates) == (decision, link, rule)
    assert again.decoder.priors == (None if decision == DecisionRule(top_k=4) else docs.labelled_priors)
    assert again.decoder.link.margin == (0.4 if link == "ranking-margin" else 0.25)


def test_probabilities_of_a_loss_without_class_weight_are_not_divided_by_it(encoder):
    docs, scores = corpus(6), torch.randn(3, len(VOCABULARY) + 1) / 10
    model, _ = trained(encoder, SSRPU(docs.labelled_priors * 2, class_weight=False), docs, epochs=1)
    plain = model.decoder.probabilities(scores)
    assert torch.equal(plain, Link("ranking-margin", 0.25)(scores))
    model, _ = trained(encoder, SSRPU(docs.labelled_priors * 2), docs, epochs=1)
    assert (model.decoder.probabilities(scores) < plain).any()


def test_other_relations_and_no_documents_are_refused(encoder):
    with pytest.raises(ModelError, match="other"):
        make(encoder, ATLOP(), replace(corpus(2), relations=RelationVocabulary(("other",))))
    with pytest.raises(ValueError, match="no document"):
        Trainer(fresh(encoder), ATLOP(), corpus(0))


class Poisoned(ATLOP):
    """A loss that is not finite in one batch."""

    def __init__(self, batch, value):
        super().__init__()
        self.left, self.value = batch, value

    def batch_loss(self, *batch):
        self.left -= 1
        return super().batch_loss(*batch) + (self.value if self.left == 0 else 0.0)


@pytest.mark.parametrize(("value", "log_steps"), [(math.nan, 100), (math.inf, 1)])
def test_a_loss_that_is_not_finite_stops_training_with_the_documents(
    encoder, tmp_path, monkeypatch, value, log_steps
):
    monkeypatch.setattr(trainer_module, "LOG_STEPS", log_steps)
    trainer = make(encoder, Poisoned(5, value), output=tmp_path, checkpoint_steps=4)
    second = ShuffledBatches(trainer.features, 2, 62).of_epoch(1)[1]
    with pytest.raises(NotFiniteError) as caught:
        trainer.train()
    assert caught.value.step == 5 and str(value) in str(caught.value)
    assert caught.value.documents == tuple(trainer.features[i].id for i in second)
    assert [path.name for path in list_checkpoints(tmp_path / "checkpoints")] == ["checkpoint-4"]


class Overflow(TrainerCallback):
    """After a step, one weight is infinite; no loss shows it yet."""

    def __init__(self, step, model):
        self.step, self.model = step, model

    def on_optimizer_step(self, args, state, control, **others):
        if state.global_step == self.step - 1:
            with torch.no_grad():
                self.model.head.bias[0] = math.inf


def test_weights_that_are_not_finite_are_not_saved(encoder, tmp_path):
    for output in (tmp_path, None):
        trainer = make(encoder, output=output)
        trainer.add_callback(Overflow(6, trainer.relation_model))
        with pytest.raises(NotFiniteError, match=r"head\.bias") as caught:
            trainer.train()
        assert caught.value.step == 6
    assert [path.name for path in list_checkpoints(tmp_path / "checkpoints")] == ["checkpoint-3"]


class FullDisk(TrainerCallback):
    """From a step on, no file may grow beyond a limit."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **others):
        if state.global_step == self.step:
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def test_a_full_disk_leaves_the_checkpoint_before_good(encoder, tmp_path):
    whole, _ = trained(encoder, output=tmp_path / "whole", checkpoint_steps=2)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    trainer = make(encoder, output=tmp_path / "full", checkpoint_steps=2)
    trainer.add_callback(FullDisk(4))
    try:
        with pytest.raises(CheckpointError) as caught:
            trainer.train()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.path.name == "checkpoint-4"
    folder = tmp_path / "full" / "checkpoints"
    assert [path.name for path in list_checkpoints(folder)] == ["checkpoint-2"]
    again = make(encoder, output=tmp_path / "full", model_seed=9, checkpoint_steps=2)
    again.train(resume=True)
    assert equal(again.relation_model, whole)


def test_the_last_two_checkpoints_are_kept_and_are_models(encoder, tmp_path):
    model, _ = trained(encoder, output=tmp_path, checkpoint_steps=1)
    kept = list_checkpoints(tmp_path / "checkpoints")
    assert [path.name for path in kept] == ["checkpoint-5", "checkpoint-6"]
    assert equal(RelationModel.from_pretrained(kept[-1]), model)
    assert not list(tmp_path.rglob("training_args.bin"))


def test_without_an_output_nothing_is_written(encoder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trained(encoder)
    assert list(tmp_path.iterdir()) == []


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")
    manifest = json.loads((path.parent / "manifest.json").read_text("utf-8"))
    del manifest["files"][path.name]
    (path.parent / "manifest.json").write_text(json.dumps(manifest), "utf-8")


DAMAGE = {
    "a bit of the weights": (lambda f: flip(f / "model.safetensors"), "model.safetensors"),
    "a bit of the optimizer": (lambda f: flip(f / "optimizer.pt"), "optimizer.pt"),
    "a bit of the random numbers": (lambda f: flip(f / "rng_state.pth"), "rng_state.pth"),
    "an edited step": (lambda f: edit(f / "trainer_state.json", global_step=1), "trainer_state.json"),
    "another model": (lambda f: edit(f / "config.json", candidates=[["PER", "LOC"]]), "candidates"),
    "half a file": (
        lambda f: (f / "optimizer.pt").write_bytes((f / "optimizer.pt").read_bytes()[:1000]), "optimizer.pt",
    ),
    "a lost file": (lambda f: (f / "scheduler.pt").unlink(), "scheduler.pt"),
    "no manifest": (lambda f: (f / "manifest.json").unlink(), "manifest.json"),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(encoder, tmp_path_factory):
    """A training of six steps with checkpoints after the third and the last, and its model."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, trained(encoder, output=folder)[0]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_last_checkpoint_is_passed_over_for_the_one_before(encoder, whole, tmp_path, damage):
    folder, model = whole
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    apply, place = DAMAGE[damage]
    apply(tmp_path / "checkpoints" / "checkpoint-6")
    lines, trainer = [], make(encoder, output=tmp_path, model_seed=9)
    trainer.train(resume=True, log=lines.append)
    assert equal(trainer.relation_model, model)
    assert len(lines) == 2 and "checkpoint-6" in lines[0] and place in lines[0] and "checkpoint-3" in lines[1]
    check_checkpoint(tmp_path / "checkpoints" / "checkpoint-6")  # it has been written again


def test_damaged_checkpoints_only_are_an_error(encoder, whole, tmp_path):
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    for path in list_checkpoints(tmp_path / "checkpoints"):
        flip(path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"model\.safetensors") as caught:
        make(encoder, output=tmp_path).train(resume=True)
    assert caught.value.path.name == "checkpoint-6"


def test_unfinished_checkpoints_only_are_no_checkpoints(encoder, whole, tmp_path):
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    for path in list_checkpoints(tmp_path / "checkpoints"):
        (path / "manifest.json").unlink()
    trainer = make(encoder, output=tmp_path)
    trainer.train(resume=True)
    assert equal(trainer.relation_model, whole[1])


class Stopping(TrainerCallback):
    """Stops after a step."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **others):
        control.should_training_stop = state.global_step == self.step


@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_a_resumed_training_with_another_schedule_and_sample_ends_with_the_same_weights(
    encoder, tmp_path, schedule
):
    changes = {"schedule": schedule, "unlabelled_per_labelled": 1, "checkpoint_steps": 2, "epochs": 3}
    whole, last = trained(encoder, ATLOP(), output=tmp_path / "whole", **changes)
    stopped, _ = trained(encoder, ATLOP(), output=tmp_path / "stopped", callback=Stopping(5), **changes)
    resumed = make(encoder, ATLOP(), output=tmp_path / "stopped", **changes)
    resumed.train(resume=True)
    assert last.state.global_step == resumed.state.global_step > 5
    assert equal(whole, resumed.relation_model) and not equal(whole, stopped)


def test_a_lexical_model_is_fitted_to_the_documents_of_the_last_training(encoder):
    few, more = corpus(4), corpus(12)
    models = []
    for trainings in ((few, more), (more,)):
        model = fresh(encoder, entity_types=more.entity_types, use_type_bias=True, lexical_weight=0.5)
        for docs in trainings:
            loss = LabelLikelihood(docs.labelled_priors * 3)
            Trainer(model, loss, docs, optimizer=OptimizerConfig(**QUICK | {"epochs": 1})).train()
        models.append(model)
    for name in ("stem", "types", "places", "words"):
        one, other = (getattr(model.lexical, name) for model in models)
        torch.testing.assert_close(one, other)


def test_a_resume_computes_no_initialization(encoder, tmp_path, monkeypatch):
    trained(encoder, output=tmp_path)
    monkeypatch.setattr(trainer_module, "initialize", lambda *_: pytest.fail("initialized again"))
    make(encoder, output=tmp_path).train(resume=True)


@pytest.mark.parametrize(("native", "width", "auto"), [
    (True, BF16_WIDTH, "bf16"), (True, BF16_WIDTH - 1, "float32"), (False, BF16_WIDTH, "float32"),
])  # fmt: skip
def test_a_cpu_that_computes_in_bf16_trains_wide_encoders_in_it(monkeypatch, native, width, auto):
    monkeypatch.setattr(trainer_module, "cpu_computes_in_bf16", lambda: native)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_precision("auto", width) == auto
    assert choose_precision("float32", width) == "float32"
    for refused in ["fp16"] if native else ["fp16", "bf16"]:
        with pytest.raises(ValueError, match=r"optimizer\.precision"):
            choose_precision(refused, width)


@pytest.mark.skipif(not cpu_computes_in_bf16(), reason="this CPU does not compute in bf16")
def test_training_in_bf16_on_a_cpu_goes_as_in_float32(steady_encoder):
    (model, rounded), (_, exact) = (
        trained(steady_encoder, LabelLikelihood(corpus(6).labelled_priors * 2), precision=precision)
        for precision in ("bf16", "float32")
    )
    assert losses_of(rounded) != losses_of(exact)
    assert losses_of(rounded) == pytest.approx(losses_of(exact), rel=0.02)
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_half_precision_trains_on_a_gpu(encoder, precision):
    _, trainer = trained(encoder, precision=precision)
    assert len(losses_of(trainer)) == 6 and all(map(math.isfinite, losses_of(trainer)))


@pytest.mark.parametrize(("precision", "during"), [("auto", "tf32"), ("float32", "ieee")])
def test_how_floats_are_computed_is_restored(precision, during):
    def denormal():
        return float(torch.full((), 1e-30) * 1e-10)

    backend, flushes = torch.backends.cuda.matmul, torch.set_flush_denormal(False)
    before = backend.fp32_precision
    with pytest.raises(RuntimeError, match="amid"), fast_floats("auto"), fast_floats(precision):
        assert backend.fp32_precision == during and (denormal() == 0) is flushes
        raise RuntimeError("amid")
    assert backend.fp32_precision == before and denormal() > 0


def test_development_documents_are_scored_after_every_epoch_and_change_nothing(encoder):
    gold = tuple(generate_documents(3, start=50))
    model, trainer = trained(encoder, options={"dev": gold})
    seen = [entry for entry in trainer.state.log_history if "eval_f1" in entry]
    assert [entry["epoch"] for entry in seen] == [1.0, 2.0]
    final = development_scores(model, gold)
    assert {name: seen[-1][name] for name in final} == final
    assert equal(model, trained(encoder)[0])


def test_development_scores_are_those_of_the_evaluation(encoder):
    model, gold = fresh(encoder), tuple(generate_documents(3))
    found = {claim.key for each in Extractor(model).extract(gold) for claim in each.predictions()}
    true = {(document.id, *label) for document in gold for label in document.labels}
    score = development_scores(model, gold)
    assert score["eval_precision"] == pytest.approx(len(found & true) / len(found))
    assert score["eval_recall"] == pytest.approx(len(found & true) / len(true))


def test_a_model_says_that_it_is_in_its_warmup(encoder):
    assert trained(encoder, epochs=1, warmup=1.0)[0].config.undertrained is not None
    assert trained(encoder, epochs=1, warmup=0.0)[0].config.undertrained is None
    assert describe_undertraining(7, 7.5) is not None and describe_undertraining(8, 7.5) is None
