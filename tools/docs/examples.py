"""An extension of Griffe, which reads the docstrings for the site."""

from typing import Any

from griffe import Extension, Object


class ExampleSections(Extension):
    """Takes the section `Example:` for `Examples:`, the only one that Griffe shows as code."""

    def on_object(self, *, obj: Object, **_: Any) -> None:  # noqa: ANN401
        """Rewrite the heading in the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")
