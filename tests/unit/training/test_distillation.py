"""Two stages: a student learns from a teacher on distant documents, then is fine-tuned."""

import json
import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from tests.making import make_risk
from tests.unit.training.making import teacher_folder, tiny_encoder, two_stages_file
from transformers import set_seed

from unnoted.data import DataError, load_documents
from unnoted.data.candidates import CandidatePairs
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.data.writing import write_documents
from unnoted.losses import ATLOP, SPU, SSRPU, Distillation
from unnoted.losses.decisions import Fixed
from unnoted.models.features import Collator
from unnoted.models.model import ModelError, RelationModel
from unnoted.training import Optimisation, RunError, Teacher, Trainer, load_settings, run
from unnoted.training.fingerprint import fingerprint
from unnoted.training.preparing import tell_task
from unnoted.training.run_folder import RunFolder
from unnoted.training.settings import parse_changes

VOCABULARY = RelationVocabulary.from_documents(generate_documents(60))
DOCS = Corpus(tuple(generate_documents(4)), VOCABULARY, CandidatePairs())
STAGES = {
    "epochs": 2,
    "distillation": "{epochs: 1, batch_documents: 4, encoder_learning_rate: 2e-3, weight: 0.5}",
}


def model_with(encoder, seed, risk):
    set_seed(seed)
    model = RelationModel.from_encoder(encoder, VOCABULARY, embedding=8, block=4)
    tell_task(model, risk, DOCS)
    return model


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Without dropout, so that risks can be computed again."""
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), dropout=0.0)


@pytest.mark.parametrize("risk", [SSRPU(DOCS.labelled_priors * 2), ATLOP(), SPU(DOCS.labelled_priors * 2)])
def test_the_student_minimises_its_risk_and_the_difference_from_the_teacher(encoder, tmp_path, risk):
    teacher = model_with(encoder, 1, risk).train()
    before = {name: weight.clone() for name, weight in teacher.state_dict().items()}
    still = Optimisation(
        epochs=1, batch_documents=4, encoder_learning_rate=0, head_learning_rate=0, log_steps=1
    )
    student = model_with(encoder, 0, risk)
    trainer = Trainer(student, risk, DOCS, optimisation=still, folder=tmp_path, teacher=Teacher(teacher, 0.7))
    trainer.train()
    batch = Collator.of(trainer.features)(list(trainer.features))
    with torch.no_grad():
        scores, known = student.train()(batch), teacher.eval()(batch)
        expected = Distillation(risk, 0.7)(scores, batch.labels(), teacher=known)
        assert abs(expected - risk(scores, batch.labels())) > 1e-3
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert logged == [pytest.approx(float(expected), rel=1e-4, abs=1e-4)]
    assert not any(weight.requires_grad for weight in teacher.parameters())
    assert all(torch.equal(before[name], weight) for name, weight in teacher.state_dict().items())
    saved = load_file(tmp_path / "checkpoints" / "checkpoint-1" / "model.safetensors")
    assert saved.keys() == student.state_dict().keys()
    groups = trainer.optimizer.param_groups
    assert sum(len(group["params"]) for group in groups) == len(list(student.parameters()))


def test_a_teacher_of_another_kind_of_model_and_size(encoder):
    set_seed(1)
    teacher = RelationModel.from_encoder(encoder, VOCABULARY, architecture="max-pool", embedding=4, block=4)
    tell_task(teacher, ATLOP(), DOCS)
    quick = Optimisation(epochs=1, batch_documents=4, log_steps=1)
    trainer = Trainer(
        model_with(encoder, 0, ATLOP()), ATLOP(), DOCS, optimisation=quick, teacher=Teacher(teacher)
    )
    trainer.train()
    assert math.isfinite(trainer.state.log_history[0]["loss"])


def test_what_does_not_fit_is_refused(encoder, tmp_path):
    priors = DOCS.labelled_priors * 2
    student, ssr_pu = model_with(encoder, 0, SSRPU(priors)), SSRPU(priors)
    with pytest.raises(
        ModelError, match=r"rule 'top-k', the link 'threshold-softmax' and .*, expected .*'none-cl"
    ):
        Teacher(model_with(encoder, 1, ATLOP())).check(student, ssr_pu)
    # The same rule, but another link.
    with pytest.raises(
        ModelError, match=r"'none-class', the link 'sigmoid-ranking' and the margin 0\.25, expected"
    ):
        log_sigmoid = make_risk("s-pu-log-sigmoid-ranking", priors)
        Teacher(model_with(encoder, 1, log_sigmoid)).check(student, ssr_pu)
    with pytest.raises(
        ModelError, match=r"the margin 0\.5, expected those of the student's loss: .* the margin 0\.25"
    ):
        Teacher(model_with(encoder, 1, SSRPU(priors, margin=0.5))).check(student, ssr_pu)
    other = model_with(tiny_encoder(tmp_path, documents=3), 1, ssr_pu)
    with pytest.raises(ModelError, match=r"another tokenizer \([\d,]+ tokens, not [\d,]+\)"):
        Teacher(other).check(student, ssr_pu)
    bare = model_with(encoder, 1, ssr_pu)
    bare.config.markers = False
    with pytest.raises(ModelError, match="found none around mentions, expected the student's: markers"):
        Teacher(bare).check(student, ssr_pu)
    typed = model_with(encoder, 1, ssr_pu)
    typed.config.entity_types = ["LOC"]
    with pytest.raises(ModelError, match="entity types LOC, expected the student's: none"):
        Teacher(typed).check(student, ssr_pu)


def test_a_teacher_whose_thresholds_were_tuned_has_the_same_scores(encoder):
    risk = SPU(DOCS.labelled_priors)
    teacher = model_with(encoder, 1, risk)
    tuned = Fixed(tuple(float(number) for number in range(len(VOCABULARY))))
    teacher.meaning = replace(teacher.meaning, decision=tuned)
    Teacher(teacher).check(model_with(encoder, 0, risk), risk)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run of two stages by SSR-PU; not to be changed."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("finished")
    report = run(load_settings(two_stages_file(folder, **STAGES)))
    assert report.steps == 1 + 6
    return folder


def test_what_two_stages_leave(finished):
    folder = finished / "run"
    summary = json.loads((folder / "record.json").read_text())["training"]
    first = summary["distillation"]
    assert (first["steps"], first["epochs"], first["documents"], len(first["history"])) == (1, 1, 4, 1)
    assert (summary["steps"], summary["epochs"], summary["documents"]) == (6, 2, 6)
    assert first == json.loads((folder / "distillation" / "training.json").read_text())
    assert (folder / "distillation" / "checkpoints" / "checkpoint-1").is_dir()
    assert (folder / "checkpoints" / "checkpoint-6").is_dir()
    settings = load_settings(folder / "settings.yaml")
    assert settings == load_settings(finished / "settings.yaml")
    stage = settings.distillation
    assert (stage.epochs, stage.encoder_learning_rate, stage.head_learning_rate, stage.weight) == (
        1,
        2e-3,
        1e-3,
        0.5,
    )
    held = json.loads((folder / "run.json").read_text())["files"]
    names = ("distant.json", "teacher/config.json", "teacher/model.safetensors")
    assert {str(finished / name) for name in names} < {file for files in held.values() for file in files}


def test_each_stage_has_the_priors_of_its_own_documents(finished):
    out = finished / "run"
    for folder, file in ((out / "distillation", "distant.json"), (out, "train.json")):
        labelled = load_documents(finished / file, vocabulary=VOCABULARY).labelled_priors
        rows = json.loads((folder / "priors.json").read_text())
        assert [row["labelled"] for row in rows] == list(labelled.labelled)
        assert [row["overall"] for row in rows] == list((labelled * 2).overall)
    train = load_documents(finished / "train.json", vocabulary=VOCABULARY).labelled_priors
    assert RelationModel.from_pretrained(out).meaning.priors == train * 2


def test_the_second_stage_begins_where_the_first_ended(tmp_path):
    still = {"encoder_learning_rate": 0, "head_learning_rate": 0, "epochs": 1}
    stage = "{encoder_learning_rate: 1e-3, head_learning_rate: 1e-3}"
    path = two_stages_file(tmp_path, documents=2, distant=2, loss="atlop", distillation=stage, **still)
    run(load_settings(path, parse_changes(["prior_multiplier=null"])))
    folder = tmp_path / "run"
    last = load_file(folder / "distillation" / "checkpoints" / "checkpoint-1" / "model.safetensors")
    result = load_file(folder / "model.safetensors")
    assert all(torch.equal(last[name], result[name]) for name in last)
    set_seed(62)
    new = RelationModel.from_encoder(tmp_path / "encoder", VOCABULARY, embedding=8, block=4)
    assert not torch.equal(new.state_dict()["scores.weight"], result["scores.weight"])
    assert json.loads((folder / "distillation" / "priors.json").read_text()) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [("distant.json", r"distant\.json: found other content"), ("teacher", r"model\.safetensors: the content differs")],
)  # fmt: skip
def test_distant_documents_or_a_teacher_that_changed_are_named(tmp_path, changed, message):
    settings = load_settings(two_stages_file(tmp_path, documents=2, distant=2))
    folder = RunFolder(settings.output)
    with folder.locked():
        folder.claim(fingerprint(settings))
    if changed == "teacher":
        teacher = RelationModel.from_pretrained(tmp_path / "teacher")
        teacher.scores.bias.data += 1
        teacher.save_pretrained(tmp_path / "teacher")
    else:
        write_documents(tmp_path / "distant.json", generate_documents(3, start=50))
    with pytest.raises(RunError, match=message):
        run(settings, resume=True)


def test_another_first_stage_is_another_run(finished):
    change = ["distillation={epochs: 3, batch_documents: 4, encoder_learning_rate: 2e-3, weight: 0.5}"]
    with pytest.raises(RunError, match=r"another run \(distillation\.epochs 1, not 3\)"):
        run(load_settings(finished / "settings.yaml", parse_changes(change)))
    free = [
        "distillation={epochs: 1, batch_documents: 4, encoder_learning_rate: 2e-3, weight: 0.5, log_steps: 7}"
    ]
    assert run(load_settings(finished / "settings.yaml", parse_changes(free))).steps == 7
    without = ["teacher=null", "distant=null", "distillation=null"]
    with pytest.raises(RunError, match=r"another run \(distant .*, not None; teacher .*, not None\)"):
        run(load_settings(finished / "settings.yaml", parse_changes(without)))


def test_a_refusal_leaves_the_output_untouched(tmp_path):
    path = two_stages_file(tmp_path, documents=2, distant=2, epochs=1)
    small = tiny_encoder(tmp_path / "other", documents=3)
    fewer = RelationVocabulary.from_documents(generate_documents(2))
    cases = [
        (lambda: teacher_folder(tmp_path, relations=fewer), ModelError, r"teacher: found \d+ relations, expected"),
        (lambda: teacher_folder(tmp_path, encoder=small), ModelError, "teacher: found another tokenizer"),
        (lambda: teacher_folder(tmp_path, "atlop"), ModelError, r"teacher: .*'top-k'.*'none-class'"),
        (lambda: (tmp_path / "teacher" / "config.json").unlink(), RunError, r"config\.json: found no readable"),
    ]  # fmt: skip
    for prepare, kind, message in cases:
        prepare()
        with pytest.raises(kind, match=message):
            run(load_settings(path))
        assert {entry.name for entry in (tmp_path / "run").iterdir()} == {".lock"}
    teacher_folder(tmp_path)
    (tmp_path / "distant.json").write_text('[{"title": 3}]')
    with pytest.raises(DataError, match=r"distant\.json"):
        run(load_settings(path))
    assert {entry.name for entry in (tmp_path / "run").iterdir()} == {".lock"}


def test_a_relation_that_train_does_not_have_is_named_with_its_file(tmp_path):
    path = two_stages_file(tmp_path, documents=2, distant=20)
    (tmp_path / "relations.json").write_text(
        json.dumps(list(RelationVocabulary.from_documents(generate_documents(2))))
    )
    teacher_folder(tmp_path, relations=RelationVocabulary.from_documents(generate_documents(2)))
    with pytest.raises(DataError, match=r"distant\.json: line \d+: document .*: found .*, expected"):
        run(load_settings(path))
