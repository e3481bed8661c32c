import torch
from hypothesis import given
from hypothesis import strategies as st

from unnoted.models.kernels.segments import segment_logsumexp, segment_mean


@given(counts=st.lists(st.integers(1, 4), min_size=1, max_size=5), scale=st.sampled_from([1.0, 1e3]))
def test_log_sum_exp_and_mean_equal_a_loop(counts, scale):
    segment = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    generator = torch.Generator().manual_seed(sum(counts))
    order = torch.randperm(len(segment), generator=generator)
    segment = segment[order]
    values = torch.randn(len(segment), 3, generator=generator, dtype=torch.float64) * scale
    loop = torch.stack([values[segment == group].logsumexp(0) for group in range(len(counts))])
    torch.testing.assert_close(segment_logsumexp(values, segment, len(counts)), loop)
    loop = torch.stack([values[segment == group].mean(0) for group in range(len(counts))])
    torch.testing.assert_close(segment_mean(values, segment, len(counts)), loop)


def test_gradients_are_right():
    segment = torch.tensor([0, 2, 0, 1])
    values = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda rows: segment_logsumexp(rows, segment, 3), values)
    assert torch.autograd.gradcheck(lambda rows: segment_mean(rows, segment, 4), values)


def test_no_rows_and_no_segments():
    nothing = torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64), 0
    assert segment_logsumexp(*nothing).shape == segment_mean(*nothing).shape == (0, 3)
