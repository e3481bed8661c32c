"""An exported encoder finds what torch finds."""

import pytest
import torch
from tests.unit.inference.making import corpus, reading_model, saved_model

from unnoted.data import load_documents
from unnoted.inference import Extractor
from unnoted.models.encoders.windows import plan_windows
from unnoted.models.model import ModelError, RelationModel

pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

from unnoted.inference.onnx import EXPORT, GRAPH, export_onnx


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("model"), positions=60)  # so that documents take windows


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "onnx"
    assert export_onnx(model, folder) < 1e-4
    return folder


def scores_of(extractor):
    found = {}

    def keep(scored):
        found[scored.document.id] = torch.from_numpy(scored.score)

    facts = [extraction.facts for extraction in extractor.extract(corpus(), on_scores=keep)]
    return found, facts


def test_scores_are_those_of_torch(model, exported):
    by_torch, by_onnx = (Extractor.from_pretrained(path, device="cpu") for path in (model, exported))
    assert (
        by_torch.backend_digest is None and by_onnx.backend_digest is not None
    )  # the default where there is one
    expected, facts = scores_of(by_torch)
    found, same = scores_of(by_onnx)
    assert len(plan_windows([200], 60).windows) > 1
    for name, scores in expected.items():
        torch.testing.assert_close(found[name], scores, rtol=0, atol=1e-3)
    assert [[(f.head, f.tail, f.relation, f.evidence) for f in each] for each in same] == [
        [(f.head, f.tail, f.relation, f.evidence) for f in each] for each in facts
    ]


def test_torch_can_be_asked_for(exported):
    extractor = Extractor.from_pretrained(exported, device="cpu", backend="torch")
    assert extractor.backend_digest is None


def test_an_export_of_another_model_is_refused(exported, tmp_path):
    stale = tmp_path / "stale"
    stale.mkdir()
    for file in exported.iterdir():
        (stale / file.name).write_bytes(file.read_bytes())
    reading_model(torch.float32, seed=1, positions=60).save_pretrained(stale)
    with pytest.raises(ModelError, match=EXPORT):
        Extractor.from_pretrained(stale, device="cpu")
    (stale / GRAPH).write_bytes(b"something else")
    with pytest.raises(ModelError, match=GRAPH):
        Extractor.from_pretrained(stale, device="cpu")
    Extractor.from_pretrained(stale, device="cpu", backend="torch")


def test_what_cannot_be_done_is_said(model, exported, tmp_path):
    with pytest.raises(ModelError, match=EXPORT):
        Extractor.from_pretrained(model, device="cpu", backend="onnx")
    with pytest.raises(ValueError, match="onx"):
        Extractor.from_pretrained(model, device="cpu", backend="onx")
    with pytest.raises(ValueError, match="exists"):
        export_onnx(model, exported)


@pytest.mark.slow
def test_eight_bits(model, exported, tmp_path):
    smaller = tmp_path / "int8"
    assert 1e-4 < export_onnx(model, smaller, int8=True) < 1
    assert (smaller / GRAPH).stat().st_size < (exported / GRAPH).stat().st_size
    found, _ = scores_of(Extractor.from_pretrained(smaller, device="cpu"))
    assert all(scores.isfinite().all() for scores in found.values())


@pytest.mark.shared
@pytest.mark.slow
def test_scores_of_six_layers_of_minilm_are_those_of_torch(shared, tmp_path):
    train = load_documents(shared / "data/docred/train_annotated.json")
    some = load_documents(shared / "data/docred/dev_revised.json").documents[:4]
    made = RelationModel.from_encoder(shared / "encoders/minilm", relations=train.relations)
    made.save_pretrained(tmp_path / "model")
    assert made.encoder.model.config.num_hidden_layers == 6
    graph = tmp_path / "onnx"
    export_onnx(tmp_path / "model", graph)
    found = {}
    for path in (tmp_path / "model", graph):
        found[path] = []
        keep = found[path].append
        backend = "torch" if path == tmp_path / "model" else "onnx"
        extractor = Extractor.from_pretrained(path, device="cpu", backend=backend)
        list(extractor.extract(some, threshold=1.0, on_scores=keep))
    for one, other in zip(*found.values(), strict=True):
        assert one.document.id == other.document.id
        assert abs(one.score - other.score).max() < 1e-3
        assert abs(one.probability - other.probability).max() < 1e-3


def test_a_session_for_each_number_of_threads(exported):
    encoder = Extractor.from_pretrained(exported, device="cpu").model.encoder.runner
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 1):
            torch.set_num_threads(threads)
            assert encoder._session().get_session_options().intra_op_num_threads == threads
    finally:
        torch.set_num_threads(before)
