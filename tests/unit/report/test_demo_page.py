import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.unit.report.making import SECTIONS, demonstration, fact, predicted, silent, with_shown, words
from tests.unit.report.markup import parse

from unnoted.evaluation import Reliability, Score
from unnoted.experiments.demonstrate import ShownDocument
from unnoted.report import demo_page

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def page():
    return demo_page(demonstration())


@pytest.fixture(scope="module")
def root(page):
    return parse(page)


def text_of(made):
    return " ".join(parse(demo_page(made)).only("body").text.split())


def with_f1(first, second):
    """The demonstration in which the two methods have these scores overall, each of 100 true facts."""
    scored = [
        replace(each, evaluation=replace(each.evaluation, overall=Score(correct, 100, 100)))
        for each, correct in zip(demonstration().methods, (first, second), strict=True)
    ]
    return replace(demonstration(), methods=tuple(scored))


def test_the_page_is_a_whole_one(page, root):
    assert page.startswith("<!DOCTYPE html>")
    assert root.only("html").attributes["lang"] == "en-GB"
    assert root.only("head").only("title").text == root.only("h1").text
    for section in root.only("main").all("section"):
        heading = next(section.all("h2"))
        assert heading.attributes["id"] == section.attributes["aria-labelledby"]


def test_every_section_table_and_plot(root):
    sections = [section.attributes["id"] for section in root.only("main").all("section")]
    assert sections == SECTIONS
    tables = {name: len(list(root.only("section", id=name).all("table"))) for name in sections}
    assert tables == {
        **dict.fromkeys(sections, 0),
        **{"methods": 1, "relations": 1, "documents": 2},
    }
    for figure in root.all("figure"):
        assert figure.only("svg").attributes["role"] == "img"
        assert figure.only("figcaption").text
    assert len(list(root.all("figure", class_="plot"))) == 3
    assert "unnoted demo" in root.only("code").text


def test_calibrated_probabilities_are_drawn_beside_what_is_true(root):
    made = demonstration()
    kept = {"stated": Reliability.from_scores([0.6, 0.9], [False, True])}
    *others, last = made.methods
    last = replace(last, evaluation=replace(last.evaluation, reliability=kept))
    (section,) = parse(demo_page(replace(made, methods=(*others, last)))).all("section", id="probabilities")
    shown = section.only("svg").text
    assert f"{last.title}, stated: calibration error 0.350" in shown
    assert not list(root.all("section", id="probabilities"))  # nobody is calibrated there


def test_nothing_is_fetched(page, root):
    assert not re.search(r"https?:|//[a-z]|@import|@font-face|url\((?!#)", page.replace("// ", ""))
    assert not [element for element in root.all() if {"src", "srcset", "data"} & element.attributes.keys()]
    assert not list(root.all("link"))


def test_the_figures_are_those_of_the_demonstration(root):
    made = demonstration()
    headlines = [
        (next(box.all("h2")).text, box.only("span", class_="figure").text, [dd.text for dd in box.all("dd")])
        for box in root.all("section", class_="headline")
    ]
    assert headlines == [
        (
            each.title,
            f"{100 * each.evaluation.overall.f1:.1f}",
            [
                f"{100 * value:.1f}"
                for value in (each.evaluation.overall.precision, each.evaluation.overall.recall)
            ],
        )
        for each in made.methods
    ]
    done = root.only("section", id="done").text
    for number in (
        made.train_documents,
        made.labelled,
        made.hidden,
        made.labelled + made.hidden,
        made.epochs,
    ):
        assert re.search(rf"\b{number:,}\b", done)
    assert made.encoder in done and "seed 1" in done and "2.9 times" in done
    for each in made.methods:
        told = (
            f"{each.title} found {each.recovered.correct} of the {each.recovered.gold} hidden facts "
            f"({100 * each.recovered.recall:.1f}%). Of the {each.recovered.predicted} facts it predicts "
            f"beyond the labels, {100 * each.recovered.precision:.1f}% are true."
        )
        assert told in root.only("section", id="recovered").text
    nothing_hidden = "nothing hidden, reaches an F1 of 71.1 (precision 80.0, recall 64.0)"
    assert nothing_hidden in root.only("section", id="methods").text


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (40, 60, "SSR-PU reaches an F1 of 60.0: 20.0 points above ATLOP (40.0)."),
        (60, 40, "SSR-PU reaches an F1 of 40.0: 20.0 points below ATLOP (60.0)."),
        (50, 50, "SSR-PU reaches an F1 of 50.0, the same as ATLOP."),
    ],
)
def test_it_reads_correctly_whichever_wins(first, second, told):
    assert told in text_of(with_f1(first, second))


