"""The sentences of the generated corpus, as data.

`{h}` and `{t}` are the head and the tail; `[h:son|daughter]` depends on the gender of the head, `[t:...]` on
that of the tail. The final full stop is added when a sentence is put together.
"""

STATEMENTS: dict[str, tuple[str, ...]] = {
    "child_of": (
        "{h} was the [h:son|daughter] of {t}",
        "{t} was the [t:father|mother] of {h}",
        "{h} was a child of {t}",
        "{t} brought up {h} as [t:his|her] own child",
    ),
    "sibling_of": (
        "{h} was the [h:brother|sister] of {t}",
        "{h} and {t} were siblings",
        "{h} had the same parents as {t}",
    ),
    "spouse_of": (
        "{h} was married to {t}",
        "{h} became the [h:husband|wife] of {t}",
        "{h} and {t} were married",
        "{h} married {t}",
    ),
    "student_of": (
        "{h} was a pupil of {t}",
        "{t} taught {h}",
        "{h} took lessons from {t}",
    ),
    "born_in": (
        "{h} was born in {t}",
        "{h} was a native of {t}",
        "{h} came into the world in {t}",
        "the birthplace of {h} was {t}",
    ),
    "lives_in": (
        "{h} lived in {t}",
        "{h} had a home in {t}",
        "{h} settled in {t}",
    ),
    "died_in": (
        "{h} died in {t}",
        "{h} passed away in {t}",
    ),
    "works_for": (
        "{h} worked for {t}",
        "{h} was employed by {t}",
        "{h} had a post at {t}",
        "{t} hired {h}",
        "{h} joined the staff of {t}",
    ),
    "leads": (
        "{h} was the head of {t}",
        "{h} led {t}",
        "{t} was run by {h}",
    ),
    "founded_by": (
        "{h} was founded by {t}",
        "{t} founded {h}",
        "{h} was set up by {t}",
        "the founder of {h} was {t}",
    ),
    "trained_at": (
        "{h} was trained at {t}",
        "{h} completed [h:his|her] training at {t}",
        "{t} trained {h}",
    ),
    "based_in": (
        "{h} was based in {t}",
        "{h} had its seat in {t}",
        "{h} kept its main office in {t}",
        "the seat of {h} was in {t}",
    ),
    "owned_by": (
        "{h} was owned by {t}",
        "{t} owned {h}",
        "{h} belonged to {t}",
    ),
    "located_in": (
        "{h} lies in {t}",
        "{h} is located in {t}",
        "{h} can be found in {t}",
        "{h} forms a part of {t}",
    ),
    "capital_of": (
        "{h} is the capital of {t}",
        "{t} has its capital in {h}",
        "{t} is governed from {h}",
    ),
    "borders": (
        "{h} borders {t}",
        "{h} shares a border with {t}",
        "{h} and {t} are neighbours",
    ),
    "written_by": (
        "{h} was written by {t}",
        "{t} wrote {h}",
        "{t} was the author of {h}",
        "{h} came from the pen of {t}",
    ),
    "published_by": (
        "{h} was published by {t}",
        "{t} published {h}",
        "{h} was brought out by {t}",
    ),
    "set_in": (
        "{h} is set in {t}",
        "{h} takes place in {t}",
        "the story of {h} unfolds in {t}",
    ),
    "sequel_of": (
        "{h} is a sequel to {t}",
        "{h} continues the story of {t}",
    ),
    "translated_by": (
        "{h} was translated by {t}",
        "{t} translated {h}",
    ),
}  # fmt: skip
"""How each stated relation is said: more ways for the frequent ones, few and plain for the rare."""

DENIALS: tuple[str, ...] = (
    "it is not true that",
    "it would be wrong to say that",
    "nobody ever proved that",
    "only a rumour claimed that",
)
"""Before any statement, these take it back."""

KINSHIP = ("child_of", "parent_of", "grandchild_of", "grandparent_of", "sibling_of")

