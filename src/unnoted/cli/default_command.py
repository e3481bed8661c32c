"""A group of commands one of which is meant when none is named: `unnoted priors FILE`."""

from typing import Any, ClassVar

from unnoted.cli.lazy import LazyGroup


class DefaultingGroup(LazyGroup):
    """A group in which a first word that is no command, such as a file, belongs to the default command.

    Attributes:
        default: the name of that command.
    """

    default: ClassVar[str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Put the default command before words that name none; help stays the group's."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)
