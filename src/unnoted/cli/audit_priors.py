"""`unnoted priors audit`: priors from questions that a person answers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unnoted.cli.common import (
    AsJSON,
    Files,
    Overwrite,
    Seed,
    Vocabulary,
    read_vocabulary,
    reports_errors,
    say,
    tell,
    tell_defects,
)
from unnoted.cli.estimate_priors import Scores, shown_priors
from unnoted.data.audit_file import AuditFile, question_record
from unnoted.data.corpus import Corpus
from unnoted.data.loading import load_documents
from unnoted.data.type_scores import scores_by_types
from unnoted.io import check_output, is_nonempty_file
from unnoted.priors.auditing import draw_audit
from unnoted.priors.labelled_scores import LabelledScores
from unnoted.utils import plural

SPOKEN = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "s": "skip", "skip": "skip"}


@reports_errors
def audit(
    files: Files,
    questions: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many questions to draw.")] = 200,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FILE", help="Where to write the questions; with --answers, the priors."
        ),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Questions with answers, to estimate priors from.")
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask here: y (yes), n (no) or s (skip).")] = False,
    scores: Scores = None,
    vocabulary: Vocabulary = None,
    seed: Seed = 0,
    as_json: AsJSON = False,
    overwrite: Overwrite = False,
) -> None:
    """Estimate priors from a person's answers: draw questions, answer them, then read the estimate.

    unnoted priors audit own.jsonl --to audit.jsonl --ask, then
    unnoted priors audit own.jsonl --answers audit.jsonl --to priors.json
    """
    if answers is None and to is None:
        raise ValueError(
            "found neither --to nor --answers, expected a file for questions or one with answers"
        )
    names = read_vocabulary(vocabulary)
    inputs = [path for path in (*files, scores, vocabulary, answers) if path is not None]
    if to is not None:
        # A file of questions that is there is refused with other words.
        check_output(to, inputs, overwrite or answers is None)
    corpus = load_documents(*files, vocabulary=names)
    tell_defects(corpus.log)
    if answers is None and to is not None:
        _draw(corpus, scores, questions, seed, to, overwrite)
        if ask:
            _ask(AuditFile.read(to), to)
        return
    if answers is not None:
        found = AuditFile.read(answers)
        _check_same(found, corpus, scores, answers)
        if ask:
            _ask(found, answers)
        shown_priors(found.priors(), corpus.relations.names, to, as_json)


def _draw(corpus: Corpus, scores: Path | None, questions: int, seed: int, to: Path, overwrite: bool) -> None:
    """Write new questions; a file that is there may hold answers, so it is left alone."""
    if is_nonempty_file(to) and not overwrite:
        raise ValueError(
            f"{to}: found a file, expected a new one; --answers {to} continues an audit, --overwrite "
            "replaces it with new questions"
        )
    if not any(document.facts for document in corpus):
        raise ValueError("documents: found no fact, expected labelled facts to draw questions around")
    found = scores_by_types(corpus) if scores is None else LabelledScores.load(scores)
    documents = {document.id: document for document in corpus}
    for document in found.documents:
        if document not in documents:
            raise ValueError(f"{scores}: found document {document!r}, expected those of the files only")
    design, asked = draw_audit(found, questions, seed)
    names = corpus.relations.names
    AuditFile(design, [question_record(each, found, documents, names) for each in asked]).write(to)
    tell(f"{plural(len(asked), 'question')} written to {to}: put yes, no or skip into `answer`, or use --ask")


def _check_same(audited: AuditFile, corpus: Corpus, scores: Path | None, path: Path) -> None:
    """Refuse answers about other documents: their priors would be of something else."""
    known = {document.id for document in corpus}
    for record in audited.records:
        if record.get("document") not in known:
            found = f"a question about document {record.get('document')!r}"
            raise ValueError(f"{path}: found {found}, expected documents of the files only")
    pairs = sum(map(corpus.candidates.count, corpus))
    if scores is None and audited.design.pairs > pairs:
        found = f"an audit of {audited.design.pairs:,} pairs"
        raise ValueError(f"{path}: found {found}, expected at most the {pairs:,} of the documents")


def _ask(audited: AuditFile, path: Path) -> None:
    """Ask what is open, and write after every answer, so that nothing said is lost."""
    for number, record in enumerate(audited.open):
        say(_shown(record, f"{len(audited.open)} to go"))
        try:
            record["answer"] = _heard()
        except typer.Abort:
            tell(f"stopped; {plural(number, 'answer')} written, --answers {path} --ask continues")
            break
        audited.write(path)


def _heard() -> str:
    while True:
        said = str(typer.prompt("y, n or s")).strip().lower()
        if said in SPOKEN:
            return SPOKEN[said]
        tell("expected y (yes), n (no) or s (skip)")


def _shown(record: dict[str, Any], left: str) -> str:
    sentences = "\n".join(f"  {sentence}" for sentence in record["sentences"])
    asked = f"{record['head_name']}  —  {record['name']}  →  {record['tail_name']} ?"
    return f"\n{record['document']} ({left})\n{sentences}\n{asked}"
