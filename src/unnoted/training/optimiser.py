"""Which weights learn at which rate: the encoder's, those over the entity-by-entity map, and all others."""

from typing import Any

import torch
from torch import nn

from unnoted.models.model import RelationModel
from unnoted.training.optimisation import Optimisation

ENCODER = ("encoder.",)
"""How the names of the encoder's weights begin."""


def map_layers(model: RelationModel) -> tuple[str, ...]:
    """How the names of a model's weights over the map begin; empty for a model without a map."""
    return tuple(f"pair_encoder.{name}." for name in getattr(model.pair_encoder, "map_layers", ()))


def check_map_learning_rate(model: RelationModel, optimisation: Optimisation) -> None:
    """Refuse a rate for layers that a model does not have.

    Raises:
        ValueError: names the rate and the model.
    """
    if optimisation.map_learning_rate is not None and not map_layers(model):
        raise ValueError(
            f"map_learning_rate: found {optimisation.map_learning_rate}, expected none: the model "
            f"{model.config.architecture!r} has no layers over an entity-by-entity map, as docunet and "
            "kd-docre have"
        )


def parameter_groups(
    model: nn.Module, optimisation: Optimisation, over_map: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The weights that learn, each in one group with its rate.

    Without a rate for the map there are two groups, so that checkpoints from before there was one still fit.

    Args:
        model: whose weights they are.
        optimisation: gives the rates.
        over_map: what `map_layers` gives.

    Example:
        >>> model = nn.ModuleDict({name: nn.Linear(1, 1) for name in ("encoder", "pairs", "scores")})
        >>> rates = {"encoder_learning_rate": 1e-5, "map_learning_rate": 3e-4, "head_learning_rate": 1e-4}
        >>> optimisation = Optimisation(**rates)
        >>> groups = parameter_groups(model, optimisation, ("pair_encoder.",))
        >>> [(group["lr"], len(group["params"])) for group in groups]
        [(1e-05, 2), (0.0001, 2), (0.0003, 2)]
    """
    named = [item for item in model.named_parameters() if item[1].requires_grad]
    over_map = () if optimisation.map_learning_rate is None else over_map
    chosen = [
        (optimisation.encoder_learning_rate, [weight for name, weight in named if name.startswith(ENCODER)]),
        (
            optimisation.head_learning_rate,
            [weight for name, weight in named if not name.startswith((*ENCODER, *over_map))],
        ),
    ]
    if optimisation.map_learning_rate is not None:
        chosen.append(
            (optimisation.map_learning_rate, [weight for name, weight in named if name.startswith(over_map)])
        )
    groups: list[dict[str, Any]] = [{"params": weights, "lr": rate} for rate, weights in chosen]
    if optimisation.encoder_weight_decay is not None:
        groups[0]["weight_decay"] = optimisation.encoder_weight_decay
    return groups


def make_optimiser(
    model: nn.Module, optimisation: Optimisation, over_map: tuple[str, ...], device: torch.device
) -> torch.optim.AdamW:
    """AdamW over the groups of `parameter_groups`."""
    return torch.optim.AdamW(
        parameter_groups(model, optimisation, over_map),
        eps=optimisation.adam_epsilon,
        weight_decay=optimisation.weight_decay,
        fused=device.type in ("cpu", "cuda"),
    )
