"""Reads HTML strictly: every element is closed in its turn, and every id is there once."""

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}


@dataclass
class Element:
    tag: str
    attributes: dict
    parent: "Element | None" = None
    children: list = field(default_factory=list)

    @property
    def classes(self):
        return (self.attributes.get("class") or "").split()

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag=None, **attributes):
        """Every element below of a tag; `class_` asks for one class, `data_x` for the attribute data-x."""
        wanted_class = attributes.pop("class_", None)
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        for child in self.children:
            if isinstance(child, str):
                continue
            if (
                tag in (None, child.tag)
                and (wanted_class is None or wanted_class in child.classes)
                and wanted.items() <= child.attributes.items()
            ):
                yield child
            yield from child.all(
                tag, **attributes, **({"class_": wanted_class} if wanted_class is not None else {})
            )

    def only(self, tag=None, **attributes):
        (found,) = self.all(tag, **attributes)
        return found

    def without(self, tag):
        """The text, but for that in elements of a tag."""
        return "".join(
            child if isinstance(child, str) else child.without(tag)
            for child in self.children
            if isinstance(child, str) or child.tag != tag
        )


class _Builder(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = self.current = Element("", {})

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        element = Element(tag, dict(attrs), self.current)
        self.current.children.append(element)
        if tag not in VOID:
            self.current = element

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.current.tag == tag, f"</{tag}> closes <{self.current.tag}>"
        self.current = self.current.parent

    def handle_data(self, data):
        self.current.children.append(data)


def parse(html):
    """The root of the elements of a page or a piece of one."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert builder.current is builder.root, f"<{builder.current.tag}> is not closed"
    ids = Counter(element.attributes["id"] for element in builder.root.all() if "id" in element.attributes)
    assert not [name for name, number in ids.items() if number > 1], "an id is there twice"
    return builder.root
