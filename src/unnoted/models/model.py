"""The model: encoder, pair encoder and head, with everything that is needed to use it elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor, nn
from transformers import AutoTokenizer, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from unnoted.data.candidates import CandidatePairs, JSONCandidates
from unnoted.data.corpus import RelationVocabulary
from unnoted.losses import DecisionRule, ScoreDecoder
from unnoted.losses.decoding import Link
from unnoted.models.architectures import ARCHITECTURES, ModelSizes, pair_logits
from unnoted.models.batch import Batch
from unnoted.models.encoders import DocumentEncoder, EncoderOutput, build_encoder, load_encoder
from unnoted.models.encoders.loading import (
    check_vocabulary,
    find_nonfinite,
    is_on_hub,
    load_tokenizer,
    resolve_folder,
)
from unnoted.models.lexical import LexicalModel
from unnoted.models.model_card import make_card, read_card, write_card
from unnoted.models.model_io import (
    CONFIG,
    MODEL_TYPE,
    TOKENIZER_FILES,
    ModelError,
    check_folder,
    write_model_checksums,
)
from unnoted.models.rule_propagation import RulePropagation
from unnoted.models.tokenization import DocumentTokenizer, use_typed_markers
from unnoted.models.type_constraints import FORBIDDEN, RelationTypes, TypeBias, TypeConstraints
from unnoted.rules import Rule, RuleSet
from unnoted.utils import lookup, quiet_transformers, wrap_errors

__all__ = ["ModelError", "RelationConfig", "RelationModel", "RelationOutput"]

Positive = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class RelationConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """Everything about a model but its weights, as JSON can hold it; files are validated against these types.

    Attributes:
        encoder_config: the encoder's own configuration, from which it is rebuilt.
        relations: the relation ids, in the order of the logits.
        relation_names: readable names of relations.
        relation_descriptions: what relations mean.
        entity_types: the entity types that the model tells apart.
        architecture: of the pair encoder and the head, one of `ARCHITECTURES`.
        architecture_options: the options of this architecture, by name.
        embedding: size of the embeddings of head and tail.
        block: size of a block of the grouped bilinear.
        markers: whether `*` stands before and after every mention.
        type_tokens: the tokens that open mentions in place of `*`, by the number of the type; None for `*`.
        use_type_bias: whether relations have a bias for the types of head and tail.
        lexical_weight: weight of the lexical model in the ensemble with the network; 0 for none.
        candidates: the candidate pairs, as `CandidatePairs.to_json` writes them.
        rules: that logits are propagated by in prediction, as `Rule.to_json` writes them.
        relation_types: the type pairs of each relation, as `RelationTypes.to_json` writes them; None where any
            relation may hold between any types.
        undertrained: how far training came if it ended before its warm-up did, in words.
        evidence_threshold: the share of a pair's attention from which a sentence supports a fact, for a model
            whose attention was guided by evidence.
        score_decoder: the decision rule and the link, as `ScoreDecoder.to_json` writes them; None before
            training.
    """

    model_type = MODEL_TYPE

    encoder_config: dict[str, Any] | None = None
    relations: list[str] | None = None
    relation_names: dict[str, str] | None = None
    relation_descriptions: dict[str, str] | None = None
    entity_types: list[str] | None = None
    architecture: str = "atlop"
    architecture_options: dict[str, Any] | None = None
    embedding: Positive = 768
    block: Positive = 64
    markers: bool = True
    type_tokens: list[int] | None = None
    use_type_bias: bool = False
    lexical_weight: Share = 0.0
    candidates: JSONCandidates = "all"
    rules: list[dict[str, Any]] | None = None
    relation_types: dict[str, Any] | None = None
    undertrained: str | None = None
    evidence_threshold: Share | None = None
    score_decoder: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RelationOutput:
    """What a model gives of the pairs of a batch.

    Everything that training needs beside the logits is here, so that no forward hook is: `encoded.states` for
    entity recognition, `encoded.entity_attention` for evidence, `pair_embeddings` for views of pairs.

    Attributes:
        logits: [P, K + 1], in float32 at least; column 0 is the threshold class, relation k is column k + 1.
        encoded: token states [D, T, d], and the attention of entities [E, H, T] if the architecture uses it.
        pair_embeddings: what the head scored, one tensor or two with a row for each pair, in training; None in
            prediction, and where there are so many pairs that they are scored in pieces.
        allowed: bool [P, K], the relations that types allow; None without `constraints`.
        rule: int16 [P, K], the number of the rule that raised a logit, or -1; None where no rules are applied.
    """

    logits: Tensor
    encoded: EncoderOutput
    pair_embeddings: tuple[Tensor, ...] | None = None
    allowed: Tensor | None = None
    rule: Tensor | None = None


class RelationModel(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Scores every relation, and the threshold class, for every candidate pair of a batch of documents.

    Made by `from_encoder` for training, by `from_pretrained` for use.

    Args:
        config: everything but the weights.
        encoder: with its weights; made from `config.encoder_config` by default.

    Attributes:
        encoder: a `DocumentEncoder`.
        pair_encoder: represents pairs.
        head: scores the representations.
        type_bias: a `TypeBias`, or None.
        lexical: a `LexicalModel`, or None.
        tokenizer: of the encoder; None for a model made from a configuration.
        card: the model card of a model that was loaded; training sets it to None.
    """

    config: RelationConfig
    config_class = RelationConfig
    base_model_prefix = "encoder"
    main_input_name = "batch"
    _supports_sdpa = True

    def __init__(self, config: RelationConfig, encoder: PreTrainedModel | None = None) -> None:
        super().__init__(config)
        if not config.relations or not config.encoder_config:
            raise ModelError("a model's configuration needs relations and an encoder_config")
        try:
            architecture = lookup("architecture", config.architecture, ARCHITECTURES)
            options = architecture.options.checked(config.architecture_options or {})
        except ValueError as error:
            raise ModelError(str(error)) from None
        config.architecture_options = options.model_dump(mode="json")
        encoder = build_encoder(config.encoder_config) if encoder is None else encoder
        self.encoder = DocumentEncoder(encoder, architecture.attention)
        types, relations = len(self.entity_types), len(config.relations)
        sizes = ModelSizes(self.encoder.width, config.embedding, config.block, relations + 1, types)
        self.pair_encoder, self.head = architecture.build(sizes, **dict(options))
        self._check_type_tokens(types)
        self.type_bias = TypeBias(types, relations) if config.use_type_bias else None
        self.lexical: LexicalModel | None = None
        if config.lexical_weight:
            vocabulary: int = self.encoder.model.config.vocab_size
            self.lexical = LexicalModel(types, relations, vocabulary, config.lexical_weight)
        rules = [Rule.from_json(rule) for rule in config.rules or ()]
        self.rule_propagation = RulePropagation(rules, config.relations) if rules else None
        self.tokenizer: PreTrainedTokenizerBase | None = None
        self.card: str | None = None
        self.post_init()  # type: ignore[no-untyped-call]

    def _check_type_tokens(self, types: int) -> None:
        """Refuse tokens that are not one for each type, or that the encoder does not know."""
        tokens, known = self.config.type_tokens, (self.config.encoder_config or {}).get("vocab_size")
        if tokens is None:
            return
        if not self.config.markers:
            raise ModelError("type_tokens: typed markers need markers")
        if len(tokens) != types + 1:
            raise ModelError(f"type_tokens: {len(tokens)} tokens for {types} types and the unknown type")
        if min(tokens) < 0 or (isinstance(known, int) and max(tokens) >= known):
            raise ModelError(f"type_tokens: {tokens} are not ids below {known}")

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: the new layers start as they were made, the encoder as it was loaded."""

    def forward(self, batch: Batch, constraints: TypeConstraints | None = None) -> RelationOutput:
        """Score every candidate pair of a batch.

        In evaluation mode the lexical model is ensembled, and rules are applied.

        Args:
            batch: the documents.
            constraints: the relations that types allow; all others get the logit `FORBIDDEN`, and a pair
                without an allowed relation is not scored at all: its threshold class gets 0. For prediction.
        """
        # A model that does not tell types apart must not see the numbers that constraints go by.
        seen = batch if self.entity_types or constraints is None else batch.without_types()
        tokens = self.config.type_tokens
        encoded = self.encoder(seen if tokens is None else use_typed_markers(seen, tokens))
        embeddings: tuple[Tensor, ...] | None = None
        allowed = rule = None
        if constraints is None:
            logits, embeddings = pair_logits(self.pair_encoder, self.head, encoded, seen)
        else:
            type_pairs = constraints.type_pairs(batch)
            allowed = constraints.allowed(type_pairs)
            logits = constraints.logits(self.pair_encoder, self.head, encoded, seen, type_pairs)
        if self.type_bias is not None:
            logits = self.type_bias(logits, seen)
        if self.training:
            return RelationOutput(logits, encoded, embeddings, allowed)
        if self.lexical is not None:
            logits = self.lexical(logits, seen)
        if allowed is not None:
            logits[:, 1:].masked_fill_(~allowed, FORBIDDEN)
        if self.rule_propagation is not None:
            # Labels were closed under the rules, so types allow a conclusion where they allow its premise.
            logits, rule = self.rule_propagation(logits, batch, self.decoder)
        return RelationOutput(logits, encoded, None, allowed, rule)

    @property
    def relations(self) -> RelationVocabulary:
        """The relations, in the order of the logits."""
        names, descriptions = self.config.relation_names, self.config.relation_descriptions
        return RelationVocabulary(tuple(self.config.relations or ()), names or {}, descriptions or {})

    @property
    def entity_types(self) -> tuple[str, ...]:
        """The entity types that the model tells apart; their numbers in a batch begin at 1."""
        return tuple(self.config.entity_types or ())

    @property
    def relation_types(self) -> RelationTypes | None:
        """The type pairs of each relation; None where any relation may hold between any types."""
        stored = self.config.relation_types
        return None if stored is None else RelationTypes.from_json(stored)

    @relation_types.setter
    def relation_types(self, relation_types: RelationTypes | None) -> None:
        self.config.relation_types = None if relation_types is None else relation_types.to_json()

    @property
    def numbered_types(self) -> tuple[str, ...]:
        """The types with numbers in a batch for prediction: also where only `type_constraints` read them."""
        learnt = self.relation_types
        return self.entity_types or (() if learnt is None else learnt.types)

    @property
    def type_constraints(self) -> TypeConstraints | None:
        """`relation_types` as `forward` takes them; keep it for several batches, it caches weights."""
        learnt = self.relation_types
        return None if learnt is None else TypeConstraints(learnt, self.numbered_types, self.relations.ids)

    @property
    def candidates(self) -> CandidatePairs:
        """The candidate pairs."""
        return CandidatePairs.from_json(self.config.candidates)

    @candidates.setter
    def candidates(self, candidates: CandidatePairs) -> None:
        self.config.candidates = candidates.to_json()

    @property
    def decoder(self) -> ScoreDecoder:
        """From logits to decisions and probabilities."""
        stored = self.config.score_decoder
        if stored is None:
            return ScoreDecoder(DecisionRule(), Link("ranking-margin"))
        return ScoreDecoder.from_json(stored)

    @decoder.setter
    def decoder(self, decoder: ScoreDecoder) -> None:
        if decoder.priors is not None:
            self.check_relations(decoder.priors.relations)
        self.config.score_decoder = decoder.to_json()

    def check_relations(self, relations: Sequence[str]) -> None:
        """Refuse data or priors of other relations than the model's.

        Raises:
            ModelError: the relations, or their order, differ; names what is missing and what is unknown.
        """
        own, given = self.relations.ids, tuple(relations)
        if own == given:
            return
        differences = {
            "are missing": [relation for relation in own if relation not in given],
            "are unknown to it": [relation for relation in given if relation not in own],
        }
        listed = "; ".join(f"{', '.join(some[:5])} {what}" for what, some in differences.items() if some)
        raise ModelError(
            f"{len(given)} relations do not fit the model's {len(own)}: {listed or 'another order'}"
        )

    @classmethod
    def from_encoder(
        cls,
        path: str | Path,
        relations: RelationVocabulary | Sequence[str],
        *,
        encoder_layers: int | None = None,
        architecture: str = "atlop",
        architecture_options: Mapping[str, object] | None = None,
        entity_types: Sequence[str] = (),
        embedding: int = 768,
        block: int = 64,
        markers: bool = True,
        typed_markers: bool = False,
        use_type_bias: bool = False,
        lexical_weight: float = 0.0,
        candidates: CandidatePairs | None = None,
        rules: RuleSet | None = None,
    ) -> "RelationModel":
        """A model to be trained: a pretrained encoder, its tokenizer, and new layers.

        `encoder_layers` keeps only the encoder's first layers; with `typed_markers`, the word for its type
        opens a mention in place of `*`. The other arguments are the attributes of `RelationConfig`.
        """
        encoder = load_encoder(path, encoder_layers)
        tokenizer = load_tokenizer(path, encoder)
        if not isinstance(relations, RelationVocabulary):
            relations = RelationVocabulary(tuple(relations))
        config = RelationConfig(
            encoder_config=encoder.config.to_dict(),
            relations=list(relations),
            relation_names=dict(relations.names),
            relation_descriptions=dict(relations.descriptions) or None,
            entity_types=list(entity_types),
            architecture=architecture,
            architecture_options=dict(architecture_options or {}),
            embedding=embedding,
            block=block,
            markers=markers,
            type_tokens=DocumentTokenizer(tokenizer, markers).type_tokens(entity_types)
            if typed_markers
            else None,
            use_type_bias=use_type_bias,
            lexical_weight=lexical_weight,
            candidates=(CandidatePairs() if candidates is None else candidates).to_json(),
            rules=[rule.to_json() for rule in rules] if rules else None,
        )
        model = cls(config, encoder)
        model.encoder.prepare()
        model.tokenizer = tokenizer
        return model

    def save_pretrained(self, save_directory: str | PathLike[str], **options: Any) -> None:  # type: ignore[override] # noqa: ANN401
        """Write weights (safetensors), configuration (JSON) and tokenizer to a folder, and their checksums.

        The model card goes to `README.md`, unless a person wrote or edited the one that is there: that of the
        folder from which the model was loaded, or a new one.

        Raises:
            ModelError: a weight is not a finite number, or the folder has a tokenizer and the model none;
                nothing is written then.
        """
        folder = Path(save_directory)
        if options.pop("push_to_hub", False):
            raise ModelError("push_to_hub=True: use model.push_to_hub(NAME), which also sends checksums")
        others = [name for name in TOKENIZER_FILES if (folder / name).exists()]
        if self.tokenizer is None and others:
            raise ModelError(
                f"{folder / others[0]}: another model's tokenizer; this model has none to replace it"
            )
        if (name := find_nonfinite(self)) is not None:
            raise ModelError(f"{folder}: the model was not saved: weights {name} are not finite numbers")
        # A weight that was set later would name a lexical model that is not in the files, or the other way round.
        self.config.lexical_weight = 0.0 if self.lexical is None else self.lexical.weight
        with quiet_transformers():
            super().save_pretrained(folder, **options)
        written: tuple[str, ...] = ()
        if self.tokenizer is not None:
            written = self.tokenizer.save_pretrained(folder)
        write_model_checksums(folder, written)
        write_card(folder, self.card or make_card(self.config.to_dict()))

    def _upload_modified_files(self, working_dir: str | PathLike[str], *others: Any, **options: Any) -> Any:  # noqa: ANN401
        """Upload what `push_to_hub` saved; the client has put an empty card in place of ours."""
        write_card(Path(working_dir), self.card or make_card(self.config.to_dict()))
        return super()._upload_modified_files(working_dir, *others, **options)

    @classmethod
    def from_pretrained(cls, path: str | PathLike[str], **options: Any) -> "RelationModel":  # type: ignore[override] # noqa: ANN401
        """A saved model, in evaluation mode.

        Files are checked against the checksums that were saved with them, if any. Code beside a model is never
        run.

        Args:
            path: a folder that `save_pretrained` wrote, or its name on the hub (owner/name).
            options: those of transformers (`revision`, `dtype`, ...).

        Raises:
            ModelError: the folder is missing, not a saved model of this package, incomplete or damaged.
        """
        if options.pop("trust_remote_code", False):
            raise ModelError("trust_remote_code=True: a model's own code is never run")
        folder = Path(path)
        if not folder.is_dir():
            expected = "a folder written by save_pretrained, or the name of one on the hub (owner/name)"
            if "/" not in str(path) or not is_on_hub(path):
                raise ModelError(f"{path}: no such folder; expected {expected}")
            names = ("revision", "token", "cache_dir", "force_download", "local_files_only")
            hub = {name: options.pop(name) for name in names if name in options}
            with wrap_errors(path, "no readable saved model", expected, ModelError):
                folder = resolve_folder(path, **hub)
        cls._check_saved(folder)
        model = cls._load(folder, options)
        if (folder / "tokenizer_config.json").exists():
            with (
                wrap_errors(folder, "no usable tokenizer", "the one that was saved", ModelError),
                quiet_transformers(),
            ):
                model.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
                check_vocabulary(model.tokenizer, model.encoder.model, folder, ModelError)
                DocumentTokenizer(model.tokenizer, model.config.markers)
        model.card = read_card(folder)
        return model

    @classmethod
    def _check_saved(cls, folder: Path) -> None:
        """Refuse a configuration whose parts do not fit each other, or the weights, before weights are read."""
        tensors, path = check_folder(folder, RelationConfig), folder / CONFIG
        with wrap_errors(path, "a configuration that cannot be used", "that of a saved model", ModelError):
            with torch.device("meta"), quiet_transformers():
                model = cls(RelationConfig.from_pretrained(folder))
            for name, expected in model.state_dict().items():
                if name in tensors and tensors[name].shape != tuple(expected.shape):
                    raise ModelError(
                        f"{name} has shape {list(expected.shape)} by the configuration, "
                        f"{list(tensors[name].shape)} in the weights"
                    )
            # The decoder is tried on a pair of zeros: thresholds and priors must be numbers, for these relations.
            model.decoder = decoder = model.decoder
            logits = torch.zeros(1, len(model.relations) + 1)
            tried = (decoder.decide(logits), decoder.distances(logits), decoder.probabilities(logits))
            if any(bool(part.isnan().any()) for part in tried):
                raise ModelError("score_decoder: thresholds or priors are not numbers")
            _ = model.candidates, model.type_constraints  # refused here if they are something else

    @classmethod
    def _load(cls, folder: Path, options: dict[str, Any]) -> "RelationModel":
        """The model itself, once its folder has been checked."""
        model: RelationModel
        loading: dict[str, Any]
        with (
            wrap_errors(folder, "no usable saved model", "a folder written by save_pretrained", ModelError),
            quiet_transformers(),
        ):
            model, loading = super().from_pretrained(  # type: ignore[misc]
                folder, **options, use_safetensors=True, output_loading_info=True, trust_remote_code=False
            )
        for what in ("missing_keys", "mismatched_keys", "unexpected_keys"):
            if loading[what]:
                shown = ", ".join(map(str, sorted(loading[what])[:3]))
                raise ModelError(f"{folder}: the weights have {what.replace('_', ' ')} ({shown})")
        if (name := find_nonfinite(model)) is not None:
            raise ModelError(f"{folder}: weights {name} are not finite numbers")
        if model.lexical is not None:
            with wrap_errors(
                folder, "a lexical model that cannot be used", "the one that was saved", ModelError
            ):
                model.lexical.check_stems()
        with wrap_errors(folder, "an encoder that does not work", "one that gives states", ModelError):
            model.encoder.prepare()
            model.encoder.try_out()
        return model
