"""The plots of the concept pages, drawn from the package's own functions."""

import random
from collections.abc import Iterator, Sequence
from statistics import quantiles

import numpy as np
import torch

from tools.docs.drawing import FAINT, INK, Line, draw, look, new_axes, svg
from unnoted.data.document import Document
from unnoted.data.hide_labels import DOCRED_LABEL_FREQUENCY, PopularityBiased, hide_labels
from unnoted.data.synthetic import generate_documents
from unnoted.evaluation import Score
from unnoted.losses import DecisionRule, Link, ScoreDecoder
from unnoted.losses.pu import CORRECTIONS, LogSigmoidRanking, SquaredRanking, Surrogate
from unnoted.priors import Priors


def plots() -> dict[str, str]:
    """Every plot as SVG, by its path below `docs/`."""
    drawn = {
        "multiplier": multiplier_estimates,
        "prior-shift": prior_shift,
        "corrections": corrections,
        "losses": losses,
        "minimisers": minimisers,
        "probabilities": probabilities,
        "incomplete-evaluation": incomplete_evaluation,
    }
    return {f"concepts/{name}.svg": draw() for name, draw in drawn.items()}


def multiplier_estimates() -> str:
    """What a sample of completely labelled documents says about the multiplier, by its size."""
    truth = list(generate_documents(1_000, seed=0))
    labelled = list(hide_labels(truth, PopularityBiased.fit(truth, DOCRED_LABEL_FREQUENCY), seed=0))
    counts = [(len(all_of.facts), len(some.facts)) for all_of, some in zip(truth, labelled, strict=True)]
    sizes = (5, 10, 20, 40, 80, 160)
    bands = [quantiles(_estimates(counts, size), n=20) for size in sizes]
    low, high = [band[0] for band in bands], [band[-1] for band in bands]
    whole = sum(true for true, _ in counts) / sum(noted for _, noted in counts)
    figure, axes = new_axes("documents labelled completely", "true facts per labelled fact")
    axes.set(xscale="log", xlim=(sizes[0], sizes[-1]), xticks=sizes, xticklabels=map(str, sizes))
    axes.minorticks_off()
    axes.fill_between(sizes, low, high, color=look(1)["color"], alpha=FAINT, linewidth=0)
    lines: list[Line] = [
        ("all 1,000 documents", [sizes[0], sizes[-1]], [whole, whole]),
        ("samples: nine in ten lie between the lines", sizes, low),
    ]
    draw(figure, axes, lines, columns=1)
    axes.plot(sizes, high, **look(1))
    return svg(figure, f"Estimates of the multiplier: {whole:.2f} over all documents.")


def _estimates(counts: Sequence[tuple[int, int]], size: int, times: int = 400) -> Iterator[float]:
    drawing = random.Random(size)
    for _ in range(times):
        sample = drawing.sample(counts, size)
        yield sum(true for true, _ in sample) / max(sum(noted for _, noted in sample), 1)


def prior_shift() -> str:
    """How often a relation holds among unlabelled pairs, and what each estimator assumes."""
    overall = 0.3
    shares = np.linspace(0, 1, 101)
    priors = Priors(tuple(map(str, range(101))), tuple(overall * shares), (overall,) * 101)
    figure, axes = new_axes("true facts that are labelled (%)", "unlabelled pairs assumed true (%)")
    axes.set(xlim=(0, 100), ylim=(-1, 34))
    lines: list[Line] = [
        ("PN: none", 100 * shares, np.zeros(101)),
        ("S-PU, and the truth: π_u", 100 * shares, 100 * np.array(priors.unlabelled)),
        ("PU: as many as of all pairs", 100 * shares, np.full(101, 100 * overall)),
    ]
    return svg(draw(figure, axes, lines, columns=1), "Prior of unlabelled pairs over the labelled share.")


def corrections() -> str:
    """The loss of a class over its negative part, under each correction."""
    negative = torch.tensor([-1.0, -1e-9, 0.0, 1.0], dtype=torch.float64)
    positive = torch.full_like(negative, 0.5)
    figure, axes = new_axes("negative part, as estimated", "loss of the class")
    axes.axvline(0, color=INK, alpha=FAINT, linewidth=0.9)
    lines: list[Line] = [
        (title, negative.numpy(), CORRECTIONS[name](positive, negative).numpy())
        for name, title in (("none", "none: the sum"), ("clamp", "clamp: max(0, ·)"), ("flip", "flip"))
    ]
    return svg(draw(figure, axes, lines, columns=3), "Loss over the negative part, by correction.")


