"""One's own comparison: what is run at which level, and where a loss is better."""

import pytest
from tests.unit.experiments.factories import docred_folder, fake_runs

from unnoted.data import load_documents
from unnoted.experiments.compare import Comparison, compare, plan_comparison
from unnoted.experiments.grid import Scale

SCALE = Scale({"encoder": "recurrent", "epochs": 1, "encoder_learning_rate": 2e-3})


@pytest.fixture
def comparison(tmp_path):
    def comparison(**changes):
        data = docred_folder(tmp_path / "data", documents=20)
        given = {
            "architectures": ("atlop",), "losses": ("atlop", "ssr-pu"),
            "train": (data / "train_revised.json",), "test": (data / "dev_revised.json",),
            "configs": ("base/paper",), "prior_multiplier": 1.0,
        }  # fmt: skip
        return Comparison(**(given | changes))

    return comparison


def test_every_architecture_with_every_loss_at_every_level(comparison, tmp_path):
    asked = comparison(architectures=("atlop", "docunet"), levels=("full", "0.5"))
    plan = plan_comparison(asked, SCALE, tmp_path / "grid")
    assert [row.name for row in plan.rows] == [
        f"base/paper/{architecture}/{loss}/{level}"
        for level in ("full", "0.5")
        for architecture in ("atlop", "docunet")
        for loss in ("atlop", "ssr-pu")
    ]
    settings = [row.runs[0] for row in plan.rows]
    assert {
        (each.model.encoder, each.optimizer.epochs, each.optimizer.encoder_learning_rate) for each in settings
    } == {("recurrent", 1, 2e-3)}
    assert settings[0].train != settings[-1].train
    assert plan.compared[0] == ("base/paper/atlop/ssr-pu/full", "base/paper/atlop/atlop/full")
    assert len(plan.compared) == 4


def test_priors_grow_with_what_is_hidden(comparison, tmp_path):
    asked = comparison(levels=("full", "extreme"), prior_multiplier=2.0)
    plan = plan_comparison(asked, SCALE, tmp_path / "grid")
    full, extreme = (row.runs[0] for row in plan.rows if "ssr-pu" in row.name)
    counts = [
        sum(len(document.facts) for document in load_documents(*settings.train).documents)
        for settings in (full, extreme)
    ]
    assert full.loss.prior_multiplier == 2
    assert extreme.loss.prior_multiplier == pytest.approx(2 * counts[0] / counts[1])
    assert plan.rows[0].runs[0].loss.prior_multiplier is None


def test_a_settings_file_and_changes_reach_the_rows_that_have_them(comparison, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "train: x.json\nloss: {name: ssr-pu, prior_multiplier: 9, options: {margin: 0.5}}\n"
        "model: {encoder: recurrent, embedding: 128}\noutput: x\n",
        "utf-8",
    )
    scale = Scale({"epochs": 2, "margin": 0.1})
    plan = plan_comparison(comparison(configs=(str(file),), prior_multiplier=None), scale, tmp_path / "grid")
    atlop, ssr_pu = (row.runs[0] for row in plan.rows)
    assert (atlop.loss.options.get("margin"), ssr_pu.loss.options["margin"]) == (None, 0.1)
    assert (atlop.model.embedding, atlop.loss.prior_multiplier, ssr_pu.loss.prior_multiplier) == (
        128,
        None,
        9,
    )


def test_configs_are_compared_as_they_are(comparison, tmp_path):
    asked = comparison(configs=("small", "best"), losses=(), architectures=(), prior_multiplier=None)
    scale = Scale({"encoder": "recurrent", "epochs": 1}, seeds=(62, 63))
    plan = plan_comparison(asked, scale, tmp_path / "grid")
    small, best = (row.runs[0] for row in plan.rows)
    assert [(row.name, row.title, len(row.runs)) for row in plan.rows] == [
        ("small/full", "small", 2),
        ("best/full", "best", 2),
    ]
    assert (small.loss.name, small.calibration.folds) == ("ssr-pu", None)
    assert (best.loss.name, best.calibration.folds, best.model.lexical_weight) == ("label-likelihood", 2, 0.5)
    assert {each.optimizer.epochs for each in plan.runs} == {1} and small.train == best.train
    assert plan.compared == (("best/full", "small/full"),)


def test_configs_and_losses_are_combined(comparison, tmp_path):
    asked = comparison(configs=("small", "base/paper"), losses=("atlop", "pn"))
    plan = plan_comparison(asked, SCALE, tmp_path / "grid")
    assert [row.title for row in plan.rows] == [
        "small, atlop",
        "small, pn",
        "base/paper, atlop",
        "base/paper, pn",
    ]


def test_pubtator_documents_keep_their_candidate_pairs(comparison, tmp_path):
    text = "1|t|Aspirin treats headache\n1|a|Ache is pain.\n1\t0\t7\tAspirin\tChemical\tC1\n"
    text += "1\t15\t23\theadache\tDisease\tD1\n1\tCID\tC1\tD1\n\n"
    (tmp_path / "train.txt").write_text(text, "utf-8")
    asked = comparison(train=(tmp_path / "train.txt",), test=(tmp_path / "train.txt",))
    assert (
        plan_comparison(asked, SCALE, tmp_path / "grid").rows[0].runs[0].data.candidates == "Chemical:Disease"
    )


def test_a_loss_with_priors_needs_a_multiplier(comparison, tmp_path):
    with pytest.raises(ValueError, match=r"--prior-multiplier.*ssr-pu"):
        plan_comparison(comparison(prior_multiplier=None), SCALE, tmp_path / "grid")
    without = comparison(prior_multiplier=None, losses=("atlop",))
    assert plan_comparison(without, SCALE, tmp_path / "grid").runs[0].loss.prior_multiplier is None


def test_a_loss_is_compared_with_the_baseline_at_each_level(comparison, tmp_path, monkeypatch):
    def correct(settings):
        few = settings.loss.prior_multiplier is not None and settings.loss.prior_multiplier > 1
        return 40 if few else 30

    fake_runs(monkeypatch, correct)
    result = compare(comparison(levels=("full", "extreme")), SCALE, tmp_path / "grid")
    found = [(round(test.difference, 1), test.verdict) for test in result.significance]
    assert found == [(0.0, "not significant"), (12.5, "ahead, with one seed")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architectures": ("atlob",)}, "'atlob'.*'atlop'"),
        ({"losses": ("ssrpu",)}, "'ssrpu'.*'ssr-pu'"),
        ({"levels": ("fully",)}, "'fully'.*'full'"),
        ({"benchmark": "docked"}, "'docked'.*'docred'"),
        ({"losses": ("pu", "pu")}, "losses: "),
        ({"levels": ()}, "levels: "),
        ({"configs": ("small", "small")}, "configs: "),
        ({"name": "../x"}, "--name: "),
        ({"prior_multiplier": 0.0}, "prior multiplier: "),
    ],
)
def test_what_does_not_exist_is_refused(comparison, changes, message):
    with pytest.raises(ValueError, match=message):
        comparison(**changes)
