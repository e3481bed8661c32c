"""`unnoted configs`: which settings come with the package?"""

from typing import Annotated

import typer

from unnoted.cli.common import console, reports_errors, table


@reports_errors
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
        from unnoted.training.configs import published_configs

        rows = table(None, "config", "what it is", text=2)
        for config in published_configs():
            rows.add_row(config.source, config.description)
        console().print(rows)
        return
    # Here, because it loads torch, which listing need not wait for.
    from unnoted.training.settings import load_settings

    settings = load_settings(name, tell=lambda line: typer.echo(line, err=True))
    typer.echo(settings.to_yaml(), nl=False)
