"""ATLOP written plainly from its description: the numerical oracle, and the opponent of the benchmark.

Every layer's attention matrix is kept, documents and entities are walked one after the other, the attention of
every pair is multiplied out head by head, and the grouped bilinear is one matrix product over all outer
products. Documents may be as long as two windows cover.
"""

import copy

import torch
from torch import nn


class PlainATLOP(nn.Module):
    """The same layers as `RelationModel` with localized context, joined plainly."""

    def __init__(self, encoder, limit, embedding, block, classes):
        super().__init__()
        width = encoder.config.hidden_size
        self.encoder = encoder
        self.limit = limit
        self.block = block
        self.head_extractor = nn.Linear(2 * width, embedding)
        self.tail_extractor = nn.Linear(2 * width, embedding)
        self.bilinear = nn.Linear(embedding * block, classes)

    @classmethod
    def from_model(cls, model):
        """A plain model with a copy of a `RelationModel`'s weights, in its precision."""
        encoder = copy.deepcopy(model.encoder.model)
        for module in encoder.modules():
            if getattr(module, "config", None) is not None:
                module.config = encoder.config
        encoder.set_attn_implementation("eager")
        for module in list(encoder.modules()):
            for name, child in module.named_children():
                if isinstance(child, nn.Dropout):
                    setattr(module, name, nn.Dropout(child.p))
        blocks, _, classes = model.head.weight.shape
        plain = cls(
            encoder, model.encoder.limit, blocks * model.head.block_size, model.head.block_size, classes
        )
        plain = plain.to(model.head.weight.dtype)
        with torch.no_grad():
            plain.head_extractor.load_state_dict(model.pair_encoder.head_projection.state_dict())
            plain.tail_extractor.load_state_dict(model.pair_encoder.tail_projection.state_dict())
            plain.bilinear.weight.copy_(bilinear_weight(model.head.weight))
            plain.bilinear.bias.copy_(model.head.bias)
        return plain.train(model.training)

    def encode(self, batch):
        """Token states and the last layer's attention, one [T, d] and one [H, T, T] for each document."""
        if batch.input_ids.shape[1] <= self.limit:
            output = self.encoder(
                input_ids=batch.input_ids, attention_mask=batch.attention_mask, output_attentions=True
            )
            return list(output.last_hidden_state), list(output.attentions[-1])
        ids, mask = [], []
        for document, length in enumerate(batch.lengths):
            tokens = batch.input_ids[document]
            if length <= self.limit:
                pieces = [tokens[:length]]
            else:
                assert length <= 2 * (self.limit - 1), "the plain rule has two windows"
                pieces = [
                    torch.cat([tokens[: self.limit - 1], tokens[length - 1 : length]]),
                    torch.cat([tokens[:1], tokens[length - self.limit + 1 : length]]),
                ]
            for piece in pieces:
                padding = self.limit - len(piece)
                ids.append(
                    nn.functional.pad(piece, (0, padding), value=self.encoder.config.pad_token_id or 0)
                )
                mask.append(nn.functional.pad(torch.ones_like(piece), (0, padding)))
        output = self.encoder(
            input_ids=torch.stack(ids), attention_mask=torch.stack(mask), output_attentions=True
        )
        return self._join(batch, output.last_hidden_state, output.attentions[-1])

    def _join(self, batch, window_states, window_attention):
        states, attention, window = [], [], 0
        tokens, inner = batch.input_ids.shape[1], self.limit - 1
        for length in batch.lengths:
            if length <= self.limit:
                rest = tokens - length
                states.append(nn.functional.pad(window_states[window][:length], (0, 0, 0, rest)))
                one = window_attention[window][:, :length, :length]
                attention.append(nn.functional.pad(one, (0, rest, 0, rest)))
                window += 1
                continue
            before, after = length - inner, tokens - length
            first = nn.functional.pad(window_states[window][:inner], (0, 0, 0, tokens - inner))
            second = nn.functional.pad(window_states[window + 1][1:], (0, 0, before, after))
            place = torch.arange(tokens, device=first.device)
            covered = (place < inner).to(first.dtype) + ((place >= before) & (place < length)).to(first.dtype)
            states.append((first + second) / covered.clamp(min=1)[:, None])
            first = window_attention[window][:, :inner, :inner]
            first = nn.functional.pad(first, (0, tokens - inner, 0, tokens - inner))
            second = window_attention[window + 1][:, 1:, 1:]
            second = nn.functional.pad(second, (before, after, before, after))
            total = first + second
            attention.append(total / (total.sum(-1, keepdim=True) + 1e-10))
            window += 2
        return states, attention

    def entities(self, batch, document, states, attention):
        """The states [E, d] and attentions [E, H, T] of one document's entities, and their rows in the batch."""
        entity_states, entity_attention, rows = [], [], []
        mention_entity = batch.mention_entity.tolist()
        mention_position = batch.mention_position.tolist()
        for entity, owner in enumerate(batch.entity_document.tolist()):
            if owner != document:
                continue
            places = [mention_position[m] for m in range(len(mention_entity)) if mention_entity[m] == entity]
            entity_states.append(torch.logsumexp(torch.stack([states[place] for place in places]), dim=0))
            entity_attention.append(torch.stack([attention[:, place] for place in places]).mean(0))
            rows.append(entity)
        return entity_states, entity_attention, rows

    def embed(self, batch):
        """The embeddings of head and tail of every pair, in the batch's order."""
        states, attention = self.encode(batch)
        heads, tails, contexts, order = [], [], [], []
        for document in range(len(batch.lengths)):
            pairs = [p for p, owner in enumerate(batch.pair_document.tolist()) if owner == document]
            if not pairs:
                continue
            found = self.entities(batch, document, states[document], attention[document])
            entity_states, entity_attention = torch.stack(found[0]), torch.stack(found[1])
            head = [found[2].index(entity) for entity in batch.head[pairs].tolist()]
            tail = [found[2].index(entity) for entity in batch.tail[pairs].tolist()]
            product = (entity_attention[head] * entity_attention[tail]).mean(1)  # [P, T]
            mass = product.sum(1, keepdim=True)
            either = (entity_attention[head] + entity_attention[tail]).mean(1) / 2
            product = torch.where(mass > 0, product / (mass + 1e-5), either)  # mentions that share no window
            heads.append(entity_states[head])
            tails.append(entity_states[tail])
            contexts.append(product @ states[document])
            order += pairs
        if not order:
            nothing = states[0].new_zeros(0, self.head_extractor.out_features)
            return nothing, nothing
        context = torch.cat(contexts)
        head = torch.tanh(self.head_extractor(torch.cat([torch.cat(heads), context], dim=1)))
        tail = torch.tanh(self.tail_extractor(torch.cat([torch.cat(tails), context], dim=1)))
        back = torch.tensor(order, device=head.device).argsort()
        return head[back], tail[back]

    def forward(self, batch):
        """Scores [P, K + 1]."""
        head, tail = self.embed(batch)
        blocks = head.shape[1] // self.block
        head = head.view(len(head), blocks, self.block)
        tail = tail.view(len(tail), blocks, self.block)
        outer = (head.unsqueeze(3) * tail.unsqueeze(2)).view(len(head), self.bilinear.in_features)
        return self.bilinear(outer)


def bilinear_weight(blocks):
    """The package's weight [B, b * b, C] as that of one linear layer over all outer products [C, B * b * b]."""
    return blocks.flatten(0, 1).t()
