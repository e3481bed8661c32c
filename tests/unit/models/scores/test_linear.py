import torch

from unnoted.models.scores.linear import LinearScores


def test_scores_are_a_linear_layer_in_full_precision():
    torch.manual_seed(0)
    scorer = LinearScores(8, 3)
    vectors = torch.randn(5, 8)
    expected = vectors @ scorer.layer.weight.t() + scorer.layer.bias
    torch.testing.assert_close(scorer(vectors), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(scorer(vectors), expected)
    assert scorer.to(torch.bfloat16)(vectors.bfloat16()).dtype == torch.float32
    assert scorer.double()(vectors.double()).dtype == torch.float64
