"""A page of many documents: whole, folded, and nothing in it is taken for markup."""

import re

from tests.factories import fact, words
from tests.markup import parse

from unnoted.data import CandidatePairs, Corpus, Document, RelationVocabulary
from unnoted.data.synthetic import generate_documents
from unnoted.data.visualization import DocumentEntry, FactTable, documents_page, notebook_html
from unnoted.data.visualization.pages import AT_ONCE, NOTEBOOK_DOCUMENTS

HOSTILE = '</script><script>alert("1")</script><!--<script> {{ 7 * 7 }}'


def drawn(id="d", name="Ada"):
    document = words(
        "Ada met Bo .", (0, 1, "PER", name), (2, 3, "PER", "Bo"), facts=[fact(0, 1, "r", 0)], id=id
    )
    return DocumentEntry(document, FactTable.from_facts(document.facts), {"r": "met"})


def test_the_first_documents_are_in_the_page_and_the_others_kept_as_text():
    page = documents_page("Facts", ["One line."], [drawn(f"d{number}") for number in range(AT_ONCE + 2)])
    root = parse(page)
    entries = list(root.all("details"))
    assert len(entries) == AT_ONCE + 2
    assert ["open" in entry.attributes for entry in entries] == [True, *[False] * (AT_ONCE + 1)]
    assert [entry.only("span", class_="name").text for entry in entries][-1] == f"d{AT_ONCE + 1}"
    kept = list(root.all("script", class_="kept"))
    assert len(kept) == 2 and {script.attributes["type"] for script in kept} == {"text/html"}
    inner = parse(kept[-1].text)
    assert inner.only("tr", class_="fact").attributes["id"] == f"document-{AT_ONCE + 2}-fact-1"
    assert len(list(root.all("noscript"))) == 1
    assert not list(parse(documents_page("Facts", [], [drawn()])).all("noscript"))


def test_it_says_where_it_was_cut():
    assert "The first 1 of 5,000 documents" in documents_page("Facts", [], [drawn()], total=5000)
    assert "The first" not in documents_page("Facts", [], [drawn()], total=1)


def test_nothing_is_fetched():
    page = documents_page("Facts", [], [drawn()])
    assert not re.search(r"https?:|//[a-z]|@import|@font-face|url\(", page.replace("// ", ""))
    assert "default-src 'none'" in page


def test_hostile_names_stay_text_also_where_documents_are_kept_as_text():
    page = documents_page(HOSTILE, [HOSTILE], [drawn(HOSTILE, HOSTILE) for _ in range(AT_ONCE + 1)])
    root = parse(page)
    scripts = list(root.all("script"))
    assert [script.classes for script in scripts] == [["kept"], []]
    assert root.only("h1").text == HOSTILE
    inner = parse(scripts[0].text)
    assert not list(inner.all("script"))
    assert inner.only("caption").text == f"Facts of {HOSTILE}"


def test_a_notebook_gets_all_of_it_and_the_title_is_text():
    html = notebook_html(Document(HOSTILE, (("x",),), ()))
    root = parse(html)
    assert root.only("p", class_="title").text == f"{HOSTILE}: 1 sentence, 0 entities, 0 facts"
    assert len(list(root.all("style"))) == len(list(root.all("script"))) == 1


def test_notebooks_show_documents_and_the_first_of_a_corpus():
    documents = tuple(generate_documents(NOTEBOOK_DOCUMENTS + 2))
    corpus = Corpus(
        documents, RelationVocabulary(("child_of",), {"child_of": "is a child of"}), CandidatePairs()
    )
    html = corpus._repr_html_()
    assert html.count("<details") == NOTEBOOK_DOCUMENTS
    assert f"The first {NOTEBOOK_DOCUMENTS} of 12 documents." in html
    assert "is a child of" in html and html.count("<style>") == 1
    rendered = documents[0]._repr_html_()
    assert rendered.count('<tr class="fact"') == len(documents[0].facts) > 0
    assert len(repr([corpus, *documents])) < 2000
