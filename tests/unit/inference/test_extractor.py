"""Documents in, facts out."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.attacks.threads import asked, asked_at_once
from tests.unit.inference.making import (
    RELATIONS,
    calibration,
    corpus,
    document_of,
    reading_model,
    saved_model,
    tokenizer,
)

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Fact
from unnoted.data.formats import jsonl
from unnoted.data.ner import EntityRecognizer, EntitySpan
from unnoted.data.synthetic import generate_documents
from unnoted.errors import DataError, DefectKind, DefectLog
from unnoted.inference import DecisionOptions, Extractor
from unnoted.losses import DecisionRule
from unnoted.models.batch import Collator
from unnoted.models.features import featurise
from unnoted.models.model import ModelError
from unnoted.models.samplers import BatchLimits
from unnoted.models.type_constraints import RelationTypes

NOBODY = document_of("nobody", "No one came .")
ALONE = document_of("alone", "Only one came .", entities=[[(0, 1, 2)]])
EMPTY = Document("empty", (), ())


@pytest.fixture(scope="module")
def model():
    return reading_model()


def same(found, expected):
    """Equal but for rounding."""
    assert [extraction.document for extraction in found] == [extraction.document for extraction in expected]
    for one, other in zip(found, expected, strict=True):
        assert [replace(fact, score=0) for fact in one.facts] == [
            replace(fact, score=0) for fact in other.facts
        ]
        scores = [fact.score for fact in other.facts]
        assert [fact.score for fact in one.facts] == pytest.approx(scores, rel=1e-9, abs=1e-12)


def plain(model, document):
    """The facts of one document by itself: (head, tail, relation) to the score."""
    features = featurise([document.with_facts(())], tokenizer(), RELATIONS, model.candidates)
    batch = Collator(features)([features[0]])
    with torch.no_grad():
        scores = model(batch).logits
    decided, margin = scores[:, 1:] > scores[:, :1], scores[:, 1:] - scores[:, :1]
    return {
        (int(batch.head[p]), int(batch.tail[p]), RELATIONS[k]): float((margin[p, k] / 0.25).sigmoid())
        for p in range(batch.pairs)
        for k in range(len(RELATIONS))
        if decided[p, k]
    }


@pytest.mark.parametrize("positions", [60, 200])
def test_facts_are_what_the_model_decides(positions):
    model = reading_model(positions=positions)
    count = 0
    for extraction in Extractor(model).extract(corpus(5)):
        expected = plain(model, extraction.document)
        found = {(f.head, f.tail, f.relation): f.score for f in extraction.facts}
        assert list(found) == list(expected)  # also the order
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert all(f.relation_name == model.relations.name(f.relation) for f in extraction.facts)
        count += len(expected)
    assert 20 < count < 0.9 * len(RELATIONS) * sum(len(d.entities) ** 2 for d in corpus(5))


def test_order_is_kept_and_batches_change_nothing(model):
    documents = [NOBODY, *corpus()[:4], ALONE, EMPTY, *corpus()[4:]]
    expected = list(Extractor(model, chunk=1).extract(documents))
    assert [extraction.document for extraction in expected] == documents
    for batch, chunk in (
        (BatchLimits(documents=1), 256),
        (BatchLimits(documents=5), 4),
        (BatchLimits(documents=64), 256),
        (BatchLimits(documents=64, tokens=500, pairs=300), 7),
    ):
        same(list(Extractor(model, batch=batch, chunk=chunk).extract(documents)), expected)


def test_documents_without_pairs_have_no_facts(model):
    for documents in ([NOBODY], [EMPTY], [ALONE, NOBODY, EMPTY]):
        found = list(Extractor(model).extract(documents, threshold=0.0))
        assert [(extraction.document, extraction.facts) for extraction in found] == [
            (d, ()) for d in documents
        ]
    assert list(Extractor(model).extract([])) == []


def test_dictionaries_are_documents(model):
    documents = list(corpus()[:4])
    records = [json.loads(json.dumps(jsonl.record(document))) for document in documents]
    same(list(Extractor(model).extract(records)), list(Extractor(model).extract(documents)))


@pytest.mark.parametrize("nothing", [Path("notes.txt"), None, 5])
def test_what_is_no_document_is_named(model, nothing):
    with pytest.raises(TypeError, match=f"is a {type(nothing).__name__}: give a Document"):
        Extractor(model)(nothing)
    with pytest.raises(TypeError, match="several documents"):
        Extractor(model).extract(nothing)


def test_a_text_with_other_fields_needs_its_entities(model):
    with pytest.raises(DataError, match=r"document 'a': entities: .*only `id` and `text`"):
        Extractor(model)({"id": "a", "text": "Ada left.", "title": "Ada"})


def test_a_stream_says_how_it_is_used(model):
    shown = repr(Extractor(model)(corpus()[:2]))
    assert "iterate" in shown and "to_pandas" in shown and " at 0x" not in shown


def test_text_with_character_offsets(model):
    text = "Ada met Bo. Then Ada left."
    ada = {"type": "PER", "mentions": [{"start": 0, "end": 3}, {"start": 17, "end": 20}]}
    bo = {"type": "PER", "mentions": [{"start": 8, "end": 10}]}
    (found,) = Extractor(model).extract([{"text": text, "entities": [ada, bo]}], threshold=0.0)
    words = document_of(
        "1", "Ada met Bo .", "Then Ada left .", entities=[[(0, 0, 1), (1, 1, 2)], [(0, 2, 3)]]
    )
    (expected,) = Extractor(model).extract([words], threshold=0.0)
    assert found.document.id == "1" and found.document.text == text
    assert found.facts == expected.facts and len(found.facts) == 2 * len(RELATIONS)
    assert all(0 in fact.evidence for fact in found.facts)


def test_a_stream_is_taken_a_chunk_at_a_time(model):
    drawn = []

    def stream():
        for document in corpus():
            drawn.append(document)
            yield document

    found = Extractor(model, chunk=4).extract(stream())
    assert len(drawn) == 0
    first = next(found)
    assert first.document == corpus()[0] and len(drawn) <= 5
    for _ in range(4):
        next(found)
    assert len(drawn) <= 9


def test_noted_facts_are_not_looked_at(model):
    (expected,) = Extractor(model).extract([corpus()[0].with_facts(())])
    noted = corpus()[0].with_facts([Fact(0, 1, "never heard of"), Fact(0, 999, RELATIONS[0])])
    (found,) = Extractor(model).extract([noted])
    assert found.facts == expected.facts and found.document.facts == noted.facts


def test_a_threshold_lies_below_the_scores():
    extractor = Extractor(reading_model(link="sigmoid-ranking"))
    document = corpus()[0]
    (everything,) = extractor.extract([document], threshold=0.0)
    assert len(everything.facts) == len(RELATIONS) * extractor.model.candidates.count(document)
    (likely,) = extractor.extract([document], threshold=0.6)
    assert likely.facts == tuple(fact for fact in everything.facts if fact.score > 0.6)
    assert 0 < len(likely.facts) < len(everything.facts)


@pytest.mark.parametrize(
    ("changes", "threshold"),
    [({"decision": DecisionRule("zero", 0.4)}, 0.5), ({"calibration": calibration()}, 0.3)],
)
def test_a_model_decides_by_its_score(changes, threshold):
    model = reading_model(link="squared" if "decision" in changes else "ranking-margin")
    model.decoder = replace(model.decoder, **changes)
    extractor = Extractor(model)
    (stated,), (everything,) = (extractor.extract([corpus()[0]], threshold=each) for each in (None, 0.0))
    assert stated.facts == tuple(fact for fact in everything.facts if fact.score > threshold)
    assert 0 < len(stated.facts) < len(everything.facts)
    assert {fact.calibrated for fact in everything.facts} == {"calibration" in changes}
    if "calibration" in changes:
        logits = torch.tensor([[0.0, *torch.linspace(-2, 2, len(RELATIONS)).tolist()]], dtype=torch.float64)
        torch.testing.assert_close(model.decoder.scores(logits), model.decoder.probabilities(logits))
        (at_target,) = extractor.extract([corpus()[0]], threshold=DecisionOptions(target_recall=0.99))
        assert len(at_target.facts) > len(stated.facts)


@pytest.mark.parametrize("target", [{"target_precision": 0.9}, {"target_recall": 0.5}, {"threshold": 0.7}])
def test_a_target_chooses_facts_and_changes_no_score(target):
    model = reading_model()
    model.decoder = replace(model.decoder, calibration=calibration())
    extractor = Extractor(model)
    (everything,), (chosen,) = (
        extractor.extract([corpus()[0]], threshold=each) for each in (0.0, DecisionOptions(**target))
    )
    decision = extractor.decision(DecisionOptions(**target))
    assert chosen.facts == tuple(fact for fact in everything.facts if fact.score > decision.threshold)
    expected = decision.expected.metrics_at(decision.threshold)
    if target.keys() != {"threshold"}:
        ((name, wanted),) = target.items()
        assert expected[name.removeprefix("target_")] == pytest.approx(wanted, abs=0.01)
    assert decision.precision == expected["precision"]


TEXT = "Ada met Bo. Then Ada left."
SPANS = [EntitySpan(0, 3, "PERSON"), EntitySpan(8, 10, "PERSON"), EntitySpan(17, 20, "PERSON")]


class Names(EntityRecognizer):
    """Finds Ada and Bo in `TEXT`, and nothing elsewhere."""

    usual_types = {"PERSON": "PER"}  # noqa: RUF012

    def recognize(self, texts):
        return (SPANS if text == TEXT else [] for text in texts)


@pytest.fixture(scope="module")
def reading():
    return Extractor(reading_model(entity_types=["PER"]), entities=Names())


def test_one_call_takes_one_thing_or_many(reading):
    ada = {"type": "PER", "mentions": [{"start": 0, "end": 3}, {"start": 17, "end": 20}]}
    bo = {"type": "PER", "mentions": [{"start": 8, "end": 10}]}
    record = {"text": TEXT, "entities": [ada, bo]}
    of_record = reading(record, threshold=0.0)
    of_text = reading(TEXT, threshold=0.0)
    of_document = reading(of_record.document, threshold=0.0)
    assert len(of_text.facts) == 2 * len(RELATIONS)
    named = reading({"id": "d7", "text": TEXT}, threshold=0.0)
    assert named.document.id == "d7" and len(named.facts) == len(of_text.facts)
    same([of_text, of_document], [of_record, of_record])
    several = [record, NOBODY, "Nobody came.", TEXT]
    found = list(reading(iter(several), threshold=0.0))
    assert [each.document.id for each in found] == ["1", "nobody", "3", "4"]
    assert [len(each.facts) for each in found] == [len(of_text.facts), 0, 0, len(of_text.facts)]
    assert found == list(reading.extract(several, threshold=0.0))


def test_a_folder_is_as_good_as_its_model(tmp_path):
    expected = Extractor(reading_model(torch.float32))(corpus()[0])
    for path in (saved_model(tmp_path), str(tmp_path)):
        assert Extractor(path, device="cpu")(corpus()[0]) == expected
    assert Extractor.from_pretrained(tmp_path, device="cpu", chunk=3).chunk == 3


def test_only_candidates_are_scored():
    document = corpus()[0]
    types = sorted({entity.type for entity in document.entities})
    model = reading_model(candidates=[[types[0], types[1]]])
    assert model.candidates == CandidatePairs(frozenset({(types[0], types[1])}))
    (found,) = Extractor(model).extract([document], threshold=0.0)
    pairs = {(fact.head, fact.tail) for fact in found.facts}
    assert (
        pairs == set(zip(*(side.tolist() for side in model.candidates.index_pairs(document)), strict=True))
        and pairs
    )


def test_a_model_in_training_is_asked_without_dropout(model):
    (expected,) = Extractor(model).extract([corpus()[0]])
    same(list(Extractor(model.train()).extract([corpus()[0]])), [expected])


def test_a_saved_model_finds_the_same(tmp_path):
    documents = corpus()[:3]
    saved_model(tmp_path)
    found = list(Extractor(tmp_path, device="cpu").extract(documents))
    assert found == list(Extractor(reading_model(torch.float32)).extract(documents))


def test_bad_input(model, tmp_path):
    extractor = Extractor(model)
    with pytest.raises(DataError, match="document 2: document 'b': entities"):
        list(extractor.extract([NOBODY, {"id": "b", "text": "Ada", "facts": []}]))
    with pytest.raises(TypeError, match="document 1 is a int"):
        list(extractor.extract([3]))
    for one in (NOBODY, {"text": "Ada"}, "text"):
        with pytest.raises(TypeError, match="single"):
            extractor.extract(one)
    with pytest.raises(ValueError, match="chunk"):
        Extractor(model, chunk=0)
    astray = document_of("astray", "One word", entities=[[(0, 1, 3)], [(0, 0, 1)]])
    with pytest.raises(DataError, match="'astray'"):
        list(extractor.extract([astray]))


def test_unknown_fields_are_counted(model):
    log = DefectLog()
    list(Extractor(model).extract([{"text": "Ada", "entities": [], "colour": "red"}], log=log))
    assert log.counts[DefectKind.IGNORED_FIELD] == 1


def test_a_model_without_a_tokenizer_is_refused(tmp_path):
    model = reading_model(torch.float32)
    model.tokenizer = None
    with pytest.raises(ModelError, match="tokenizer"):
        Extractor(model)
    model.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="tokenizer"):
        Extractor(tmp_path)


THREADS = 8


def test_threads_get_what_one_alone_gets_and_the_extractor_stays_sound():
    documents = list(generate_documents(8, seed=3))
    shares = [documents[number:] + documents[:number] for number in range(THREADS)]
    model = reading_model(torch.float32)
    expected = [asked(Extractor(model, chunk=2), share) for share in shares]
    assert any(extraction.facts for extraction in expected[0][0])
    extractor = Extractor(reading_model(torch.float32), chunk=2)  # not prepared, and knows no word
    assert asked_at_once(extractor, shares) == expected
    assert asked(extractor, shares[0]) == expected[0]


@pytest.fixture(scope="module")
def typed_model():
    model = reading_model()
    model.relation_types = RelationTypes.from_documents(corpus()[6:])
    return model


def facts_of(extractor, **asked):
    return {
        (found.document.id, fact.head, fact.tail, fact.relation)
        for found in extractor.extract(corpus()[:6], **asked)
        for fact in found.facts
    }


@pytest.mark.parametrize("asked", [{}, {"threshold": 0.0}])
def test_only_relations_of_the_types(typed_model, asked):
    model = typed_model
    documents = {document.id: document for document in corpus()}
    free, typed = facts_of(Extractor(model, any_types=True), **asked), facts_of(Extractor(model), **asked)
    pairs = model.relation_types.pairs
    expected = {
        (name, head, tail, relation)
        for name, head, tail, relation in free
        if (documents[name].entities[head].type, documents[name].entities[tail].type) in pairs[relation]
    }
    assert typed == expected and len(typed) < len(free)


def test_every_pair_has_finite_scores(typed_model):
    seen = []
    list(Extractor(typed_model).extract(corpus()[:3], on_scores=seen.append))
    for scored in seen:
        assert torch.from_numpy(scored.score).isfinite().all()
        assert (scored.score >= 0).all() and (scored.probability >= 0).all()


def test_types_are_saved(tmp_path):
    model = reading_model(torch.float32)
    model.relation_types = RelationTypes.from_documents(corpus())
    model.save_pretrained(tmp_path)
    loaded = Extractor(tmp_path, device="cpu")
    assert loaded.model.relation_types == RelationTypes.from_documents(corpus())


def test_a_model_that_hardly_learnt_says_so():
    model = reading_model()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Extractor(model)
    model.config.undertrained = "trained for 3 steps, of which 7 are its warm-up"
    with pytest.warns(UserWarning, match="this model was trained for 3 steps"):
        Extractor(model)
