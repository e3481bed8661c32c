"""Relation extraction over whole documents, learnt from incomplete labels.

The folders are the walk of the data:

    common        what every room uses: located errors, atomic files, lookup by name, locks
    configs       published settings by name, and settings files of your own
    priors        how often each relation holds
    documents     what a document is; formats, labelling levels, a generated corpus
    features      documents → token ids, mention positions, candidate pairs, labels; batches
    kernels       what makes a CPU fast, each beside its plain twin
    encoders      token states, and the attention rows that pairs need
    pairs         what represents a pair of entities
    scores        a score for every relation and the none class
    architectures pairs and scores joined, by name
    calibration   from margins to probabilities, and where the line is drawn
    risks         what is minimised, and what the scores then mean
    saved         what a saved model's folder must be before it is believed
    model_card    what a model is, what it was trained on, and where it must not be trusted
    model         encoder → pairs → scores, saved and loaded
    extraction    facts from documents, with confidences, probabilities and supporting sentences
    spacy_component  `nlp.add_pipe("unnoted")`
    evaluation    plain scores and those of the benchmarks, breakdowns, curves
    training      settings, the trainer, checkpoints, and the runner: settings → record
    experiments   the paper's tables, comparisons and the demonstration as lists of runs
    report        tables, plots and pages, made from records and documents
    suggest       which labels are missing, in which order to review them, how complete they are
    review        suggestions decided in a browser, and the corpus mended with what was decided
    serve         a model as a web service, and a page to try it on
    cli           the commands

A room imports only from rooms above it. The names below are loaded when they are first used, so that commands
that only read documents do not wait for torch.

Example:
    >>> import unnoted
    >>> unnoted.load_documents.__module__
    'unnoted.documents.loading'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str

    from unnoted.documents import Corpus, Document, Entity, Fact, Mention, load_documents, stream_documents
    from unnoted.evaluation import evaluate
    from unnoted.extraction import Extractor
    from unnoted.features import featurise
    from unnoted.model import RelationModel
    from unnoted.risks import ATLOP, PN, PU, SPU, SRPN, SRPU, SSRPU
    from unnoted.training import Trainer

_ROOMS = {
    "documents": ("Corpus", "Document", "Entity", "Fact", "Mention", "load_documents", "stream_documents"),
    "features": ("featurise",),
    "risks": ("ATLOP", "PN", "PU", "SPU", "SRPN", "SRPU", "SSRPU"),
    "model": ("RelationModel",),
    "extraction": ("Extractor",),
    "evaluation": ("evaluate",),
    "training": ("Trainer",),
    "suggest": ("suggest",),
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
]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name == "suggest":  # the room itself, which can be called: importing it takes this name in any case
        return import_module(f"{__name__}.suggest")
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{room}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
