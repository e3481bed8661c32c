"""Relation extraction over whole documents, learnt from incomplete labels.

The packages, in the order in which data walks through them:

    utils         helpers of every package
    progress      how far long work is
    errors        located errors of data
    io            files in and out: limits, locks, atomic writes
    configs       settings files, and those of the package
    priors        how often each relation holds
    data          documents, file formats, hiding labels, a generated corpus
    rules         written rules: closure of labels, propagation of predictions
    calibration   from scores to probabilities, and the decision threshold
    losses        positive-unlabelled and supervised losses, and how their scores decide
    models        encoder, architectures, the model that is saved and loaded
    inference     facts from documents
    evaluation    scores of the benchmarks, breakdowns, curves
    training      config, trainer, cross-validation, runs
    suggestions   missing labels, ranked for review; how complete the labels are
    web           what web applications share: token, host, headers
    review        suggestions decided in a browser, and the corpus corrected
    serve         a model as a web service
    experiments   the paper's tables, comparisons, the demonstration
    integrations  spaCy, LlamaIndex, LangChain
    cli           the commands

A package imports only from those above it. The names below are loaded when they are first used, so that
commands that only read documents do not wait for torch.

Example:
    >>> import unnoted
    >>> unnoted.load_documents.__module__
    'unnoted.data.loading'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str

    from unnoted.data import Corpus, Document, Entity, Fact, Mention, load_documents, stream_documents
    from unnoted.evaluation import evaluate
    from unnoted.inference import Extractor
    from unnoted.losses import ATLOP, PN, PU, SPU, SRPN, SRPU, SSRPU
    from unnoted.models.features import featurise
    from unnoted.models.model import RelationModel
    from unnoted.training import Trainer, train

_PACKAGES = {
    "data": ("Corpus", "Document", "Entity", "Fact", "Mention", "load_documents", "stream_documents"),
    "losses": ("ATLOP", "PN", "PU", "SPU", "SRPN", "SRPU", "SSRPU"),
    "models.features": ("featurise",),
    "models.model": ("RelationModel",),
    "inference": ("Extractor",),
    "evaluation": ("evaluate",),
    "training": ("Trainer", "train"),
    "suggestions.suggest": ("suggest",),
}

__all__ = [
    "ATLOP",
    "PN",
    "PU",
    "SPU",
    "SRPN",
    "SRPU",
    "SSRPU",
    "Corpus",
    "Document",
    "Entity",
    "Extractor",
    "Fact",
    "Mention",
    "RelationModel",
    "Trainer",
    "evaluate",
    "featurise",
    "load_documents",
    "stream_documents",
    "suggest",
    "train",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    for package, names in _PACKAGES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{package}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
