"""Batches and models made by hand, for tests."""

from dataclasses import fields, replace

import torch
from transformers import (
    BertConfig,
    DebertaV2Config,
    ModernBertConfig,
    MPNetConfig,
    RobertaConfig,
)

from unnoted.models.batch import Batch
from unnoted.models.model import RelationConfig, RelationModel

SIZES = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "pad_token_id": 0,
}

ENCODERS = {
    "bert": BertConfig(**SIZES, max_position_embeddings=32),
    "roberta": RobertaConfig(**{**SIZES, "pad_token_id": 1}, max_position_embeddings=34),
    "modernbert": ModernBertConfig(
        **SIZES, max_position_embeddings=32, local_attention=8, global_attn_every_n_layers=3,
        bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3,
    ),
    "deberta-v2": DebertaV2Config(
        **SIZES, max_position_embeddings=32, relative_attention=True, pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
    ),
    "mpnet": MPNetConfig(**{**SIZES, "pad_token_id": 1}, max_position_embeddings=34),
}  # fmt: skip


def tiny_model(kind="bert", relations=3, dtype=torch.float64, seed=0, **settings):
    """A relation model with random weights, large enough to make its scores differ, in evaluation mode."""
    torch.manual_seed(seed)
    config = RelationConfig(
        encoder_config=ENCODERS[kind].to_dict(),
        relations=[f"r{k}" for k in range(relations)],
        **{"embedding": 12, "block": 4, **settings},
    )
    model = RelationModel(config).to(dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
    return model


def random_batch(lengths, entities, relations=3, mentions=3, seed=0, pair_rate=1.0, vocabulary=50):
    """A batch of documents of these lengths and entity counts; an entity has 1 to `mentions` mentions."""
    generator = torch.Generator().manual_seed(seed)

    def draw(low, high, count=1):
        return torch.randint(low, high, (count,), generator=generator).tolist()

    width = max(lengths)
    input_ids = torch.ones(len(lengths), width, dtype=torch.int64)
    attention_mask = torch.zeros_like(input_ids)
    position, slot, mention_entity, entity_document, entity_slot = [], [], [], [], []
    end, sentence, kind = [], [], []
    span_token, span_entity, span_slot, spans = [], [], [], 0
    head, tail, pair_document, most = [], [], [], 0
    for document, (length, count) in enumerate(zip(lengths, entities, strict=True)):
        input_ids[document, :length] = torch.tensor([2, *draw(4, vocabulary, length - 2), 3])
        attention_mask[document, :length] = 1
        rows, first = [], len(position)
        for entity in range(count):
            rows.append(len(entity_document))
            entity_document.append(document)
            entity_slot.append(entity)
            for _ in range(draw(1, mentions + 1)[0]):
                slot.append(len(position) - first)
                position.append(draw(1, length - 1)[0])
                end.append(min(position[-1] + draw(1, 4)[0], length - 1))
                sentence.append(position[-1] // 8)  # eight tokens a sentence
                kind.append(entity % 4)
                mention_entity.append(rows[-1])
        most = max(most, len(position) - first)
        markers, own = {*position[first:], *end[first:]}, set()
        for at, to, entity in zip(position[first:], end[first:], mention_entity[first:], strict=True):
            within = [place for place in range(at + 1, to) if place not in markers]
            own |= {(entity, place) for place in within or [at]}
        for number, (entity, place) in enumerate(sorted(own)):
            span_token.append(place)
            span_entity.append(entity)
            span_slot.append(number)
        spans = max(spans, len(own))
        for one in rows:
            for other in rows:
                if one != other and torch.rand((), generator=generator) < pair_rate:
                    head.append(one)
                    tail.append(other)
                    pair_document.append(document)
    facts = [(p, draw(0, relations)[0]) for p in range(0, len(head), 4)]
    # Every other pair with a fact has evidence: its document's first sentence, in turns also its last.
    evidence = [
        (pair, number)
        for turn, (pair, _) in enumerate(facts[::2])
        for number in sorted({0, (turn + 1) % 2 * ((lengths[pair_document[pair]] - 1) // 8)})
    ]
    return Batch(
        input_ids=input_ids,
        attention_mask=attention_mask,
        token_sentence=torch.where(attention_mask == 1, torch.arange(width) // 8, -(-width // 8)),
        mention_position=_ints(position),
        mention_end=_ints(end),
        mention_sentence=_ints(sentence),
        mention_type=_ints(kind),
        mention_slot=_ints(slot),
        mention_entity=_ints(mention_entity),
        span_token=_ints(span_token),
        span_entity=_ints(span_entity),
        span_slot=_ints(span_slot),
        entity_document=_ints(entity_document),
        entity_slot=_ints(entity_slot),
        head=_ints(head),
        tail=_ints(tail),
        pair_document=_ints(pair_document),
        pair_weight=torch.ones(len(head)),
        fact_pair=_ints([pair for pair, _ in facts]),
        fact_relation=_ints([relation for _, relation in facts]),
        evidence_pair=_ints([pair for pair, _ in evidence]),
        evidence_sentence=_ints([number for _, number in evidence]),
        lengths=tuple(lengths),
        mentions=most,
        spans=spans,
        entities=max(entities),
        entity_counts=tuple(entities),
        sentences=-(-width // 8),
        relations=relations,
        documents=tuple(f"d{document}" for document in range(len(lengths))),
    )


def only(batch, document):
    """One document as a batch of its own, without padding; and the rows of its mentions and pairs in the whole."""
    length = batch.lengths[document]
    entity = (batch.entity_document == document).nonzero()[:, 0]
    mention = (batch.mention_document == document).nonzero()[:, 0]
    pair = (batch.pair_document == document).nonzero()[:, 0]
    span = (batch.span_document == document).nonzero()[:, 0]
    first = int(entity[0]) if len(entity) else 0
    rows = {"mention": mention, "span": span, "entity": entity, "pair": pair, "head": pair, "tail": pair}
    values = {
        field.name: getattr(batch, field.name)[rows[kind]]
        for field in fields(batch)
        if (kind := field.name.partition("_")[0]) in rows
        and isinstance(getattr(batch, field.name), torch.Tensor)
    }
    for name in ("mention_entity", "span_entity", "head", "tail"):
        values[name] = values[name] - first
    values |= {
        "input_ids": batch.input_ids[document : document + 1, :length],
        "attention_mask": batch.attention_mask[document : document + 1, :length],
        "token_sentence": batch.token_sentence[document : document + 1, :length],
        "entity_document": torch.zeros_like(entity),
        "pair_document": torch.zeros_like(pair),
        "fact_pair": batch.fact_pair[:0],
        "fact_relation": batch.fact_relation[:0],
        "evidence_pair": batch.evidence_pair[:0],
        "evidence_sentence": batch.evidence_sentence[:0],
        "lengths": (length,),
        "mentions": len(mention),
        "spans": len(span),
        "entities": len(entity),
        "entity_counts": (len(entity),),
        "documents": (batch.documents[document],),
    }
    return replace(batch, **values), mention, pair


def _ints(values):
    return torch.tensor(values, dtype=torch.int64)
