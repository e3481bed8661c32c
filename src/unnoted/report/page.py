"""One HTML page that needs nothing else: style, script and plots lie within it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from unnoted.common.files import write_text
from unnoted.report.templating import fill


@dataclass(frozen=True, slots=True)
class Headline:
    """A figure that is shown large.

    Attributes:
        title: what it belongs to.
        figure: the figure.
        unit: what the figure is.
        details: smaller figures below, each with its name.
    """

    title: str
    figure: str
    unit: str
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page.

    Attributes:
        anchor: its id; letters and hyphens.
        title: its heading.
        body: its content, as HTML.
    """

    anchor: str
    title: str
    body: Markup


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        title: its first heading.
        lead: what it comes to, in a few sentences.
        headlines: figures that are shown large.
        sections: its parts.
    """

    title: str
    lead: tuple[str, ...]
    headlines: tuple[Headline, ...]
    sections: tuple[Section, ...]

    def to_html(self) -> str:
        """The whole file.

        Example:
            >>> page = Page("Results", ("All is well.",), (), (Section("a", "A", paragraphs("5 < 6")),))
            >>> "<p>5 &lt; 6</p>" in page.to_html()
            True
        """
        return f"{fill('page', page=self)}\n"

    def write(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        with write_text(Path(path)) as stream:
            stream.write(self.to_html())


def paragraphs(*texts: str | Markup) -> Markup:
    """Texts as paragraphs, escaped unless they are HTML.

    Example:
        >>> print(paragraphs("A & B", Markup("<em>C</em>")))
        <p>A &amp; B</p>
        <p><em>C</em></p>
    """
    return Markup("\n").join(Markup("<p>{}</p>").format(text) for text in texts)


def figure(content: Markup, caption: str) -> Markup:
    """A plot with what it shows."""
    return Markup('<figure class="plot">\n{}\n<figcaption>{}</figcaption>\n</figure>').format(
        content, caption
    )


def plots(figures: Sequence[Markup]) -> Markup:
    """Plots beside one another where the window is wide enough."""
    return Markup('<div class="plots">\n{}\n</div>').format(joined(figures))


def broad(content: Markup) -> Markup:
    """Content that may be wider than the column of text."""
    return Markup('<div class="broad">\n{}\n</div>').format(content)


def heading(text: str) -> Markup:
    """A heading within a section."""
    return Markup("<h3>{}</h3>").format(text)


def listed(lines: Sequence[str]) -> Markup:
    """Lines as a list.

    Example:
        >>> print(listed(["a < b"]))
        <ul>
        <li>a &lt; b</li>
        </ul>
    """
    return Markup("<ul>\n{}\n</ul>").format(joined([Markup("<li>{}</li>").format(line) for line in lines]))


def fine(*texts: str) -> Markup:
    """What signs mean, in small letters."""
    return Markup('<p class="fine">{}</p>').format(Markup("<br>\n").join(texts))


def folded(title: str, content: Markup) -> Markup:
    """Content that is shown when asked for."""
    return Markup("<details>\n<summary>{}</summary>\n{}\n</details>").format(title, content)


def joined(parts: Sequence[Markup]) -> Markup:
    """Parts below one another."""
    return Markup("\n").join(parts)
