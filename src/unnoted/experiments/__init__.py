"""Many runs and what they come to: tables of the paper, comparisons of one's own, the demonstration."""
