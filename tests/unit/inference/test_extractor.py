"""Documents in, facts out."""

import json
from dataclasses import replace

import pytest
import torch
from tests.unit.inference.making import RELATIONS, corpus, document_of, reading_model, saved_model, tokenizer

from unnoted.data.candidates import CandidatePairs
from unnoted.data.document import Document, Fact
from unnoted.data.formats import jsonl
from unnoted.errors import DataError, DefectLog, Kind
from unnoted.inference import Extractor
from unnoted.losses import confidence_of
from unnoted.losses.decisions import Fixed
from unnoted.models.features import BatchLimits, Collator, featurise
from unnoted.models.model import ModelError

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
        exact = [replace(fact, confidence=0, margin=0) for fact in one.facts]
        assert exact == [replace(fact, confidence=0, margin=0) for fact in other.facts]
        for figure in ("confidence", "margin"):
            values = [getattr(fact, figure) for fact in other.facts]
            assert [getattr(fact, figure) for fact in one.facts] == pytest.approx(values, rel=1e-9, abs=1e-12)


def plain(model, document):
    """The facts of one document by itself: (head, tail, relation) to (confidence, margin)."""
    features = featurise([document.with_facts(())], tokenizer(), RELATIONS, model.candidates)
    batch = Collator.of(features)([features[0]])
    with torch.no_grad():
        scores = model(batch)
    decided, confidence = model.decoder.decide(scores), confidence_of(model.decoder.distances(scores).numpy())
    return {
        (int(batch.head[p]), int(batch.tail[p]), RELATIONS[k]): (
            float(confidence[p, k]),
            float(scores[p, k + 1] - scores[p, 0]),
        )
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
        found = {(f.head, f.tail, f.relation): (f.confidence, f.margin) for f in extraction.facts}
        assert list(found) == list(expected)  # also the order
        for triple, figures in expected.items():
            assert found[triple] == pytest.approx(figures, rel=1e-9, abs=1e-12)
        assert all(f.decided and f.name == model.relations.name(f.relation) for f in extraction.facts)
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
        same(list(Extractor(model, batch, chunk=chunk).extract(documents)), expected)


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


def test_threshold_and_floor():
    model = reading_model(link="sigmoid-ranking")
    document = corpus()[0]
    (everything,) = Extractor(model).extract([document], threshold=0.0)
    assert len(everything.facts) == len(RELATIONS) * model.candidates.count(document)
    (likely,) = Extractor(model).extract([document], threshold=0.7)
    assert likely.facts == tuple(fact for fact in everything.facts if fact.confidence >= 0.7)
    assert 0 < len(likely.facts) < len(everything.facts)

    (stated,) = Extractor(model).extract([document])
    (both,) = Extractor(model).extract([document], floor=0.3)
    assert tuple(fact for fact in both.facts if fact.decided) == stated.facts
    assert {fact.decided for fact in both.facts} == {True, False}
    (high,) = Extractor(model).extract([document], floor=0.99)
    assert set(stated.facts) <= set(high.facts) and min(fact.confidence for fact in stated.facts) < 0.99
    expected = [fact for fact in everything.facts if fact.confidence >= 0.3 or fact.margin > 0]
    assert [replace(fact, decided=True) for fact in both.facts] == expected


def test_margin_of_a_fixed_rule():
    model = reading_model(link="squared")
    model.decoder = replace(model.decoder, decision=Fixed(0.4))
    document = corpus()[0]
    (found,) = Extractor(model).extract([document], floor=0.0)
    assert {fact.decided for fact in found.facts} == {True, False}
    assert all(fact.decided == (fact.margin > 0) for fact in found.facts)


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


def test_a_model_in_training_is_asked_without_dropout_and_goes_on_training(model):
    (expected,) = Extractor(model).extract([corpus()[0]])
    try:
        extractions = Extractor(model.train()).extract([corpus()[0]])
        same([next(extractions)], [expected])
        assert model.training and all(module.training for module in model.modules())
    finally:
        model.eval()


def test_a_saved_model_finds_the_same(tmp_path):
    documents = corpus()[:3]
    saved_model(tmp_path)
    found = list(Extractor.from_pretrained(tmp_path, device="cpu").extract(documents))
    assert found == list(Extractor(reading_model(torch.float32)).extract(documents))


def test_bad_input(model, tmp_path):
    extractor = Extractor(model)
    with pytest.raises(DataError, match="document 2: document 'b': entities: found nothing, expected a list"):
        list(extractor.extract([NOBODY, {"id": "b", "text": "Ada"}]))
    with pytest.raises(TypeError, match="document 1: found int, expected a Document, or a dictionary"):
        list(extractor.extract([3]))
    for one in (NOBODY, {"text": "Ada"}, "text"):
        with pytest.raises(TypeError, match="expected several documents"):
            extractor.extract(one)
    with pytest.raises(ValueError, match="floor: found -1, expected a confidence"):
        extractor.extract([NOBODY], floor=-1)
    with pytest.raises(ValueError, match="documents a chunk: found 0"):
        Extractor(model, chunk=0)
    astray = document_of("astray", "One word", entities=[[(0, 1, 3)], [(0, 0, 1)]])
    with pytest.raises(DataError, match=r"'astray'.*found words 1 to 3, expected words below 2"):
        list(extractor.extract([astray]))


def test_unknown_fields_are_counted(model):
    log = DefectLog()
    list(Extractor(model).extract([{"text": "Ada", "entities": [], "colour": "red"}], log=log))
    assert log.counts[Kind.IGNORED_FIELD] == 1


def test_a_model_without_a_tokenizer_is_refused(tmp_path):
    model = reading_model(torch.float32)
    model.tokenizer = None
    with pytest.raises(ModelError, match="without a tokenizer"):
        Extractor(model)
    model.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"found no tokenizer, expected tokenizer\.json"):
        Extractor.from_pretrained(tmp_path)
