"""`unnoted data convert`: from any format that is read to any that is written."""

import typer

from unnoted.cli.common import (
    Files,
    FormatName,
    Strict,
    To,
    Vocabulary,
    read_vocabulary,
    reports_errors,
    tell_defects,
)
from unnoted.common.errors import DefectLog
from unnoted.common.outputs import refuse_input
from unnoted.common.wording import counted
from unnoted.documents.loading import stream_documents
from unnoted.documents.writing import write_documents


@reports_errors
def convert(
    files: Files,
    to: To,
    format: FormatName = None,
    vocabulary: Vocabulary = None,
    strict: Strict = False,
) -> None:
    """Convert documents to another format, as a stream."""
    refuse_input(to, files)
    log = DefectLog(strict=strict)
    documents = stream_documents(*files, vocabulary=read_vocabulary(vocabulary), log=log)
    count = write_documents(to, documents, format)
    tell_defects(log)
    typer.echo(f"{counted(count, 'record')} written to {to}")
