"""`unnoted priors`: how often does each relation hold, noted or not?"""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from unnoted.cli.common import (
    AsJSON,
    Files,
    Overwrite,
    Seed,
    Vocabulary,
    console,
    json_text,
    read_vocabulary,
    reports_errors,
    say,
    stops_with,
    table,
    tell,
)
from unnoted.data.corpus import Corpus
from unnoted.data.loading import load_documents
from unnoted.io import check_output
from unnoted.priors.estimated import EstimatedPriors
from unnoted.priors.estimating import CAUTION, estimate_priors
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.rules.written import PACKAGED
from unnoted.suggestions.same_documents import require_same_documents
from unnoted.utils import shorten

Scores = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Out-of-fold scores of these documents, instead of training for them."),
]
KnownLevel = Annotated[
    float | None,
    typer.Option(min=1, help="True facts per labelled one, over all relations, if that is known."),
]
LevelRules = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Rules that tell this multiplier; `docred` is in the package."),
]
PriorsTo = Annotated[
    Path | None,
    typer.Option("--to", metavar="FILE", help="Write the priors, for the setting `prior_file`."),
]


@reports_errors
def estimate(
    files: Files,
    config: Annotated[
        str, typer.Option(metavar="CONFIG", help="Settings of the models that are trained for the scores.")
    ] = "small",
    encoder: Annotated[
        str | None, typer.Option(metavar="ENCODER", help="Their encoder: a folder, or a name on the hub.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change any other setting; may be repeated."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Parts; each is scored by a model trained on the others.")
    ] = None,
    scores: Scores = None,
    prior_multiplier: KnownLevel = None,
    rules: LevelRules = None,
    vocabulary: Vocabulary = None,
    seed: Seed = 0,
    to: PriorsTo = None,
    as_json: AsJSON = False,
    overwrite: Overwrite = False,
) -> None:
    """Estimate how often each relation holds, from incomplete labels.

    Models are trained on parts of the documents and score the others; --scores takes such scores from a file.
    An example: unnoted priors own.jsonl --encoder FOLDER --prior-multiplier 3 --to priors.json
    """
    names = read_vocabulary(vocabulary)
    own_rules = None if rules is None or rules in PACKAGED else Path(rules)
    given = [path for path in (*files, scores, vocabulary, own_rules) if path is not None]
    if to is not None:
        check_output(to, given, overwrite)
    with stops_with("interrupted; nothing was written"):
        if scores is None:
            named = {"encoder": encoder, "vocabulary": vocabulary, "folds": folds, "rules": rules}
            options = {"train": files, "prior_multiplier": prior_multiplier, **named}
            found, corpus, rules = _trained(config, options, changes or [])
        else:
            _refuse_training({"--set": changes, "--encoder": encoder, "--folds": folds})
            found, corpus = LabelledScores.load(scores), load_documents(*files, vocabulary=names)
            require_same_documents(found, corpus, scores, labels=False)
        if prior_multiplier is None and rules is None:
            estimated = estimate_priors(found, seed)
            tell(f"note: {CAUTION}")
        else:
            # Here, because it loads torch, which an estimate from scores alone does not wait for.
            from unnoted.suggestions.level_priors import priors_at_level

            estimated = priors_at_level(found, corpus, multiplier=prior_multiplier, rules=rules)
        shown_priors(estimated, names.names if names else {}, to, as_json)


def _refuse_training(options: Mapping[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise ValueError(
                f"{option}: found beside --scores, with which nothing is trained, expected one of them"
            )


def shown_priors(found: EstimatedPriors, names: Mapping[str, str], to: Path | None, as_json: bool) -> None:
    """Print priors as a table or as JSON, and write them where that was asked for."""
    if as_json:
        say(json_text(found.to_json()))
    else:
        _print(found, names)
    if to is not None:
        found.priors.to_file(to)
        told = "--set priors=null --set prior_multiplier=null"
        tell(f"priors written to {to}; train with {told} --set prior_file={to}")


def _print(found: EstimatedPriors, names: Mapping[str, str]) -> None:
    rows = table(None, "relation", "name", "labelled", "estimated", "ratio", "90 % interval", "from", text=2)
    for row in sorted(found.rows(), key=lambda row: -row["labelled"]):
        relation = row["relation"]
        ratio, low, high = row["ratio"], row["ratio_low"], row["ratio_high"]
        figures = [f"{row['labelled']:,}", f"{row['estimated']:,.0f}"]
        if ratio is None:
            figures += ["–", "–"]
        else:
            figures += [f"{ratio:.2f}", f"{low:.2f} to {high:.2f}"]
        rows.add_row(shorten(relation), shorten(names.get(relation, "")), *figures, row["basis"])
    out = console()
    out.print(rows)
    pooled = found.ratio
    out.print(
        f"\ntrue facts per labelled one: {pooled.estimate:.2f} "
        f"({pooled.low:.2f} to {pooled.high:.2f}) over all relations"
    )


def _trained(
    config: str, options: Mapping[str, Any], changes: list[str]
) -> tuple[LabelledScores, Corpus, str | None]:
    """Out-of-fold scores, the documents that were scored, and the rules that their models kept to."""
    # Here, because they load torch, which the other ways do not wait for.
    from unnoted.suggestions.level_priors import beside_labels_of
    from unnoted.training.cross_fit import cross_fit
    from unnoted.training.ingredients import load_corpus
    from unnoted.training.settings import PRIORS, load_settings, parse_changes

    changed = parse_changes(changes)
    given = {key: value for key, value in options.items() if value is not None}
    for key in given.keys() & changed.keys():
        raise ValueError(f"{key}: found both as an option and in --set, expected one of them")
    if "output" in changed:
        raise ValueError(
            "output: found in --set, expected none: this command keeps no folds; `unnoted suggest --output "
            "FOLDER` does, and --scores takes FOLDER/folds/scores.npz"
        )
    told = "prior_multiplier" in given
    level: dict[str, Any] = {}
    if told:
        level = dict.fromkeys(PRIORS)
    with TemporaryDirectory() as scratch:
        settings = load_settings(config, {"output": scratch} | level | given | changed, tell=tell)
        scores = cross_fit(settings, tell)
    rules = settings.rules if told else None
    corpus = load_corpus(settings, settings.train)
    if rules is None and settings.rules is not None:
        scores = beside_labels_of(scores, corpus)
    return scores, corpus, rules
