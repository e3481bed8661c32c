"""`unnoted configs`: which settings come with the package?"""

from typing import Annotated

import typer

from unnoted.cli.options import handle_errors, log


@handle_errors
def configs(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The config to show, as YAML.", show_default=False),
    ] = None,
) -> None:
    """List the configs that come with the package, or show one with all its settings.

    `unnoted train NAME` trains it. To start a settings file of your own: unnoted configs NAME > own.yaml
    """
    if name is None:
        from unnoted.configs import published_configs

        found = list(published_configs())
        width = max(len(config.source) for config in found)
        for config in found:
            typer.echo(f"{config.source:{width}}  {config.description}")
        return
    # Here, because it loads torch, which listing does not wait for.
    from unnoted.training.settings import load_settings

    settings = load_settings(name, tell=log)
    typer.echo(settings.to_yaml(), nl=False)