@pytest.mark.slow
def test_the_same_demonstration_gives_the_same_bytes(page, tmp_path):
    program = (
        "from tests.unit.report.making import demonstration; from unnoted.report import demo_page; "
        "import sys; open(sys.argv[1], 'w', encoding='utf-8').write(demo_page(demonstration()))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "SOURCE_DATE_EPOCH": "1"}
    path = tmp_path / "other.html"
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, env=environment, cwd=os.curdir)
    assert path.read_bytes() == page.encode()


def test_a_demonstration_without_a_method_is_refused():
    with pytest.raises(ValueError, match="expected at least one"):
        demo_page(replace(demonstration(), methods=()))


def test_a_method_that_predicts_nothing():
    made = replace(demonstration(), methods=(demonstration().methods[0], silent()))
    text = text_of(made)
    assert "Silence predicts nothing in the training documents beyond what was labelled." in text
    assert "No curve for Silence" in text and "Silence: predicts nothing" in text


def test_one_method_alone_and_three():
    one, two = demonstration().methods
    alone = text_of(replace(demonstration(), methods=(one,)))
    assert "ATLOP was trained" in alone and "points" not in alone.split("What was done")[0]
    assert "The methods of the paper differ" not in alone
    three = text_of(replace(demonstration(), methods=(one, two, silent())))
    assert "ATLOP, SSR-PU and Silence were trained" in three
    assert "Silence reaches an F1 of 0.0" in three


def test_everything_labelled_and_nothing_shown():
    methods = tuple(replace(each, recovered=Score(0, 0, 0)) for each in demonstration().methods)
    text = text_of(replace(demonstration(), hidden=0, shown=(), methods=methods))
    assert "all of them labelled" in text and "No document was chosen to be shown." in text


def test_relations_without_a_true_fact_are_named_as_left_out():
    (one, _) = demonstration().methods
    true = {relation: score for relation, score in one.evaluation.relations.items() if score.gold}

    def told(relations):
        evaluation = replace(one.evaluation, relations=relations)
        return text_of(replace(demonstration(), methods=(replace(one, evaluation=evaluation),)))

    assert "Left out" not in told(true)
    assert "Left out: 1 relation without a true fact there." in told({**true, "nowhere": Score(0, 3, 0)})
    assert "No relation has a true fact" in told({})


def test_hostile_names_everywhere():
    document = words(
        f"{HOSTILE} x",
        (0, 1, HOSTILE, HOSTILE),
        (1, 2, "T", "x" * 3000),
        facts=[fact(0, 1, HOSTILE, 0)],
        id=HOSTILE,
    )
    shown = ShownDocument(
        document, (fact(1, 0, HOSTILE, 0),), {HOSTILE: predicted(document, (1, 0, HOSTILE, 0.9))}
    )
    made = with_shown(shown)
    made = replace(
        made,
        encoder=HOSTILE,
        relation_names=dict.fromkeys(made.relation_names, HOSTILE),
        methods=(replace(made.methods[0], title=HOSTILE), made.methods[1]),
    )
    page = demo_page(made)
    root = parse(page)
    assert len(list(root.all("script"))) == 1 == page.count("<script")
    assert not [name for element in root.all() for name in element.attributes if name.startswith("on")]
    assert HOSTILE in root.only("section", id="done").text
    assert [th.text for th in root.only("section", id="methods").all("th", scope="row")] == [
        HOSTILE,
        "SSR-PU",
    ]


def test_reports_are_not_loaded_by_the_command_line():
    program = "import sys, unnoted.cli.main; print('matplotlib' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout == "False\n"
