"""From settings to what a training is made of: documents, priors, a risk, a new model."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from transformers import set_seed

from unnoted.common.errors import Severity
from unnoted.common.wording import counted
from unnoted.documents import candidates as candidate_rules
from unnoted.documents.corpus import Corpus
from unnoted.documents.loading import load_documents
from unnoted.documents.relations import RelationVocabulary
from unnoted.encoders import ENCODER_KINDS, make_encoder
from unnoted.encoders.making import SUBWORD_VOCABULARY
from unnoted.encoders.own_tokenizers import WORDS
from unnoted.model import RelationModel
from unnoted.priors import Priors
from unnoted.risks import Risk, loss_named
from unnoted.training.settings import Settings


def load_corpus(settings: Settings, files: Sequence[Path]) -> Corpus:
    """Documents, with the relations and candidate pairs that the settings say, or that occur."""
    vocabulary = None if settings.vocabulary is None else RelationVocabulary.from_file(settings.vocabulary)
    rule = None if settings.candidates is None else candidate_rules.parse(settings.candidates)
    return load_documents(*files, vocabulary=vocabulary, candidates=rule)


def model_of(settings: Settings, corpus: Corpus, tell: Callable[[str], None]) -> RelationModel:
    """A new model for the relations, entity types and candidate pairs of documents."""
    with encoder_folder(settings, corpus, tell) as encoder:
        # Before the new layers are made: their first weights are random.
        set_seed(settings.seed)
        return RelationModel.from_encoder(
            encoder,
            corpus.relations,
            encoder_layers=settings.encoder_layers,
            architecture=settings.architecture,
            architecture_options=settings.architecture_options,
            entity_types=corpus.entity_types,
            embedding=settings.embedding,
            block=settings.block,
            fast_dropout=settings.fast_dropout,
            row_dropout=settings.row_dropout,
            markers=settings.markers,
            typed_markers=settings.typed_markers,
            type_bias=settings.start == "types",
            candidates=corpus.candidates,
        )


@contextmanager
def encoder_folder(settings: Settings, corpus: Corpus, tell: Callable[[str], None]) -> Iterator[str]:
    """Where the encoder is, or its name on the hub; one that is to be made is there only for a while."""
    if settings.encoder not in ENCODER_KINDS:
        yield settings.encoder
        return
    with TemporaryDirectory() as folder:
        made = make_encoder(
            Path(folder),
            corpus,
            config=ENCODER_KINDS[settings.encoder](),
            vectors=settings.vectors,
            tokenizer=settings.tokenizer or WORDS,
            subwords=settings.subword_vocabulary or SUBWORD_VOCABULARY,
            seed=settings.seed,
        )
        tell(f"note: encoder made: {made}")
        yield folder


def priors_of(settings: Settings, corpus: Corpus) -> Priors | None:
    """The priors that the settings ask for, from the labels of these documents; None for a loss without."""
    priors = _asked_for(settings, corpus)
    if priors is not None:
        corpus.require_room(priors)
    return priors


def _asked_for(settings: Settings, corpus: Corpus) -> Priors | None:
    if settings.prior_file is not None:
        return Priors.from_file(settings.prior_file, corpus.labelled_priors)
    if settings.prior_multiplier is not None:
        return corpus.labelled_priors * settings.prior_multiplier
    if settings.priors is not None:
        return corpus.labelled_priors  # until cross-fitting has estimated them
    return None


def risk_of(settings: Settings, priors: Priors | None) -> Risk:
    """The risk that the settings ask for."""
    return loss_named(settings.loss)(priors, **settings.loss_options)


def tell_defects(corpus: Corpus, tell: Callable[[str], None]) -> None:
    """Say what was met in reading, in one line."""
    counts = {kind: count for kind, count in corpus.log.counts.items() if kind.severity is Severity.DEFECT}
    if counts:
        kinds = ", ".join(f"{count} {kind.slug}" for kind, count in counts.items())
        defects = counted(sum(counts.values()), "defect")
        tell(f"note: {defects} found ({kinds}); `unnoted data check` lists them")
