"""The model: encoder, pairs and scores joined, and everything needed to use it elsewhere saved beside it."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AutoTokenizer, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from unnoted.data.candidates import CandidatePairs, JSONCandidates
from unnoted.data.corpus import RelationVocabulary
from unnoted.data.relation_types import RelationTypes
from unnoted.losses import DecisionRule, ScoreDecoder
from unnoted.losses.decoding import Link
from unnoted.models.architectures import ARCHITECTURES, Sizes, pair_logits
from unnoted.models.batch import Batch
from unnoted.models.encoders import DocumentEncoder, Encoded, build_encoder, load_encoder
from unnoted.models.encoders.hub import fetched_folder, is_on_hub
from unnoted.models.encoders.pretrained import load_tokenizer
from unnoted.models.encoders.stored_weights import no_larger_than, not_finite
from unnoted.models.model_card import card_beside, model_card, write_card
from unnoted.models.saved import CONFIG, MODEL_TYPE, TOKENIZER_FILES, ModelError, SavedModel, note_checksums
from unnoted.models.scores.lexical import LexicalScores
from unnoted.models.scores.rule_propagation import RulePropagation
from unnoted.models.scores.type_bias import TypeBias
from unnoted.models.scores.typed_relations import NEVER, TypedRelations
from unnoted.models.tokenization import DocumentTokenizer, use_typed_markers
from unnoted.rules import Rule, RuleSet
from unnoted.utils import lookup, quiet_transformers, wrap_errors

__all__ = ["ModelError", "PairScores", "RelationConfig", "RelationModel"]


class RelationConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """Everything about a model but its weights, as JSON can hold it.

    Attributes:
        encoder_config: the encoder's own configuration, from which it is rebuilt.
        relations: the relation ids, in the order of the scores.
        relation_names: readable names of relations, where known.
        relation_descriptions: what relations mean, where it was told.
        entity_types: the types of entities that are told apart, by models that look at them.
        architecture: what represents and scores pairs, one of `ARCHITECTURES`.
        architecture_options: the settings that this architecture declares, by name.
        embedding: the size of the embeddings of head and tail.
        block: the size of a block of the grouped bilinear.
        window: how many tokens the encoder sees at once; None for as many as it can.
        fast_dropout: whether dropout on a CPU takes the fast way, which rounds its rate to 1/256.
        markers: whether `*` stands before and after every mention.
        type_tokens: the tokens that open a mention in place of the marker, by the number of its type; None
            for the marker.
        type_bias: whether relations have a bias for the types of head and tail.
        lexical_weight: what a linear model of types, places and words counts beside the network
            (`scores.lexical`); 0 for a model without.
        candidates: which pairs are scored, as `CandidatePairs.to_json` writes it.
        rules: that the scores of a trained model keep to (`scores.rule_propagation`), as `Rule.to_json` gives them.
        relation_types: the types that each relation was labelled with, as `RelationTypes.to_json` gives them;
            None where they were not learnt, or are not to be heeded.
        undertrained: how far a training came that ended before its warm-up did, in words; None for others.
        evidence_threshold: the share of a pair's attention from which a sentence supports a fact, for a model
            whose attention was guided by evidence; None for one whose was not.
        score_decoder: what the scores mean, as `ScoreDecoder.to_json` gives it; None before a loss has said so.
    """

    model_type = MODEL_TYPE

    encoder_config: dict[str, Any] | None = None
    relations: list[str] | None = None
    relation_names: dict[str, str] | None = None
    relation_descriptions: dict[str, str] | None = None
    entity_types: list[str] | None = None
    architecture: str = "atlop"
    architecture_options: dict[str, Any] | None = None
    embedding: int = 768
    block: int = 64
    window: int | None = None
    fast_dropout: bool = True
    markers: bool = True
    type_tokens: list[int] | None = None
    type_bias: bool = False
    lexical_weight: float = 0.0
    candidates: JSONCandidates = "all"
    rules: list[dict[str, Any]] | None = None
    relation_types: dict[str, Any] | None = None
    undertrained: str | None = None
    evidence_threshold: float | None = None
    score_decoder: dict[str, Any] | None = None


class PairScores(NamedTuple):
    """What a model says of the pairs of a batch.

    Attributes:
        scores: [P, K + 1], in float32 at least; column 0 is the none class.
        encoded: the tokens, and where mentions attend to: what evidence is read off.
        rule: int16 [P, K], the number of the rule that lifted a score, or -1; None where none was applied.
        allowed: bool [P, K], which relations types allow; None where they were not asked.
    """

    scores: Tensor
    encoded: Encoded
    rule: Tensor | None = None
    allowed: Tensor | None = None


class RelationModel(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Scores every relation, and the none class, for every candidate pair of a batch of documents.

    Made by `from_encoder` for training, by `from_pretrained` for use. `card` is the model card, in Markdown,
    of a model that was loaded; training forgets it.

    Args:
        config: everything but the weights.
        encoder: an encoder with its weights; made anew from `config.encoder_config` where not given.

    Example:
        >>> from transformers import BertConfig
        >>> encoder = BertConfig(vocab_size=30, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        ...                      intermediate_size=16, max_position_embeddings=16)
        >>> config = RelationConfig(encoder_config=encoder.to_dict(), relations=["spouse", "child"],
        ...                         embedding=8, block=4)
        >>> model = RelationModel(config)
        >>> model.relations.ids, model.decoder.decision
        (('spouse', 'child'), DecisionRule())
    """

    config: RelationConfig
    config_class = RelationConfig
    base_model_prefix = "encoder"
    main_input_name = "batch"
    supports_gradient_checkpointing = True
    _supports_sdpa = True

    def __init__(self, config: RelationConfig, encoder: PreTrainedModel | None = None) -> None:
        super().__init__(config)
        if not config.relations or not config.encoder_config:
            raise ModelError("found a configuration without relations or without an encoder, expected both")
        try:
            architecture = lookup("architecture", config.architecture, ARCHITECTURES)
            options = architecture.options.checked(config.architecture_options or {})
        except ValueError as error:
            raise ModelError(str(error)) from None
        config.architecture_options = options.model_dump(mode="json")
        encoder = build_encoder(config.encoder_config) if encoder is None else encoder
        self.encoder = DocumentEncoder(encoder, config.window, config.fast_dropout, architecture.attention)
        sizes = Sizes(
            hidden_size=self.encoder.width,
            pair_dim=config.embedding,
            block_size=config.block,
            num_labels=len(config.relations) + 1,
            entity_types=len(self.entity_types),
        )
        self.pairs, self.scores = architecture.build(sizes, **dict(options))
        self._check_type_tokens(sizes.entity_types)
        self.type_bias = TypeBias(sizes.entity_types, len(config.relations)) if config.type_bias else None
        self.lexical = self._lexical_scores(sizes.entity_types) if config.lexical_weight else None
        given = [Rule.from_json(rule) for rule in config.rules or ()]
        self.rule_propagation = RulePropagation(given, config.relations) if given else None
        self.tokenizer: PreTrainedTokenizerBase | None = None
        self.card: str | None = None
        self.post_init()  # type: ignore[no-untyped-call]

    def _lexical_scores(self, types: int) -> LexicalScores:
        vocabulary: int = self.encoder.model.config.vocab_size
        return LexicalScores(types, len(self.config.relations or ()), vocabulary, self.config.lexical_weight)

    def _check_type_tokens(self, types: int) -> None:
        """Refuse tokens that are not one for each type, or that the encoder does not know."""
        tokens, known = self.config.type_tokens, (self.config.encoder_config or {}).get("vocab_size")
        if tokens is None:
            return
        if len(tokens) != types + 1 or not self.config.markers:
            raise ModelError(
                f"type_tokens: found {len(tokens)}, expected {types + 1}, and markers whose place they take"
            )
        if min(tokens) < 0 or (isinstance(known, int) and max(tokens) >= known):
            raise ModelError(f"type_tokens: found {tokens}, expected numbers from 0 to {known} (exclusive)")

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: the new layers start as they were made, the encoder as it was loaded."""

    def score_pairs(self, batch: Batch, typed: TypedRelations | None = None) -> "PairScores":
        """Score every candidate pair of a batch: the one way from a batch to scores.

        Args:
            batch: the documents.
            typed: which relations types allow, to predict with; others then score `NEVER`.
        """
        scores, encoded, _, allowed = self.network_scores(batch, typed)
        if self.lexical is not None and not self.training:
            scores = self.lexical(scores, self._seen(batch, typed))
        if allowed is not None:
            scores[:, 1:].masked_fill_(~allowed, NEVER)
        if self.rule_propagation is None or self.training:
            return PairScores(scores, encoded, None, allowed)
        # Labels were closed under the rules, so that types allow a conclusion where they allow its premise.
        scores, rule = self.rule_propagation(scores, batch, self.decoder)
        return PairScores(scores, encoded, rule, allowed)

    def _seen(self, batch: Batch, typed: TypedRelations | None) -> Batch:
        """A model that does not tell types apart must not see the numbers that `typed` goes by."""
        return batch if self.entity_types or typed is None else batch.without_types()

    def network_scores(self, batch: Batch, typed: TypedRelations | None = None) -> "PairScores":
        """What the network alone says, before the linear model and the rules.

        Args:
            batch: the documents.
            typed: which relations types allow; those of others are not computed.
        """
        seen, tokens = self._seen(batch, typed), self.config.type_tokens
        encoded = self.encoder(seen if tokens is None else use_typed_markers(seen, tokens))
        allowed = None
        if typed is None:
            scores = pair_logits(self.pairs, self.scores, encoded, seen)
        else:
            kinds = typed.kinds(batch)
            allowed = typed.allowed(kinds)
            scores = typed.scores(self.pairs, self.scores, encoded, seen, kinds)
        if self.type_bias is not None:
            scores = self.type_bias(scores, seen)
        return PairScores(scores, encoded, None, allowed)

    def forward(self, batch: Batch) -> Tensor:
        """Scores [P, K + 1] in float32 at least; column 0 is the none class, relation k is column k + 1."""
        return self.score_pairs(batch).scores

    @property
    def relations(self) -> RelationVocabulary:
        """The relations, in the order of the scores."""
        names, descriptions = self.config.relation_names, self.config.relation_descriptions
        return RelationVocabulary(tuple(self.config.relations or ()), names or {}, descriptions or {})

    @property
    def entity_types(self) -> tuple[str, ...]:
        """The types of entities that are told apart; their numbers in a batch begin at 1."""
        return tuple(self.config.entity_types or ())

    @property
    def relation_types(self) -> RelationTypes | None:
        """The types that each relation was labelled with; None where they are not heeded."""
        learnt = self.config.relation_types
        return None if learnt is None else RelationTypes.from_json(learnt)

    @relation_types.setter
    def relation_types(self, learnt: RelationTypes | None) -> None:
        self.config.relation_types = None if learnt is None else learnt.to_json()

    @property
    def numbered_types(self) -> tuple[str, ...]:
        """The types that have numbers in a batch to predict on: also where only relations go by them."""
        learnt = self.relation_types
        return self.entity_types or (() if learnt is None else learnt.types)

    @property
    def typed_relations(self) -> TypedRelations | None:
        """Which relations types allow; None where they are not heeded."""
        learnt = self.relation_types
        return None if learnt is None else TypedRelations(learnt, self.numbered_types, self.relations.ids)

    @property
    def candidates(self) -> CandidatePairs:
        """Which pairs are scored."""
        return CandidatePairs.from_json(self.config.candidates)

    @candidates.setter
    def candidates(self, candidates: CandidatePairs) -> None:
        self.config.candidates = candidates.to_json()

    @property
    def _decision(self) -> DecisionRule:
        stored = self.config.score_decoder
        return DecisionRule() if stored is None else DecisionRule.from_json(stored["decision"])

    @property
    def decoder(self) -> ScoreDecoder:
        """What the scores mean: how they decide, and how probable they say a relation is."""
        stored = self.config.score_decoder
        return (
            ScoreDecoder(DecisionRule(), Link("ranking-margin"))
            if stored is None
            else ScoreDecoder.from_json(stored)
        )

    @decoder.setter
    def decoder(self, decoder: ScoreDecoder) -> None:
        self._check_decoder(decoder)
        self.config.score_decoder = decoder.to_json()

    def _check_decoder(self, decoder: ScoreDecoder) -> None:
        if decoder.priors is not None:
            self.check_relations(decoder.priors.relations)

    def check_relations(self, relations: Sequence[str]) -> None:
        """Refuse data or priors of another relation set than the model's.

        Raises:
            ModelError: if the relations, or their order, differ; names what is missing and what is unknown.
        """
        own, given = self.relations.ids, tuple(relations)
        if own == given:
            return
        missing = [relation for relation in own if relation not in given]
        unknown = [relation for relation in given if relation not in own]
        parts = [
            f"{len(found)} {what}: {', '.join(found[:5])}{', ...' if len(found) > 5 else ''}"
            for what, found in (("of the model's are missing", missing), ("are unknown to it", unknown))
            if found
        ]
        raise ModelError(
            f"found {len(given)} relations, expected the model's {len(own)}: "
            + ("; ".join(parts) or "they are the same, but in another order")
        )

    @classmethod
    def from_encoder(
        cls,
        path: str | Path,
        relations: RelationVocabulary | Sequence[str],
        *,
        encoder_layers: int | None = None,
        window: int | None = None,
        fast_dropout: bool = True,
        architecture: str = "atlop",
        architecture_options: Mapping[str, object] | None = None,
        entity_types: Sequence[str] = (),
        embedding: int = 768,
        block: int = 64,
        markers: bool = True,
        typed_markers: bool = False,
        type_bias: bool = False,
        lexical_weight: float = 0.0,
        candidates: CandidatePairs | None = None,
        rules: RuleSet | None = None,
    ) -> "RelationModel":
        """A model to be trained: a pretrained encoder, its tokenizer, and new layers.

        Args:
            path: the encoder's folder, or its name on the hub.
            relations: the relations to be scored.
            encoder_layers: keep only the encoder's first layers (for small machines).
            window: let the encoder see at most so many tokens at once.
            fast_dropout: take the fast way to dropout on a CPU.
            architecture: what represents and scores pairs, one of `ARCHITECTURES`.
            architecture_options: settings that this architecture declares; the others have their defaults.
            entity_types: those that a model may tell entities apart by.
            embedding: the size of the embeddings of head and tail.
            block: the size of a block of the grouped bilinear.
            markers: whether `*` stands around every mention; without, it begins at its first token.
            typed_markers: whether the word for its type opens a mention, in place of `*`.
            type_bias: whether relations have a bias for the types of head and tail.
            lexical_weight: what a linear model of types, places and words counts once it is trained.
            candidates: which pairs are scored; all ordered pairs by default.
            rules: that scores keep to once the model is trained.

        Raises:
            EncoderError: if there is no such encoder, or it cannot be used.
        """
        encoder = load_encoder(path, encoder_layers)
        tokenizer = load_tokenizer(path, encoder)
        config = RelationConfig(
            encoder_config=encoder.config.to_dict(), **_named(relations), entity_types=list(entity_types),
            architecture=architecture, architecture_options=dict(architecture_options or {}),
            embedding=embedding, block=block, window=window, fast_dropout=fast_dropout,
            markers=markers, type_bias=type_bias, lexical_weight=lexical_weight,
            type_tokens=DocumentTokenizer(tokenizer, markers).type_tokens(entity_types) if typed_markers else None,
            candidates=(CandidatePairs() if candidates is None else candidates).to_json(),
            rules=[rule.to_json() for rule in rules] if rules else None,
        )  # fmt: skip
        model = cls(config, encoder)
        model.encoder.prepare()
        model.tokenizer = tokenizer
        return model

    def save_pretrained(self, save_directory: str | PathLike[str], **options: Any) -> None:  # type: ignore[override] # noqa: ANN401
        """Write weights (safetensors), configuration (JSON) and tokenizer to a folder, and their checksums.

        The model card goes to `README.md`: that of the folder which the model was loaded from, or a new one.

        Raises:
            ModelError: if a weight is not a finite number, or the folder has a tokenizer and the model none;
                nothing is written then.
        """
        if options.pop("push_to_hub", False):
            raise ModelError("found push_to_hub=True, expected push_to_hub(NAME), which also sends checksums")
        others = [name for name in TOKENIZER_FILES if (Path(save_directory) / name).exists()]
        if self.tokenizer is None and others:
            raise ModelError(
                f"{Path(save_directory) / others[0]}: found another model's tokenizer, expected none: this "
                "model has no tokenizer to replace it"
            )
        if (name := not_finite(self)) is not None:
            raise ModelError(
                f"{save_directory}: found weights {name} that are not finite, expected finite numbers; the "
                "model was not saved"
            )
        with quiet_transformers():
            super().save_pretrained(save_directory, **options)
        written: tuple[str, ...] = ()
        if self.tokenizer is not None:
            written = self.tokenizer.save_pretrained(save_directory)
        note_checksums(Path(save_directory), written)
        write_card(Path(save_directory), self.card or model_card(self.config.to_dict()))

    def _upload_modified_files(self, working_dir: str | PathLike[str], *others: Any, **options: Any) -> Any:  # noqa: ANN401
        """Upload what `push_to_hub` saved; the client has put a card without content in place of ours."""
        write_card(Path(working_dir), self.card or model_card(self.config.to_dict()))
        return super()._upload_modified_files(working_dir, *others, **options)

    @classmethod
    def from_pretrained(cls, path: str | PathLike[str], **options: Any) -> "RelationModel":  # type: ignore[override] # noqa: ANN401
        """A saved model, in evaluation mode.

        Its files are held against the checksums that were saved with them; models of earlier versions have
        none. Code that lies beside a model is never run.

        Args:
            path: a folder that `save_pretrained` wrote, or the name of one on the hub.
            options: those of transformers (`revision`, `dtype`, ...).

        Raises:
            ModelError: if the folder is missing, not a saved model of this package, incomplete or damaged.
        """
        if options.pop("trust_remote_code", False):
            raise ModelError("trust_remote_code: found True, expected False: a model's own code is never run")
        folder = Path(path)
        if not folder.is_dir() and ("/" not in str(path) or not is_on_hub(path)):
            raise ModelError(
                f"{path}: found no such folder, expected one written by save_pretrained, or the name of one "
                "on the hub (owner/name)"
            )
        if not folder.is_dir():
            expected = "a folder written by save_pretrained, or the name of one on the hub"
            with wrap_errors(path, "no readable saved model", expected, ModelError):
                folder = fetched_folder(path, options)
        saved = SavedModel.open(folder)
        _check_parts(saved)
        model = cls._loaded(saved, options)
        if saved.has_tokenizer:
            with (
                wrap_errors(folder, "no usable tokenizer", "the one that was saved", ModelError),
                quiet_transformers(),
            ):
                tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            saved.check_tokenizer(tokenizer, model.encoder.model, model.config.markers)
            model.tokenizer = tokenizer
        model.card = card_beside(folder)
        return model

    @classmethod
    def _loaded(cls, saved: SavedModel, options: dict[str, Any]) -> "RelationModel":
        """The model itself, once its folder has proved to be one."""
        folder = saved.folder
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
                raise ModelError(
                    f"{folder}: found weights with {what.replace('_', ' ')} ({shown}), expected none"
                )
        if (name := not_finite(model)) is not None:
            raise ModelError(f"{folder}: found weights {name} that are not finite, expected finite numbers")
        with wrap_errors(folder, "an encoder that does not work", "one that gives states", ModelError):
            model.encoder.prepare()
            model.encoder.try_out()
        return model


def _named(relations: RelationVocabulary | Sequence[str]) -> dict[str, Any]:
    """Relations, their names and descriptions, as a configuration holds them."""
    if not isinstance(relations, RelationVocabulary):
        relations = RelationVocabulary(tuple(relations))
    descriptions = dict(relations.descriptions) or None
    named = {"relations": list(relations), "relation_names": dict(relations.names)}
    return named | {"relation_descriptions": descriptions}


def _check_parts(saved: SavedModel) -> None:
    """Refuse a configuration whose parts do not fit each other, or the weights, before weights are read."""
    path = saved.folder / CONFIG
    with wrap_errors(path, "a configuration that cannot be used", "that of a saved model", ModelError):
        with no_larger_than(saved.weights, path, ModelError), torch.device("meta"), quiet_transformers():
            model = RelationModel(RelationConfig.from_pretrained(saved.folder))
        saved.check_shapes({name: tuple(tensor.shape) for name, tensor in model.state_dict().items()})
        decoder, scores = model.decoder, torch.zeros(1, len(model.relations) + 1)
        model._check_decoder(decoder)
        # What the scores mean is tried on a pair of zeros: it must be in numbers, and for these relations.
        means = (decoder.decide(scores), decoder.distances(scores), decoder.probabilities(scores))
        if any(bool(part.isnan().any()) for part in means):
            raise ModelError("decoder: found thresholds or priors that are not numbers, expected numbers")
        assert model.candidates is not None  # refused here if it is no rule
        assert model.relation_types is None or model.typed_relations is not None  # as well
