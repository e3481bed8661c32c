"""SSR-PU one class after the other, as a research program computes it: the benchmark's opponent."""


def ssr_pu_by_class(scores, labels, labelled_priors, priors, margin=0.25):
    """The squared ranking loss in the S-PU estimator with the flip rule, class by class (Eq. 11 and 13)."""
    total = scores.new_zeros(())
    for k, (labelled_prior, prior) in enumerate(zip(labelled_priors, priors, strict=True)):
        unlabelled_prior = (prior - labelled_prior) / (1 - labelled_prior)
        difference = scores[:, k + 1] - scores[:, 0]
        positive = difference[labels[:, k]]
        unlabelled = difference[~labels[:, k]]
        if_positive = ((positive - margin) ** 2 / 4).sum() / max(len(positive), 1)
        if_negative = ((-positive - margin) ** 2 / 4).sum() / max(len(positive), 1)
        unlabelled_loss = ((-unlabelled - margin) ** 2 / 4).sum() / max(len(unlabelled), 1)
        weight = ((1 - prior) / prior) ** 0.5 if prior else 0.0
        negative_part = (
            (1 - prior) / (1 - unlabelled_prior) * (unlabelled_loss - unlabelled_prior * if_negative)
        )
        if negative_part < 0:
            total = total - negative_part
        else:
            total = total + prior * weight * if_positive + negative_part
    return total
