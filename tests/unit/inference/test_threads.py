"""One extractor, many threads."""

import threading

import torch
from tests.attacks.threads import asked, asked_at_once
from tests.unit.inference.making import corpus, reading_model

from unnoted.data.synthetic import generate_documents
from unnoted.inference import Extractor
from unnoted.inference.evaluation_mode import evaluation_mode
from unnoted.models.features import Tokeniser
from unnoted.models.features.word_table import WordTable

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


def test_a_model_in_training_is_in_training_again_when_the_last_thread_is_done():
    model = reading_model(torch.float32).train()
    shares = [corpus(4, seed=number) for number in range(4)]
    extractor = Extractor(model, chunk=2)
    expected = [asked(Extractor(reading_model(torch.float32), chunk=2), share) for share in shares]
    assert asked_at_once(extractor, shares) == expected
    assert all(module.training for module in model.modules())


def test_nobody_leaves_evaluation_mode_under_the_hands_of_another():
    model, inside, left = torch.nn.Dropout().train(), threading.Event(), threading.Event()

    def stays():
        with evaluation_mode(model):
            inside.set()
            left.wait(10)
            modes.append(model.training)

    modes = []
    thread = threading.Thread(target=stays)
    thread.start()
    assert inside.wait(10)
    with evaluation_mode(model):
        pass
    modes.append(model.training)
    left.set()
    thread.join()
    assert modes == [False, False] and model.training


def test_words_looked_up_before_stay_as_they_were(monkeypatch):
    """Also where the table is emptied in between."""
    monkeypatch.setattr("unnoted.models.features.word_table.WORDS_REMEMBERED", 2)
    table = Tokeniser(reading_model().tokenizer)._words
    assert isinstance(table, WordTable)

    def tokens(found):
        return [found.tokens[found.offsets[row] : found.offsets[row + 1]].tolist() for row in found.rows]

    before = table.look_up(["was", "born", "in"])
    expected = tokens(before)
    table.look_up(["she", "lives", "there", "in"])
    assert tokens(before) == expected
