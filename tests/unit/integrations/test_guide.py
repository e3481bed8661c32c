"""The guide to knowledge graphs does what it says: its Python runs in order."""

import os
import re
from pathlib import Path

import pytest
import spacy
from tests.unit.inference.making import results_of, saved_model

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
pytest.importorskip("rdflib", reason="rdflib is not installed")

from unnoted.inference.graph import write_rdf

PAGE = (Path(__file__).parents[3] / "docs/guides/knowledge-graph.md").read_text("utf-8")
TEXTS = {"a.txt": "Ada met Bo in Kelm.", "b.txt": "Bo likes Kelm. Ada does not."}


def test_the_guide(tmp_path, monkeypatch, capsys):
    nlp = spacy.blank("en")
    patterns = {"Ada": "PERSON", "Bo": "PERSON", "Kelm": "GPE"}
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": label, "pattern": name} for name, label in patterns.items()]
    )
    nlp.to_disk(tmp_path / "en_core_web_sm")
    saved_model(tmp_path / "runs/own", entity_types=["LOC", "PER"])
    os.makedirs(tmp_path / "texts")
    for name, text in TEXTS.items():
        (tmp_path / "texts" / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    names, printed = {}, []
    for block in blocks:
        if "facts.ttl" in block:
            write_rdf(Path("facts.ttl"), results_of([each.to_json() for each in names["extractions"]]), "ttl")
        exec(block.replace("extractor(texts)", "extractor(texts, threshold=0.3)"), names)
        printed.append(capsys.readouterr().out.splitlines())
    _, of_networkx, of_llama_index, _, of_rdf = printed
    assert any(line.startswith("Ada (PER) ") and "b.txt" in line for line in of_networkx)
    assert len(of_networkx) == len(names["edges"]) > 0 and of_llama_index and of_rdf
    assert {edge["document"] for edge in names["edges"]} == set(TEXTS)
