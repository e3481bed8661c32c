"""From settings to what a training is made of: documents, priors, a loss, a new model."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from transformers import set_seed

from unnoted.data.candidates import LABELLED, CandidatePairs, labelled_candidates, list_types
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.loading import load_documents
from unnoted.errors import Severity
from unnoted.losses import Loss, create_loss
from unnoted.models.encoders import ENCODER_KINDS, make_encoder
from unnoted.models.encoders.from_scratch import DEFAULT_SUBWORDS, WORDS
from unnoted.models.model import RelationModel
from unnoted.models.type_constraints import RelationTypes
from unnoted.priors import Priors
from unnoted.rules import RuleSet, load_rules
from unnoted.training.settings import Settings
from unnoted.utils import plural


def load_corpus(settings: Settings, files: Sequence[Path]) -> Corpus:
    """Documents, with the relations and candidate pairs that the settings say, or that occur."""
    vocabulary = None if settings.vocabulary is None else RelationVocabulary.from_file(settings.vocabulary)
    if settings.candidates == LABELLED:
        corpus = load_documents(*files, vocabulary=vocabulary)
        return replace(corpus, candidates=labelled_candidates(corpus) or corpus.candidates)
    rule = None if settings.candidates is None else CandidatePairs.parse(settings.candidates)
    corpus = load_documents(*files, vocabulary=vocabulary, candidates=rule)
    if rule is not None and corpus.entity_types and not any(map(rule.count, corpus)):
        expected = f"pairs of {list_types(corpus.entity_types)}"
        raise ValueError(f"candidates: found no pair for {settings.candidates!r}, expected {expected}")
    return corpus


def model_of(settings: Settings, corpus: Corpus, tell: Callable[[str], None]) -> RelationModel:
    """A new model for the relations, entity types and candidate pairs of documents, as they are trained on.

    With rules, labels are closed by then: else types would forbid a conclusion where nobody noted it.
    """
    if settings.init_from is not None:
        model = RelationModel.from_pretrained(settings.init_from)
        model.check_relations(corpus.relations.ids)
        tell(f"starting from the weights of {settings.init_from}")
        return model
    with encoder_folder(settings, corpus, tell) as encoder:
        # Before the new layers are made: their first weights are random.
        set_seed(settings.seed)
        model = RelationModel.from_encoder(
            encoder,
            corpus.relations,
            encoder_layers=settings.encoder_layers,
            architecture=settings.architecture,
            architecture_options=settings.architecture_options,
            entity_types=corpus.entity_types,
            embedding=settings.embedding,
            block=settings.block,
            fast_dropout=settings.fast_dropout,
            markers=settings.markers,
            typed_markers=settings.typed_markers,
            use_type_bias=settings.start == "types",
            lexical_weight=settings.lexical_weight,
            candidates=corpus.candidates,
            rules=rules_of(settings, corpus),
        )
    if settings.typed_relations:
        model.relation_types = RelationTypes.from_documents(corpus)
    return model


def rules_of(
    settings: Settings, corpus: Corpus, tell: Callable[[str], None] = lambda line: None
) -> RuleSet | None:
    """The rules that the settings name, as far as they are about the relations of these documents."""
    return None if settings.rules is None else load_rules(settings.rules, corpus.relations, tell)


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
            subwords=settings.subword_vocabulary or DEFAULT_SUBWORDS,
            seed=settings.seed,
        )
        tell(f"note: encoder made: {made}")
        yield folder


def make_loss(settings: Settings, priors: Priors | None) -> Loss:
    """The loss that the settings ask for."""
    return create_loss(settings.loss, priors, **settings.loss_options)


def tell_defects(corpus: Corpus, tell: Callable[[str], None]) -> None:
    """Say what was met in reading, in one line."""
    counts = {kind: count for kind, count in corpus.log.counts.items() if kind.severity is Severity.DEFECT}
    if counts:
        kinds = ", ".join(f"{count} {kind.slug}" for kind, count in counts.items())
        defects = plural(sum(counts.values()), "defect")
        tell(f"note: {defects} found ({kinds}); `unnoted data check` lists them")
