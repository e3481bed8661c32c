"""What tests do with a page before they open it."""


def with_script(page, path, script):
    """A copy of a page that does something at its end, and writes what it finds into its title."""
    path.write_text(page.read_text("utf-8").replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    return path


def framed(page, folder, width):
    """A page that has another in a frame of some width, and in its title by how much that is too wide.

    A window has a smallest width of its own, a frame has not.
    """
    measure = (
        "const root = document.documentElement; parent.postMessage(root.scrollWidth - root.clientWidth, '*')"
    )
    measured = with_script(page, folder / "measured.html", measure)
    frame = folder / "frame.html"
    frame.write_text(
        "<!DOCTYPE html><title>unmeasured</title>"
        "<script>onmessage = (event) => { document.title = 'over by ' + event.data; }</script>"
        f"<iframe style='width: {width}px; height: 800px; border: 0' src='{measured.name}'></iframe>"
    )
    return frame
