"""`python -m tools.docs`: write the reference and the plots that are not up to date."""

from tools.docs.names import room_pages
from tools.docs.pages import DOCS, out_of_date, reference_pages, same_drawing, same_text
from tools.docs.plots import plots

API = "reference/api"
"""Where the full docstrings go. They are not kept with the project: the source has them."""


def main() -> None:
    """Write what differs, and remove what nothing makes any more."""
    kinds = (
        (reference_pages(), "reference/*.md", same_text),
        (plots(), "concepts/*.svg", same_drawing),
        ({f"{API}/{name}": text for name, text in room_pages().items()}, f"{API}/*.md", same_text),
    )
    (DOCS / API).mkdir(parents=True, exist_ok=True)
    for made, pattern, same in kinds:
        changed = out_of_date(made, pattern, same)
        for name in changed:
            if name in made:
                (DOCS / name).write_text(made[name], "utf-8")
            else:
                (DOCS / name).unlink()
        print(f"docs/{pattern}: {len(made)} files, {len(changed)} of them changed")


if __name__ == "__main__":
    main()
