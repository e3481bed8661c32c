"""An extension of Griffe, which reads the docstrings for the site."""

from typing import Any

from griffe import Attribute, Docstring, Extension, Object


class Docstrings(Extension):
    """Adapts our docstrings to what Griffe and mkdocstrings expect."""

    def on_object(self, *, obj: Object, **_: Any) -> None:  # noqa: ANN401
        """Take the section `Example:` for `Examples:`, the only one that is shown as code."""
        if obj.docstring is not None:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")

    def on_attribute(self, *, attr: Attribute, **_: Any) -> None:  # noqa: ANN401
        """Show constants without a docstring, whose value says enough; those of a class its own describes."""
        if attr.docstring is None and attr.parent is not None and attr.parent.is_module:
            attr.docstring = Docstring("", parent=attr)
