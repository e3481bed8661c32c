"""The generated parts of docs/architecture.md: which room imports which, read from the source.

A room is a package or a single module directly below `unnoted`. The source is parsed, not imported.
"""

import ast
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import networkx as nx
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from tools.docs.drawing import INK, WIDTH, svg

SOURCE = Path(__file__).parents[2] / "src/unnoted"
PAGE, DRAWING = "architecture.md", "architecture.svg"
"""Paths below `docs/`."""

HEIGHT = 0.6
"""Inches of a row."""

CHAIN, ASIDE = 0.3, (0.66, 0.86)
"""Where rooms stand across the drawing: those of the longest chain of imports, and the others in turns."""

Place = tuple[float, float]

TEXT: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9.5, "color": INK}
BOX = {"boxstyle": "round,pad=0.45", "facecolor": "#eef1fb", "edgecolor": "#3f51b5", "linewidth": 0.9}
ARROW: dict[str, Any] = {
    "arrowstyle": "-|>",
    "color": "#7d8595",
    "linewidth": 0.8,
    "mutation_scale": 9,
    "shrinkA": 0,
}


def import_graph() -> "nx.DiGraph[str]":
    """Every room, with an edge from each room to those that import it.

    Example:
        >>> import_graph().has_edge("documents", "features"), import_graph().has_edge("features", "documents")
        (True, False)
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if not room.startswith("__"):
            graph.add_node(room)
            graph.add_edges_from((other, room) for other in _imported(path) if other != room)
    return graph


def room_table() -> str:
    """A Markdown table of the rooms in an order in which each stands after those that it imports."""
    graph = import_graph()
    imports = {room: ", ".join(f"`{other}`" for other in sorted(graph.predecessors(room))) for room in graph}
    rows = [f"| `{room}` | {_summary(room)} | {imports[room]} |" for row in _rows(graph) for room in row]
    return "\n".join(["| room | what it has | imports |", "|---|---|---|", *rows])


def page_with_table(page: str) -> str:
    """The page with the present table between its two marks."""
    return re.sub(
        r"(<!-- rooms: .*? -->\n).*?(\n<!-- end of rooms -->)",
        lambda found: f"{found[1]}\n{room_table()}\n{found[2]}",
        page,
        flags=re.DOTALL,
    )


def drawing() -> str:
    """The graph as SVG, without the edges that follow from others."""
    graph = nx.transitive_reduction(import_graph())
    places = _places(graph)
    lowest = min(y for _, y in places.values())
    figure = Figure(figsize=(WIDTH, HEIGHT * (1 - lowest)), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1), ylim=(lowest - 0.5, 0.5))
    axes.axis("off")
    for room, place in places.items():
        axes.text(*place, room, **TEXT, bbox=BOX)
    for above, below in sorted(graph.edges):
        axes.add_patch(
            FancyArrowPatch(places[above], places[below], **_way(places[above], places[below]), **ARROW)
        )
    return svg(figure, "Rooms and their imports")


def _imported(path: Path) -> Iterator[str]:
    """The rooms that a module imports, within functions too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module == "unnoted":
            names = [f"unnoted.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            room = rest.partition(".")[0]
            if package == "unnoted" and (
                (SOURCE / room / "__init__.py").exists() or (SOURCE / f"{room}.py").exists()
            ):
                yield room


def _summary(room: str) -> str:
    """The first paragraph of a room's docstring."""
    path = SOURCE / room / "__init__.py"
    text = (path if path.exists() else SOURCE / f"{room}.py").read_text("utf-8")
    return " ".join((ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0].split()).replace(
        "|", "\\|"
    )


def _rows(graph: "nx.DiGraph[str]") -> list[list[str]]:
    """Rooms in rows: every room as near as can be above the rooms that import it."""
    return [sorted(row) for row in nx.topological_generations(graph.reverse())][::-1]


def _places(graph: "nx.DiGraph[str]") -> dict[str, Place]:
    """Where each room stands in the drawing: a row each, if no two are on one level."""
    chain, aside = set(nx.dag_longest_path(graph)), cycle(ASIDE)
    return {
        room: (CHAIN if room in chain else next(aside), -float(place))
        for place, row in enumerate(_rows(graph))
        for room in row
    }


def _way(above: Place, below: Place) -> dict[str, Any]:
    """How an arrow goes: straight down, out of the chain and down, or down and into the chain."""
    if above[0] == below[0]:
        return {"shrinkB": 13}
    if below[0] == CHAIN:
        return {"connectionstyle": "angle,angleA=90,angleB=0,rad=6", "shrinkB": 38}
    return {"connectionstyle": "angle,angleA=0,angleB=90,rad=6", "shrinkB": 13}
