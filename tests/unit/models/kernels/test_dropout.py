import pytest
import torch
from torch import nn

from unnoted.models.kernels.dropout import (
    FastDropout,
    dropped_bytes,
    kept_share,
    plain_dropout,
    random_bytes,
    use_fast_dropout,
    write_mask,
)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_masks_drop_at_the_rounded_rate_independently(rate):
    torch.manual_seed(0)
    noise = random_bytes(torch.Size([1001, 999]))
    mask = write_mask(noise, dropped_bytes(rate), torch.empty(noise.shape)).bool()
    kept = kept_share(dropped_bytes(rate))
    assert kept == 1 - round(256 * rate) / 256
    assert mask.double().mean().item() == pytest.approx(kept, abs=5e-3)
    both = (mask[:, 1:] & mask[:, :-1]).double().mean().item()  # neighbours share a random number
    assert both == pytest.approx(kept**2, abs=5e-3)
    torch.manual_seed(0)
    assert torch.equal(noise, random_bytes(noise.shape))


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
def test_values_are_dropped_or_scaled_and_keep_their_mean(rate):
    torch.manual_seed(0)
    values = torch.ones(400, 500, requires_grad=True)
    dropped = FastDropout(rate)(values)
    kept = 1 - round(256 * rate) / 256
    scaled = {torch.tensor(1 / kept).item()} if kept else set()
    assert set(dropped.unique().tolist()) == {0.0} | scaled
    assert dropped.mean().item() == pytest.approx(1.0 if rate < 1 else 0.0, abs=0.01)
    (gradient,) = torch.autograd.grad(dropped.sum(), values)
    assert torch.equal(gradient, dropped.detach())


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_it_equals_its_plain_twin(rate):
    values = torch.randn(13, 5, dtype=torch.float64)
    torch.manual_seed(0)
    found = FastDropout(rate)(values)
    torch.manual_seed(0)
    torch.testing.assert_close(found, plain_dropout(values, random_bytes(values.shape), rate))


def test_nothing_is_dropped_outside_training():
    values = torch.randn(5)
    assert torch.equal(FastDropout(0.5).eval()(values), values)
    assert torch.equal(FastDropout(0.0).train()(values), values)


def test_only_dropout_layers_are_replaced():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(0.3), nn.AlphaDropout(0.2)))
    names = list(model.state_dict())
    use_fast_dropout(model)
    assert isinstance(model[1][0], FastDropout) and model[1][0].p == 0.3
    assert type(model[1][1]) is nn.AlphaDropout and list(model.state_dict()) == names
