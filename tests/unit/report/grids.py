"""Tables of runs without any training: figures as they might have been, counted from made-up documents."""

import hashlib
from dataclasses import replace
from functools import cache

import numpy as np

from unnoted.evaluation import IgnScore, Score, paired_bootstrap
from unnoted.experiments.columns import measured
from unnoted.experiments.results import Claim, Figure, RowResult, TableResult
from unnoted.training.record import Failure, Record, Scored

RELATIONS = 40
DOCUMENTS = 60
TRAIN_DOCUMENTS = 3053
SETTINGS = {
    "train": ["train.json"],
    "encoder": "small",
    "architecture": "atlop",
    "epochs": 8,
    "prior_multiplier": None,
    "margin": None,
}


@cache
def world():
    """True facts of each relation in each test document, and what share of each relation gets labelled."""
    random = np.random.default_rng(1)
    often = 30 / np.arange(1, RELATIONS + 1) ** 1.1 / 4.3
    gold = random.poisson(often, size=(DOCUMENTS, RELATIONS))  # [documents, relations]
    shares = np.clip(np.exp(random.normal(-1.0, 0.7, RELATIONS)), 0.05, 1.0)
    shares[-1] = 0.0  # one relation is never labelled
    return gold, shares


def scored(recall, precision, seed, even):
    """Figures of a model; the more even, the less its recall follows the labels."""
    gold, shares = world()
    random = np.random.default_rng(seed)
    found = recall * (shares / shares.mean()) ** (1 - even) if even < 1 else np.full(RELATIONS, recall)
    correct = random.binomial(gold, np.clip(found, 0, 0.97))
    wrong = random.poisson(correct.mean(axis=0) * (1 / precision - 1), size=gold.shape)
    known = random.binomial(correct, 0.05)

    def score(*axes):
        return correct.sum(axes), (correct + wrong).sum(axes), gold.sum(axes)

    overall = Score(*map(int, score(0, 1)))
    recalls = np.linspace(0.01, min(1.0, overall.recall * 1.6), 200)
    start = 1 - 0.1 * (1 - overall.precision)
    precisions = np.maximum(start - (start - overall.precision) * (recalls / overall.recall) ** 3, 0.05)
    return Scored(
        overall=overall,
        ignoring_train=IgnScore(overall, int(known.sum())),
        frequent=overall,
        reachable=None,
        reachable_frequent=None,
        relations={
            f"R{index:02}": Score(*map(int, counts))
            for index, counts in enumerate(zip(*score(0), strict=True))
        },
        documents={
            f"document {index}": IgnScore(Score(*map(int, counts)), int(known[index].sum()))
            for index, counts in enumerate(zip(*score(1), strict=True))
        },
        curve=tuple((float(r), float(p)) for r, p in zip(recalls, precisions, strict=True)),
        average_precision=float(np.trapezoid(precisions, recalls)),
        best_f1=float(np.max(2 * precisions * recalls / (precisions + recalls))),
    )


def record(recall, precision, seed=62, even=0.5, labels=1.0, **changes):
    """A finished run; `labels` is a share of the usual labels, `changes` are settings."""
    gold, shares = world()
    settings = SETTINGS | {"seed": seed, "output": f"runs/{seed}"} | changes
    described = repr((recall, precision, seed, labels, sorted(changes.items())))
    facts = (gold.sum(0) / DOCUMENTS * shares * TRAIN_DOCUMENTS * labels).round().astype(int)
    return Record(
        address=hashlib.sha256(described.encode()).hexdigest()[:16],
        settings=settings,
        seconds=700.0 + seed,
        train_documents=TRAIN_DOCUMENTS,
        train_facts={f"R{index:02}": int(count) for index, count in enumerate(facts) if count},
        scored={"test": scored(recall, precision, seed, even)},
    )


def row(name, title, group, columns, published, records, **rest):
    """A row; published figures are (mean, deviation) in the order of the columns."""
    return RowResult(
        name,
        title,
        group,
        {column: Figure(*figure) for column, figure in zip(columns, published, strict=False)},
        measured(records, columns),
        tuple(records),
        **rest,
    )


def claim(better, than):
    first, second = (
        [{name: ign.score for name, ign in each.scored["test"].documents.items()} for each in chosen.records]
        for chosen in (better, than)
    )
    found = paired_bootstrap(first, second, 300)
    return Claim(better.name, than.name, found.difference, found.low, found.high, found.share, seeds=3)


LOSSES = {
    "atlop": ("ATLOP", 0.28, 0.90, 0.0),
    "pn": ("PN+ATLOP", 0.38, 0.76, 0.2),
    "sr-pn": ("SR-PN+ATLOP", 0.39, 0.82, 0.2),
    "pu": ("PU+ATLOP", 0.47, 0.57, 0.6),
    "sr-pu": ("SR-PU+ATLOP", 0.48, 0.62, 0.6),
    "s-pu": ("S-PU+ATLOP", 0.46, 0.65, 0.7),
    "ssr-pu": ("SSR-PU+ATLOP", 0.465, 0.70, 0.8),
}
PUBLISHED = {
    "atlop": ((43.12, 0.24), (43.25, 0.25), (92.49, 0.33), (28.23, 0.23)),
    "pn": ((51.11, 0.49), (51.68, 0.40), (77.55, 3.10), (38.79, 0.49)),
    "sr-pn": ((52.70, 0.28), (53.10, 0.26), (83.76, 0.49), (38.87, 0.23)),
    "pu": ((51.80, 1.11), (53.14, 1.01), (58.81, 2.41), (48.15, 0.14)),
    "sr-pu": ((53.87, 0.27), (55.06, 0.25), (63.42, 0.64), (48.66, 0.11)),
    "s-pu": ((53.36, 1.22), (54.44, 1.12), (65.95, 2.84), (46.38, 0.22)),
    "ssr-pu": ((55.21, 0.12), (56.14, 0.12), (70.42, 0.18), (46.67, 0.14)),
}


