"""`unnoted data convert`: from any format that is read to any that is written."""

from unnoted.cli.common import (
    Files,
    FormatName,
    Overwrite,
    Strict,
    To,
    Vocabulary,
    read_vocabulary,
    reports_errors,
    say,
    tell_defects,
)
from unnoted.common.errors import DefectLog
from unnoted.common.output_streams import is_stream, shown_name
from unnoted.common.outputs import claimed
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
    overwrite: Overwrite = False,
) -> None:
    """Convert documents to another format, as a stream."""
    log = DefectLog(strict=strict)
    with claimed(to, inputs=[*files, *([vocabulary] if vocabulary else [])], overwrite=overwrite):
        documents = stream_documents(*files, vocabulary=read_vocabulary(vocabulary), log=log)
        count = write_documents(to, documents, format)
    tell_defects(log)
    say(f"{counted(count, 'record')} written to {shown_name(to)}", err=is_stream(to))
