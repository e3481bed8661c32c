"""The demonstration: what is compared is the same for all methods, and every figure is what it says."""

import pytest
import torch

from unnoted.data import load_documents
from unnoted.data.document import Document, Entity, Fact, Mention
from unnoted.evaluation import Score
from unnoted.experiments.demonstrate import DemoPlan, demo_settings, demonstrate, recovered_facts
from unnoted.inference import ExtractedFact, Extraction
from unnoted.training import RunError

PLAN = DemoPlan(train_documents=6, test_documents=2, epochs=1, shown=3)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("demo")
    return folder, demonstrate(folder, PLAN)


def test_the_trainings_of_the_papers_methods_differ_in_their_risk_only(tmp_path):
    ours, theirs = (demo_settings(tmp_path, title, PLAN).to_json() for title in ("SSR-PU", "ATLOP"))
    differing = {key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)}
    assert differing - {"output"} == {
        "loss", "prior_multiplier", "margin", "correction", "normalisation", "class_weight",
    }  # fmt: skip


def test_counts_are_those_of_the_files(demo):
    folder, shown = demo
    train, truth, test = (load_documents(folder / f"{name}.jsonl") for name in ("train", "truth", "test"))
    assert (len(train), len(test)) == (shown.train_documents, shown.test_documents) == (6, 2)
    assert shown.labelled == sum(len(document.facts) for document in train.documents)
    assert shown.labelled + shown.hidden == sum(len(document.facts) for document in truth.documents)
    assert not {document.id for document in train.documents} & {document.id for document in test.documents}
    assert [loss.title for loss in shown.methods] == ["ATLOP", "SSR-PU", "best"]
    for loss in shown.methods:
        assert loss.recovered.gold == shown.hidden
        assert loss.evaluation.overall.gold == sum(len(document.facts) for document in test.documents)


def test_shown_documents_have_all_their_facts_once(demo):
    folder, shown = demo
    truth = {document.id: document for document in load_documents(folder / "truth.jsonl").documents}
    assert [document.document.id for document in shown.shown] == list(truth)[:3]
    for document in shown.shown:
        labelled, hidden = document.document.facts, document.hidden
        assert {fact.triple for fact in labelled} | {fact.triple for fact in hidden} == {
            fact.triple for fact in truth[document.document.id].facts
        }
        assert not {fact.triple for fact in labelled} & {fact.triple for fact in hidden}
        assert set(document.extractions) == {"ATLOP", "SSR-PU", "best"}


def test_again_it_only_looks_at_what_is_finished(demo):
    folder, shown = demo
    before = (folder / "ssr-pu" / "model.safetensors").stat().st_mtime_ns
    again = demonstrate(folder, PLAN)
    assert (folder / "ssr-pu" / "model.safetensors").stat().st_mtime_ns == before
    assert [loss.evaluation.overall for loss in again.methods] == [
        loss.evaluation.overall for loss in shown.methods
    ]


def test_another_plan_in_the_same_folder_is_refused(demo):
    folder, _ = demo
    before = (folder / "train.jsonl").read_bytes()
    with pytest.raises(RunError, match="another demonstration"):
        demonstrate(folder, DemoPlan(train_documents=5, test_documents=2, epochs=2))
    assert (folder / "train.jsonl").read_bytes() == before


def test_recovered_is_what_is_stated_beyond_the_labels():
    entities = tuple(Entity((Mention(0, i, i + 1, "PER", n),)) for i, n in ((0, "Ada"), (2, "Bo")))
    truth = Document(
        "d", (("Ada", "met", "Bo"),), entities, (Fact(0, 1, "a"), Fact(1, 0, "a"), Fact(0, 1, "b"))
    )
    stated = tuple(ExtractedFact(*triple, "", 0.9) for triple in ((0, 1, "a"), (1, 0, "a"), (1, 0, "c")))
    labelled = truth.with_facts(truth.facts[:1])
    score = recovered_facts([labelled], [truth], [Extraction(labelled, stated)])
    assert score == Score(correct=1, predicted=2, gold=2)
