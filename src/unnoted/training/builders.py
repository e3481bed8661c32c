"""From a configuration to what a run is made of: documents, labels, priors, a model, a loss."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformers import set_seed

from unnoted.data.candidates import CandidatePairs, labelled_candidates, list_types
from unnoted.data.corpus import Corpus, RelationVocabulary
from unnoted.data.document import Document
from unnoted.data.loading import load_documents, require_facts
from unnoted.errors import Severity
from unnoted.losses import Loss, create_loss
from unnoted.models.encoders import ENCODER_KINDS, make_encoder
from unnoted.models.model import RelationModel
from unnoted.priors import Priors
from unnoted.rules import RuleSet, deductive_closure, load_rules
from unnoted.training.config import LABELLED, EncoderOptions, TrainingConfig
from unnoted.utils import plural

Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The training documents, read once.

    Attributes:
        config: of the run.
        corpus: with the labels that are trained on: those of the file, closed under the rules.
        documents: with the labels of the file alone.
        multiplier: true facts for each label of `corpus`; None where priors come from a file, or are not used.
    """

    config: TrainingConfig
    corpus: Corpus
    documents: tuple[Document, ...]
    multiplier: float | None

    def priors(self, part: Corpus | None = None) -> Priors | None:
        """The priors for all documents, or for a part of them; None for a loss without priors."""
        corpus = self.corpus if part is None else part
        labelled, file = corpus.labelled_priors, self.config.loss.prior_file
        if file is not None:
            priors = Priors.from_file(file, labelled)
        elif self.multiplier is not None:
            priors = labelled * self.multiplier
        else:
            return None
        corpus.check_priors(priors)
        return priors


def load_training_data(config: TrainingConfig, log: Log = lambda line: None) -> TrainingData:
    """Read the training documents and close their labels under the rules, if there are any."""
    corpus = load_corpus(config, config.train, log)
    require_facts(len(corpus), sum(len(document.labels) for document in corpus), config.train)
    counts = {kind: count for kind, count in corpus.log.counts.items() if kind.severity is Severity.DEFECT}
    if counts:
        kinds = ", ".join(f"{count} {kind.slug}" for kind, count in counts.items())
        log(f"note: {plural(sum(counts.values()), 'defect')} ({kinds}); `unnoted data check` lists them")
    return close_labels(config, corpus, log)


def close_labels(config: TrainingConfig, corpus: Corpus, log: Log = lambda line: None) -> TrainingData:
    """Close the labels of documents under the rules of the configuration.

    The multiplier is that of the labels of the file; the deductive closure lacks fewer facts, and its multiplier is smaller.
    """
    documents, labels = corpus.documents, sum(len(document.labels) for document in corpus)
    multiplier, rules = config.loss.prior_multiplier, build_rules(config, corpus, log)
    if rules is not None:
        closed = deductive_closure(corpus, rules)
        added = sum(len(each.derived) for each in closed)
        log(f"labels closed: {plural(len(rules), 'rule')} added {plural(added, 'fact')}")
        if multiplier is not None and labels:
            multiplier = max(1.0, multiplier * labels / (labels + added))
        corpus = Corpus(tuple(each.document for each in closed), corpus.relations, corpus.candidates)
    return TrainingData(config, corpus, documents, multiplier)


def load_corpus(config: TrainingConfig, files: Sequence[Path], log: Log = lambda line: None) -> Corpus:
    """Documents with the relations and candidate pairs of the configuration, or those that occur."""
    vocabulary = None
    if config.model.init_from is not None:
        vocabulary = RelationModel.from_pretrained(config.model.init_from).relations
    elif config.data.vocabulary is not None:
        vocabulary = RelationVocabulary.from_file(config.data.vocabulary)
    wanted = config.data.candidates
    if wanted == LABELLED:
        corpus = load_documents(*files, vocabulary=vocabulary)
        found = labelled_candidates(corpus)
        if found is None:
            log("candidates: all pairs, because the labels are too few to tell which types are related")
        return corpus if found is None else replace(corpus, candidates=found)
    candidates = None if wanted is None else CandidatePairs.parse(wanted)
    corpus = load_documents(*files, vocabulary=vocabulary, candidates=candidates)
    if candidates is not None and corpus.entity_types and not any(map(candidates.count, corpus)):
        raise ValueError(
            f"data.candidates: no pair of {wanted!r} in the documents, whose types are {list_types(corpus.entity_types)}"
        )
    return corpus


def build_rules(config: TrainingConfig, corpus: Corpus, log: Log = lambda line: None) -> RuleSet | None:
    """The rules of the configuration that are about relations of these documents."""
    return None if config.data.rules is None else load_rules(config.data.rules, corpus.relations, log)


def build_loss(config: TrainingConfig, priors: Priors | None) -> Loss:
    """The loss of the configuration."""
    return create_loss(config.loss.name, priors, **config.loss.options)


def build_model(config: TrainingConfig, corpus: Corpus, log: Log = lambda line: None) -> RelationModel:
    """A new model for documents, or the trained one to start from."""
    model = config.model
    if model.init_from is not None:
        log(f"starting from the weights of {model.init_from}")
        return RelationModel.from_pretrained(model.init_from)
    markers, types = model.markers, tuple(filter(None, corpus.entity_types))
    if not types:
        log("the documents have no entity types: mentions have plain markers, and all pairs one type bias")
        markers = "plain" if markers == "typed" else markers
    with _encoder_folder(config, corpus, log) as encoder:
        # Before new layers are made: their first weights are random.
        set_seed(config.seed)
        return RelationModel.from_encoder(
            encoder,
            corpus.relations,
            encoder_layers=model.encoder_layers,
            architecture=model.architecture,
            architecture_options=model.options,
            entity_types=types,
            embedding=model.embedding,
            block=choose_block(model.embedding),
            markers=markers != "none",
            typed_markers=markers == "typed",
            use_type_bias=model.use_type_bias,
            lexical_weight=model.lexical_weight,
            candidates=corpus.candidates,
            rules=build_rules(config, corpus),
        )


def choose_block(embedding: int) -> int:
    """The size of a block of the grouped bilinear: the largest divisor of the embedding up to 64, as published.

    Example:
        >>> choose_block(768), choose_block(100), choose_block(8)
        (64, 50, 8)
    """
    return next(size for size in range(64, 0, -1) if embedding % size == 0)


def trainer_options(config: TrainingConfig) -> dict[str, Any]:
    """The arguments of `Trainer` that follow from the configuration alone."""
    return {
        "optimizer": config.optimizer,
        "evidence_weight": config.loss.evidence_weight,
        "entity_recognition_weight": config.loss.entity_recognition_weight,
        "typed_relations": config.model.typed_relations,
        "seed": config.seed,
    }


@contextmanager
def _encoder_folder(config: TrainingConfig, corpus: Corpus, log: Log) -> Iterator[str]:
    """Where the encoder is, or its name on the hub; one that is made is there for a while only."""
    encoder = str(config.model.encoder)
    if encoder not in ENCODER_KINDS:
        yield encoder
        return
    options = EncoderOptions.checked(config.model.encoder_options)
    with TemporaryDirectory() as folder:
        made = make_encoder(
            Path(folder),
            corpus,
            config=ENCODER_KINDS[encoder](),
            vectors=options.vectors,
            tokenizer=options.tokenizer,
            seed=config.seed,
        )
        log(f"note: encoder made: {made}")
        yield folder
