"""`python -m tools.docs`: write the generated parts of the documentation that are out of date."""

from tools.docs.architecture import PAGE, page_with_table
from tools.docs.pages import DOCS, drawings, out_of_date


def main() -> None:
    """Write the drawings that differ, remove those that nothing makes any more, and list the rooms anew."""
    made = drawings()
    for name in out_of_date(made):
        if name in made:
            (DOCS / name).write_text(made[name], "utf-8")
        else:
            (DOCS / name).unlink()
        print(f"docs/{name}: {'written' if name in made else 'removed'}")
    page = (DOCS / PAGE).read_text("utf-8")
    (DOCS / PAGE).write_text(page_with_table(page), "utf-8")


if __name__ == "__main__":
    main()
