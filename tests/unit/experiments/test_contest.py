"""One's own comparison with made-up outcomes: what is run at which level, and where it pays."""

from dataclasses import replace

import pytest
from tests.unit.experiments.making_tables import MadeUpPool, docred_folder

from unnoted.data import load_documents
from unnoted.experiments.contest import Contest, compare, plan_comparison
from unnoted.experiments.scale import Scale

SCALE = Scale({"encoder": "recurrent", "epochs": 1, "encoder_learning_rate": 2e-3})


def contest(tmp_path, **changes):
    data = docred_folder(tmp_path / "data", documents=20)
    given = {
        "architectures": ("atlop",), "losses": ("atlop", "ssr-pu"), "train": (data / "train_revised.json",),
        "test": (data / "dev_revised.json",), "config": "base/paper",
        "prior_multiplier": 1.0,
    }  # fmt: skip
    return Contest(**(given | changes))


def test_every_model_with_every_method_at_every_level(tmp_path):
    plan = plan_comparison(
        contest(tmp_path, architectures=("atlop", "docunet"), levels=("full", "0.5")),
        SCALE,
        tmp_path / "grid",
    )
    assert [row.name for row in plan.rows] == [
        f"{model}/{loss}/{level}"
        for level in ("full", "0.5")
        for model in ("atlop", "docunet")
        for loss in ("atlop", "ssr-pu")
    ]
    assert plan.rows[1].title == "atlop, ssr-pu"
    settings = [row.runs[0] for row in plan.rows]
    assert {(each.encoder, each.epochs, each.encoder_learning_rate) for each in settings} == {
        ("recurrent", 1, 2e-3)
    }
    assert settings[0].train != settings[-1].train
    assert plan.compared[0] == ("atlop/ssr-pu/full", "atlop/atlop/full") and len(plan.compared) == 4


def test_priors_grow_with_what_is_hidden(tmp_path):
    plan = plan_comparison(
        contest(tmp_path, levels=("full", "extreme"), prior_multiplier=2.0), SCALE, tmp_path / "grid"
    )
    full, extreme = (row.runs[0] for row in plan.rows if "ssr-pu" in row.name)
    assert full.prior_multiplier == 2
    counts = [
        sum(len(document.facts) for document in load_documents(*settings.train).documents)
        for settings in (full, extreme)
    ]
    assert extreme.prior_multiplier == pytest.approx(2 * counts[0] / counts[1])
    assert plan.rows[0].runs[0].prior_multiplier is None
    assert plan.rows[-1].group == f"extreme, {counts[1] / counts[0]:.0%} of the labels".replace("%", " %")


def test_a_settings_file_and_changes_reach_the_rows_that_have_them(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "train: x.json\nloss: ssr-pu\nprior_multiplier: 9\nmargin: 0.5\nencoder: recurrent\n"
        "embedding: 128\noutput: x\n",
        "utf-8",
    )
    scale = Scale({"epochs": 2, "margin": 0.1})
    plan = plan_comparison(contest(tmp_path, config=file, prior_multiplier=None), scale, tmp_path / "grid")
    atlop, ssr_pu = (row.runs[0] for row in plan.rows)
    assert (atlop.loss_options.get("margin"), ssr_pu.loss_options["margin"]) == (None, 0.1)
    assert (atlop.embedding, atlop.prior_multiplier, ssr_pu.prior_multiplier) == (128, None, 9)
    assert len(ssr_pu.train) == 1 and ssr_pu.train[0].parent == tmp_path / "grid" / "data"


def test_pubtator_documents_keep_their_candidate_pairs(tmp_path):
    text = "1|t|Aspirin treats headache\n1|a|Ache is pain.\n1\t0\t7\tAspirin\tChemical\tC1\n"
    text += "1\t15\t23\theadache\tDisease\tD1\n1\tCID\tC1\tD1\n\n"
    (tmp_path / "train.txt").write_text(text, "utf-8")
    files = {"train": (tmp_path / "train.txt",), "test": (tmp_path / "train.txt",)}
    plan = plan_comparison(contest(tmp_path, **files), SCALE, tmp_path / "grid")
    assert plan.rows[0].runs[0].candidates == "Chemical:Disease"


def test_the_benchmark_is_chosen_and_not_guessed(tmp_path):
    for chosen, expected in (({}, "plain"), ({"benchmark": "chemdisgene"}, "chemdisgene")):
        plan = plan_comparison(contest(tmp_path, **chosen), SCALE, tmp_path / "grid")
        assert {run.benchmark for run in plan.runs} == {expected}


def test_a_loss_with_priors_must_be_told_them(tmp_path):
    with pytest.raises(ValueError, match=r"--prior-multiplier: found none, expected .* ssr-pu must be told"):
        plan_comparison(contest(tmp_path, prior_multiplier=None), SCALE, tmp_path / "grid")
    without = contest(tmp_path, prior_multiplier=None, losses=("atlop",))
    assert plan_comparison(without, SCALE, tmp_path / "grid").runs[0].prior_multiplier is None


def test_a_level_without_any_label_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"level 0.00001: found no label left of [\d,]+, expected some"):
        plan_comparison(contest(tmp_path, levels=("0.00001",)), SCALE, tmp_path / "grid")


def test_where_it_pays_is_told(tmp_path):
    def correct(settings):
        few = settings.prior_multiplier is not None and settings.prior_multiplier > 1
        return 40 if few else 30

    levels = ("full", "extreme")
    result = compare(contest(tmp_path, levels=levels), SCALE, tmp_path / "grid", MadeUpPool(correct))
    assert [round(claim.difference, 1) for claim in result.claims] == [0.0, 12.5]
    told = result.notes[-1]
    assert told.startswith("F1 of atlop/ssr-pu against atlop/atlop: not certain at all labels")
    assert "ahead, with one seed at extreme, " in told and "(+12.5)" in told
    assert all(not row.published for row in result.rows)


def test_only_seeds_that_both_finished_are_compared(tmp_path):
    """Two losses that are equal with every seed, each of which lost another one."""

    def correct(settings):
        lost = {"atlop": 62, "ssr-pu": 64}[settings.loss]
        return 1 // (settings.seed != lost) * 10 * (settings.seed - 60)

    scale = replace(SCALE, seeds=(62, 63, 64))
    (claim,) = compare(contest(tmp_path), scale, tmp_path / "grid", MadeUpPool(correct)).claims
    assert (claim.seeds, claim.difference, claim.low, claim.high) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architectures": ("atlob",)}, r"unknown architecture 'atlob'.*nearest: 'atlop'"),
        ({"losses": ("ssrpu",)}, r"unknown loss 'ssrpu'.*nearest: 'ssr-pu'"),
        ({"levels": ("fully",)}, r"unknown level 'fully'.*nearest: 'full'"),
        ({"benchmark": "docked"}, r"unknown benchmark 'docked'.*nearest: 'docred'"),
        ({"losses": ("pu", "pu")}, r"losses: found pu, pu, expected each once"),
        ({"architectures": ()}, r"architectures: found none"),
    ],
)
def test_what_does_not_exist_is_refused(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        contest(tmp_path, **changes)
