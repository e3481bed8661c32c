"""Which file belongs to which: suggestions, the review of them, and the review before."""

from collections.abc import Callable
from pathlib import Path

from unnoted.io import content_digest
from unnoted.review.carrying import carry
from unnoted.review.store import ReviewStore
from unnoted.review.store_making import make_store
from unnoted.suggestions.store import SuggestionSet
from unnoted.utils import plural

_SQLITE = b"SQLite format 3\0"


def review_path(suggestions: Path) -> Path:
    """Where the review of a file of suggestions is kept, unless told otherwise.

    Example:
        >>> review_path(Path("own/suggestions.jsonl.gz")).as_posix()
        'own/suggestions.review.db'
    """
    name = suggestions.name.removesuffix(".gz").removesuffix(".jsonl")
    return suggestions.with_name(f"{name}.review.db")


def is_review(path: Path) -> bool:
    """Whether a file is an SQLite file, as reviews are."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(_SQLITE)) == _SQLITE


def existing_review(path: Path) -> ReviewStore:
    """The review in a file, or the one of a file of suggestions.

    Raises:
        ValueError: there is none.
    """
    place = path if is_review(path) else review_path(path)
    if not is_review(place):
        raise ValueError(f"{place}: found no such file, expected the review of {path}")
    return ReviewStore(place)


def open_review(
    file: Path,
    database: Path | None = None,
    resume: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> ReviewStore:
    """Begin a review, or continue it.

    Args:
        file: suggestions, or a review that was begun.
        database: where the review is kept; by default beside the suggestions.
        resume: the review of the round before, whose decisions are kept.
        tell: is told what was found.

    Raises:
        ValueError: a file is missing, or belongs to other suggestions.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from unnoted.data.synthetic import generate_documents
        >>> from unnoted.review import Queue, Signature, Verdict
        >>> from unnoted.suggestions import Order, Suggestion
        >>> (document,) = generate_documents(1)
        >>> listed = tuple(Suggestion(document.id, *pair, "met", 0.8) for pair in ((0, 1), (1, 0)))
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "suggestions.jsonl")
        ...     SuggestionSet("corpus.jsonl", "jsonl", "0" * 64, "a model", {"met": ("met", "")},
        ...                   {document.id: document}, listed, ()).save(file)
        ...     store = open_review(file)
        ...     act = store.decide(Signature("Ada", "a-key-of-its-own", "score"), 0, Verdict.ACCEPT)
        ...     left = Queue(store, "Ada", Order.SCORE).page()
        ...     store.close()
        >>> [row["id"] for row in left]
        [1]
    """
    if is_review(file):
        if database is not None:
            raise ValueError(f"{file}: found a review, expected suggestions where --database is given")
        store = ReviewStore(file)
    else:
        store = _opened(file, review_path(file) if database is None else database, tell)
    if resume is not None:
        try:
            _carry(store, resume, tell)
        except BaseException:
            store.close()
            raise
    return store


def _opened(file: Path, database: Path, tell: Callable[[str], None]) -> ReviewStore:
    checksum = content_digest(file)
    if not database.exists():
        found = SuggestionSet.load(file)
        make_store(database, found, file.name, checksum)
        tell(f"{plural(len(found.suggestions), 'suggestion')} to review in {database}")
    elif not is_review(database):
        raise ValueError(f"{database}: found another file, expected a review or nothing")
    store = ReviewStore(database)
    if store.about["suggestions_checksum"] != checksum:
        store.close()
        raise ValueError(
            f"{database}: found the review of other suggestions, expected those of {file}; "
            f"to begin the next round: --database NEW.review.db --resume {database}"
        )
    return store


def _carry(store: ReviewStore, resume: Path, tell: Callable[[str], None]) -> None:
    if not is_review(resume):
        raise ValueError(f"{resume}: found no review, expected the one of the round before")
    if resume.resolve() == store.path.resolve():
        raise ValueError(f"{resume}: found the same review twice, expected the one of the round before")
    before = ReviewStore(resume)
    try:
        carried = carry(store, before)
    finally:
        before.close()
    if carried is None:
        tell(f"what was decided in {resume} is here already")
        return
    tell(f"{plural(carried.kept, 'decision')} of {resume} kept")
    if carried.lost:
        lost = plural(carried.lost, "decision")
        tell(f"note: {lost} not kept: document, entities or relation are not the same any more")
