from tests.unit.report.making import fact, predicted, words

from unnoted.report.judged_facts import State, judge

ENTITIES = [(0, 1, "PER", "Ada"), (1, 2, "PER", "Bo"), (2, 3, "LOC", "Rome")]
DOCUMENT = words("Ada Bo Rome", *ENTITIES, facts=[fact(0, 1, "spouse", 0)])


def states(*hidden, **extractions):
    return {judged.triple: judged.state for judged in judge(DOCUMENT, hidden, extractions)}


def test_each_state():
    found = states(
        fact(1, 0, "spouse"),
        fact(0, 2, "home"),
        A=predicted(DOCUMENT, (0, 1, "spouse", 0.9), (1, 0, "spouse", 0.8), (1, 2, "home", 0.6)),
    )
    assert found == {
        (0, 1, "spouse"): State.LABELLED,
        (1, 0, "spouse"): State.FOUND,
        (0, 2, "home"): State.MISSED,
        (1, 2, "home"): State.WRONG,
    }


def test_one_method_is_enough_to_find():
    silent, finder = predicted(DOCUMENT), predicted(DOCUMENT, (1, 0, "spouse", 0.8))
    hidden = fact(1, 0, "spouse")
    assert states(hidden, A=silent, B=finder)[1, 0, "spouse"] is State.FOUND
    (_, judged) = judge(DOCUMENT, [hidden], {"A": silent, "B": finder})
    assert judged.found == {"A": None, "B": finder.facts[0]}


def test_what_is_listed_below_the_decision_is_not_predicted():
    below = predicted(DOCUMENT, (1, 0, "spouse", 0.4), (1, 2, "home", 0.3), decided=False)
    found = judge(DOCUMENT, [fact(1, 0, "spouse")], {"A": below})
    assert [judged.state for judged in found] == [State.LABELLED, State.MISSED]
    assert found[1].found["A"] == below.facts[0]


def test_true_facts_keep_their_order_and_wrong_ones_fall_in_probability():
    hidden = [fact(2, 0, "z"), fact(2, 1, "a")]
    wrong = predicted(DOCUMENT, (0, 2, "x", 0.6), (1, 2, "x", 0.9), (2, 0, "x", 0.7))
    found = [judged.triple for judged in judge(DOCUMENT, hidden, {"A": wrong})]
    assert found[:3] == [(0, 1, "spouse"), (2, 0, "z"), (2, 1, "a")]
    assert found[3:] == [(1, 2, "x"), (2, 0, "x"), (0, 2, "x")]


def test_evidence_of_true_facts_is_that_of_the_labels():
    document = words("Ada Bo Rome", *ENTITIES, facts=[fact(0, 1, "spouse", 2)])
    found = judge(
        document,
        [fact(1, 0, "spouse", 1)],
        {"A": predicted(document, (0, 1, "spouse", 0.9), (1, 0, "spouse", 0.9), (0, 2, "home", 0.9))},
    )
    assert [judged.evidence for judged in found] == [(2,), (1,), (0,)]


def test_a_fact_that_is_labelled_and_hidden_is_labelled_once():
    assert states(fact(0, 1, "spouse")) == {(0, 1, "spouse"): State.LABELLED}


def test_no_facts():
    assert judge(words("Ada", (0, 1, "PER", "Ada")), [], {}) == ()


def test_each_state_has_its_own_symbol_and_words():
    for part in ("symbol", "title", "meaning"):
        assert len({getattr(state, part) for state in State}) == len(State)