def losses() -> str:
    """The loss of a score if its relation holds, and if it does not."""
    above = torch.linspace(-1.5, 1.5, 121, dtype=torch.float64)
    figure, axes = new_axes("f_i − f_0", "loss")
    axes.set(xlim=(-1.5, 1.5), ylim=(0, 1.0))
    surrogates: dict[str, Surrogate] = {
        "squared ranking, margin 0.25": SquaredRanking(0.25),
        "squared ranking, margin 1": SquaredRanking(1.0),
        "log-sigmoid ranking": LogSigmoidRanking(),
    }
    lines: list[Line] = [
        (title, above.numpy(), surrogate(_scores(above))[0][:, 0].numpy())
        for title, surrogate in surrogates.items()
    ]
    return svg(draw(figure, axes, lines, columns=1), "Losses of a relation that holds, over f_i − f_0.")


def minimisers() -> str:
    """The difference of scores with the least expected loss, over the probability, found by search."""
    above = torch.linspace(-1.2, 1.2, 2_401, dtype=torch.float64)
    chances = torch.linspace(0, 1, 41, dtype=torch.float64)
    figure, axes = new_axes("probability that the relation holds", "f_i − f_0 with the least expected loss")
    axes.axhline(0, color=INK, alpha=FAINT, linewidth=0.9)
    axes.set(xlim=(0, 1))
    lines: list[Line] = []
    for margin in (1.0, 0.25, 0.1, 0.0):
        if_positive, if_negative = (loss[:, 0] for loss in SquaredRanking(margin)(_scores(above)))
        expected = chances[:, None] * if_positive + (1 - chances[:, None]) * if_negative  # [chances, scores]
        lines.append((f"margin {margin:g}", chances.numpy(), above[expected.argmin(1)].numpy()))
    return svg(draw(figure, axes, lines, columns=2), "Minimisers of the squared ranking loss, by margin.")


def probabilities() -> str:
    """The probability computed from f_i − f_0, for relations of different priors."""
    margin = 0.25
    above = torch.linspace(-margin, margin, 101, dtype=torch.float64)
    link = Link("ranking-margin", margin)
    figure, axes = new_axes("f_i − f_0, at a margin of 0.25", "probability that the relation holds")
    axes.axvline(0, color=INK, alpha=FAINT, linewidth=0.9)
    axes.set(xlim=(-margin, margin), ylim=(-0.02, 1.02))
    lines: list[Line] = []
    for prior in (0.5, 0.1, 0.01, 0.001):
        priors = Priors(("relation",), (prior,), (prior,))
        decoder = ScoreDecoder(DecisionRule(), link, priors, class_weighted=True)
        lines.append((f"prior {prior:g}", above.numpy(), decoder.probabilities(_scores(above))[:, 0].numpy()))
    return svg(draw(figure, axes, lines, columns=2), "Probability over f_i − f_0, by prior.")


def incomplete_evaluation() -> str:
    """Two systems that do not change, scored against fewer and fewer labels."""
    truth = list(generate_documents(300, seed=1))
    everything = _facts(truth)
    systems = {
        "predicts what annotators would label": _facts(
            hide_labels(truth, PopularityBiased.fit(truth, 0.35), seed=7)
        ),
        "predicts 80 % of all facts; 2 in 5 predictions are wrong": _stated(
            everything, share=0.8, precision=0.6
        ),
    }
    shares = np.linspace(0.1, 1, 10)
    golds = [
        _facts(hide_labels(truth, PopularityBiased.fit(truth, float(share)), seed=3)) for share in shares
    ]
    figure, axes = new_axes("true facts that are labelled (%)", "F1 against the labels (%)")
    axes.set(xlim=(10, 100), ylim=(0, 100))
    lines: list[Line] = [
        (title, 100 * shares, [100 * Score.of(stated, gold).f1 for gold in golds])
        for title, stated in systems.items()
    ]
    return svg(draw(figure, axes, lines, columns=1), "F1 of two systems against fewer labels.")


def _facts(documents: Iterator[Document] | Sequence[Document]) -> set[tuple[object, ...]]:
    return {(document.id, *fact.triple) for document in documents for fact in document.facts}


def _stated(everything: set[tuple[object, ...]], share: float, precision: float) -> set[tuple[object, ...]]:
    """A share of the true facts, and false ones beside them."""
    right = random.Random(0).sample(sorted(everything, key=str), round(share * len(everything)))
    wrong = round(len(right) * (1 / precision - 1))
    return {*right, *(("false", number) for number in range(wrong))}


def _scores(above: torch.Tensor) -> torch.Tensor:
    """Scores [P, 2] of the none class, 0, and of a relation so far above it."""
    return torch.stack([torch.zeros_like(above), above], dim=1)
