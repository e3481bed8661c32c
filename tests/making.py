"""What tests of several rooms make."""

from unnoted.risks import loss_named


def make_risk(name, priors=None, **options):
    """The risk of a loss by name; priors go to those that need them."""
    loss = loss_named(name)
    return loss(priors if loss.needs_priors else None, **options)
