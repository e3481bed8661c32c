"""Objects that tests of several packages use."""

import pytest

from unnoted.losses import LOSSES, create_loss
from unnoted.models.encoders.packed_bert import supports_int8

eight_bits = pytest.mark.skipif(not supports_int8(), reason="this CPU has no instructions for 8 bits")


def make_loss(name, priors=None, **options):
    """The loss of a name; priors go to those that need them."""
    return create_loss(name, priors if LOSSES[name].needs_priors else None, **options)
