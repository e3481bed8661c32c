"""Records without any training, a pool that hands them out, and a folder of data sets to plan tables on."""

import json
from concurrent.futures import Future

from unnoted.data.formats import write_documents
from unnoted.data.synthetic import generate_documents, relation_names
from unnoted.evaluation import IgnScore, Score
from unnoted.training.record import Failure, Record, Scored


def scored(correct=30, predicted=60, gold=100, reachable=None):
    """Figures on ten documents with equal shares of the facts."""
    each = IgnScore(Score(correct // 10, predicted // 10, gold // 10), 0)
    overall = Score(correct, predicted, gold)
    return Scored(
        overall=overall,
        ignoring_train=IgnScore(overall, 10),
        frequent=Score(10, 40, 50),
        reachable=reachable,
        reachable_frequent=None if reachable is None else Score(15, 20, 45),
        relations={"P17": overall},
        documents={f"d{number}": each for number in range(10)},
        curve=((0.1, 0.9), (0.3, 0.5)),
        average_precision=0.4,
        best_f1=0.5,
    )


def record(address="0" * 16, settings=None, train_documents=8, **sets):
    """A finished run; by default with a test set."""
    return Record(address, settings or {}, 12.0, train_documents, {"P17": 20}, sets or {"test": scored()})


class MadeUpPool:
    """Ends every run at once with what a function says of its settings: correct predictions, or an error."""

    room = 1

    def __init__(self, correct):
        self.correct = correct
        self.performed = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, settings):
        self.performed.append(settings)
        address, ended = settings.output.name, Future()
        try:
            sets = dict.fromkeys(settings.test, scored(self.correct(settings)))
            ended.set_result(record(address, settings.to_json(), **sets))
        except ZeroDivisionError as error:
            ended.set_result(Failure(address, str(error)))
        return ended


def docred_folder(folder, documents=6):
    """A data set under DocRED's names, as it lies in one folder; without a test set and `train_ext.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = list(generate_documents(documents))
    for name in ("train_annotated.json", "train_revised.json", "dev_revised.json"):
        write_documents(folder / name, made)
    (folder / "rel_info.json").write_text(json.dumps(dict(relation_names())), "utf-8")
    return folder
