"""`unnoted data convert`: from any format that is read to any that is written."""

from unnoted.cli.options import (
    Files,
    FormatName,
    Overwrite,
    Strict,
    To,
    Vocabulary,
    handle_errors,
    log,
    log_defects,
    print_text,
    read_vocabulary,
)
from unnoted.data.convert import convert_files
from unnoted.data.formats import FORMATS
from unnoted.io import display_name, is_stream, lock_output
from unnoted.utils import plural


@handle_errors
def convert(
    files: Files,
    to: To,
    format: FormatName = None,
    vocabulary: Vocabulary = None,
    strict: Strict = False,
    overwrite: Overwrite = False,
) -> None:
    """Convert documents to another format.

    Files that are in that format already keep every record verbatim.
    """
    with lock_output(to, inputs=[*files, *([vocabulary] if vocabulary else [])], overwrite=overwrite):
        done = convert_files(files, to, format, read_vocabulary(vocabulary), strict)
    log_defects(done.log)
    if done.lost:
        log(f"note: not kept in {FORMATS[done.format].name}: {'; '.join(done.lost)}")
    print_text(f"{plural(done.records, 'record')} written to {display_name(to)}", err=is_stream(to))
