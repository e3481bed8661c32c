"""A person's path: a text, a model's folder, an entity pipeline; a page of facts in under a minute, without training."""

import os
import re
import subprocess
import sys
import time

import spacy
from tests.unit.inference.making import saved_model

NOTES = """Ada Lorne moved from Kelm to Porto in 1990. There she founded Norbank with Bo Hale.

Norbank, whose seat is in Porto, was sold to Hale & Sons in 2004. Ada Lorne lives in Kelm again.
"""
NAMES = {
    "PERSON": ["Ada Lorne", "Bo Hale"],
    "GPE": ["Kelm", "Porto"],
    "ORG": ["Norbank", "Hale & Sons"],
    "DATE": ["1990", "2004"],
}


def test_raw_text_to_a_page_in_under_a_minute(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": label, "pattern": name} for label, names in NAMES.items() for name in names]
    )
    nlp.to_disk(tmp_path / "pipeline")
    saved_model(tmp_path / "model", entity_types=["LOC", "ORG", "PER", "TIME"])
    (tmp_path / "notes.txt").write_text(NOTES, "utf-8")
    command = "predict model notes.txt --entities pipeline --threshold 0.3 --to facts.html"
    started, before = time.monotonic(), os.times()
    done = subprocess.run(
        [sys.executable, "-m", "unnoted", *command.split()],
        cwd=tmp_path, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert done.returncode == 0, done.stderr
    # Of a machine that is busy with something else, the time that was spent counts.
    assert min(time.monotonic() - started, spent) < 60
    page = (tmp_path / "facts.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>") and "notes.txt" in page
    assert all(name.replace("&", "&amp;") in page for names in NAMES.values() for name in names)
    assert len(re.findall(r'<tr class="fact"', page)) > 3