@cache
def methods_table():
    """Like table1: a baseline, seven methods, one of them failed, and a group that was not run."""
    columns = ("Ign F1", "F1", "P", "R")
    rows = [
        row("bilstm", "BiLSTM", "other models", columns, [(32.57, 0.22), (32.86, 0.22), (77.04, 1.01), (20.89, 0.17)],
            [record(0.2, 0.75, architecture="bilstm", encoder="lstm", loss="cross-entropy")], mark="own"),
    ]  # fmt: skip
    for method, (title, recall, precision, even) in LOSSES.items():
        seeds = (62, 63, 64) if method in ("atlop", "ssr-pu") else (62,)
        records = [record(recall, precision, seed, even, loss=method) for seed in seeds]
        rows.append(
            row(method, f"{title}+BERT-base", "BERT-base", columns, PUBLISHED[method], records,
                mark="own" if method == "atlop" else "")
        )  # fmt: skip
    failure = Failure("0123456789abcdef", "RuntimeError: the loss is not a number at step 120")
    rows[5] = replace(rows[5], records=(), measured={}, failures=(failure,))
    rows.append(
        row("ssr-pu-large", "SSR-PU+ATLOP+RoBERTa-large", "RoBERTa-large", columns,
            [(58.68, 0.43), (59.50, 0.45), (74.21, 0.53), (49.67, 0.77)], [])
    )  # fmt: skip
    notes = (
        "encoder: small instead of bert-base-cased",
        "epochs: 8 instead of 30",
        "test documents: dev_revised.json instead of test_revised.json",
        "rows of RoBERTa-large: run once, as those of BERT-base",
    )
    best = rows[7]
    claims = tuple(claim(best, other) for other in rows[:7] if other.records)
    return TableResult(
        "table1", "DocRED with its original labels, scored on the revised test set", columns, tuple(rows), notes, claims
    )  # fmt: skip


@cache
def margin_table():
    """Like table8."""
    columns = ("Ign F1", "F1")
    figures = {
        0: (0.18, 0.20),
        0.1: (55.76, 56.81),
        0.25: (55.43, 56.36),
        0.5: (55.27, 56.19),
        1.0: (54.25, 55.24),
    }
    reached = {0: (0.004, 0.1), 0.1: (0.47, 0.69), 0.25: (0.465, 0.70), 0.5: (0.45, 0.71), 1.0: (0.43, 0.72)}
    rows = [
        row(f"margin-{value:g}", f"SSR-PU margin={value:g}", "BERT-base", columns, [(each,) for each in published],
            [record(*reached[value], even=0.8, loss="ssr-pu", margin=value, prior_multiplier=3.0)])
        for value, published in figures.items()
    ]  # fmt: skip
    return TableResult(
        "table8", "SSR-PU with different margins", columns, tuple(rows), ("epochs: 8 instead of 30",)
    )


@cache
def prior_table():
    """Like table9, with two seeds for each."""
    columns = ("F1", "P", "R")
    figures = {2: (55.44, 78.98, 42.71), 3: (56.36, 70.53, 46.93), 4: (54.74, 61.45, 49.35)}
    reached = {2: (0.40, 0.76), 3: (0.44, 0.68), 4: (0.46, 0.60)}
    rows = [
        row(f"prior-{value}", f"SSR-PU prior ×{value}", "BERT-base", columns, [(each,) for each in published],
            [record(*reached[value], seed, 0.8, loss="ssr-pu", margin=0.25, prior_multiplier=value)
             for seed in (62, 63)])
        for value, published in figures.items()
    ]  # fmt: skip
    return TableResult("table9", "SSR-PU with different priors", columns, tuple(rows))


LEVELS = {"10 % of labels": 0.1, "25 % of labels": 0.25, "50 % of labels": 0.5, "all labels": 1.0}


@cache
def levels_table():
    """Like a comparison of two methods at four levels; nothing was published."""
    columns = ("F1", "P", "R")
    reached = {
        "atlop": ((0.05, 0.9), (0.13, 0.9), (0.2, 0.88), (0.29, 0.87)),
        "ssr-pu": ((0.25, 0.5), (0.33, 0.58), (0.4, 0.63), (0.45, 0.68)),
    }
    rows = [
        row(f"{method}-{level}", LOSSES[method][0], level, columns, (),
            [record(*reached[method][place], even=LOSSES[method][3], labels=share, loss=method,
                    train=[f"{share}.jsonl"], encoder="mine")])
        for place, (level, share) in enumerate(LEVELS.items())
        for method in reached
    ]  # fmt: skip
    return TableResult("compare", "ATLOP and SSR-PU on my documents", columns, tuple(rows))


@cache
def extreme_table():
    """Like table3: the methods of table1 where fewer facts are labelled."""
    columns = ("Ign F1", "F1")
    published = {"atlop": (16.99, 17.01), "ssr-pu": (46.47, 47.24)}
    reached = {"atlop": (0.1, 0.93), "ssr-pu": (0.4, 0.55)}
    rows = [
        row(method, f"{LOSSES[method][0]}+BERT-base", "BERT-base", columns, [(each,) for each in published[method]],
            [record(*reached[method], even=LOSSES[method][3], labels=0.43, loss=method, train=["extreme.jsonl"])])
        for method in published
    ]  # fmt: skip
    return TableResult("table3", "DocRED with at most one label of each relation", columns, tuple(rows))


def all_tables():
    return methods_table(), extreme_table(), margin_table(), prior_table(), levels_table()