UNREAL: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{h} never worked for {t}", ("works_for",)),
    ("{h} turned down a post at {t}", ("works_for",)),
    ("{t} refused to hire {h}", ("works_for",)),
    ("{h} was asked to lead {t} but declined", ("leads",)),
    ("{h} was not founded by {t}", ("founded_by",)),
    ("{h} was not born in {t}", ("born_in",)),
    ("{h} never lived in {t}", ("lives_in",)),
    ("{h} planned to settle in {t} but never did", ("lives_in",)),
    ("{h} never married {t}", ("spouse_of",)),
    ("{h} wanted to marry {t} but was refused", ("spouse_of", *KINSHIP)),
    ("{h} was not the [h:son|daughter] of {t}", ("child_of",)),
    ("{h} was not related to {t}", ("spouse_of", *KINSHIP)),
    ("{t} refused to teach {h}", ("student_of",)),
    ("{h} hoped to be trained at {t} but was turned away", ("trained_at",)),
    ("{h} never had its seat in {t}", ("based_in",)),
    ("{h} thought about an office in {t} but gave up the plan", ("based_in",)),
    ("{t} tried to buy {h} but failed", ("owned_by",)),
    ("{h} does not lie in {t}", ("located_in",)),
    ("{h} was not written by {t}", ("written_by",)),
    ("{t} had no part in writing {h}", ("written_by",)),
    ("{t} refused to publish {h}", ("published_by",)),
    ("{h} is not set in {t}", ("set_in",)),
)
"""Sentences that deny or merely imagine a relation, and every relation that must then not hold.

The first of these gives the types of the two.
"""

NEUTRAL: dict[tuple[str, str], tuple[str, ...]] = {
    ("PER", "PER"): (
        "{h} once wrote a letter to {t}",
        "{h} met {t} on a train",
        "{h} lent some money to {t}",
        "{h} and {t} were seen at the same fair",
    ),
    ("PER", "LOC"): (
        "{h} once visited {t}",
        "{h} passed through {t} on a long journey",
        "{h} drew a map of {t}",
    ),
    ("PER", "ORG"): (
        "{h} gave a speech at {t}",
        "{h} complained about {t} in a letter",
        "{h} lost a lawsuit against {t}",
    ),
    ("PER", "WORK"): (
        "{h} read {t} with pleasure",
        "{h} praised {t} in a speech",
        "{h} lost a copy of {t} on a train",
    ),
    ("ORG", "ORG"): (
        "{h} competed with {t}",
        "{h} lost a lawsuit against {t}",
    ),
    ("ORG", "LOC"): (
        "{h} paid for a bridge in {t}",
        "{h} sent a letter to a friend in {t}",
    ),
    ("WORK", "ORG"): (
        "{h} mentions {t} in passing",
        "a copy of {h} was stolen from {t}",
    ),
    ("WORK", "LOC"): (
        "{h} was once read aloud in {t}",
        "a copy of {h} was found in {t}",
    ),
    ("WORK", "WORK"): (
        "{h} was often compared with {t}",
        "{h} sold better than {t}",
    ),
    ("LOC", "LOC"): (
        "an old road leads from {h} to {t}",
        "{h} and {t} appear on the same map",
    ),
}  # fmt: skip
"""Sentences that mention two entities and relate them in no way of the vocabulary, by their types."""

OPENERS: tuple[str, ...] = (
    "according to the archive ,",
    "as far as anyone knows ,",
    "by all accounts ,",
    "as an old letter shows ,",
    "in short ,",
    "as most people remember ,",
)
"""What may open any sentence, true or not."""

CLOSERS: tuple[str, ...] = (
    ", according to the archive",
    ", as an old letter shows",
    ", as most people remember",
    ", or so the local paper wrote",
    ", as the neighbours recall",
)
"""What may close any sentence, true or not."""
