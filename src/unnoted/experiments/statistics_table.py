"""The paper's table of the data sets, counted anew from the files at hand."""

from dataclasses import dataclass
from pathlib import Path

from unnoted.documents import candidates as candidate_rules
from unnoted.documents.loading import stream_documents
from unnoted.documents.schema import Document
from unnoted.documents.statistics import Statistics
from unnoted.evaluation.gold import Gold
from unnoted.evaluation.published import published_score
from unnoted.experiments.data_sets import DATA_SETS, DataFolder, MissingData
from unnoted.experiments.paper import PaperTable
from unnoted.experiments.results import Figure, RowResult, TableResult
from unnoted.training.settings import Settings, load_settings

CONFIGS = {
    "DocRED": "docred-original/bert-base/ssr-pu",
    "ChemDisGene": "chemdisgene/pubmedbert/ssr-pu",
}
"""Settings that name the training files of each data set."""


@dataclass(slots=True)
class _Counted:
    """What one pass over a part of a data set found; documents only where they are asked for again."""

    statistics: Statistics
    candidates: int
    documents: list[Document]

    def figures(self) -> dict[str, float]:
        found = self.statistics
        return {
            "# docs": found.documents,
            "# rels": len(found.relations),
            "Avg # ents": found.mean(found.entities),
            "Avg # rels": found.mean(found.facts),
        }


def statistics_table(paper: PaperTable, data: DataFolder) -> TableResult:
    """Count the documents at hand, beside what the paper says of the whole.

    A data set that is not there has no figures, and a note says so.

    Args:
        paper: the published table.
        data: where the data sets are.

    Raises:
        MissingData: if no data set is there.
    """
    measured: dict[str, dict[str, float]] = {}
    notes = ["# rels: relations that occur in the files"]
    missing = []
    for title, config in CONFIGS.items():
        settings = load_settings(config)
        setting = config.partition("/")[0]
        try:
            train, test = data.train(settings), data.test(setting)
        except MissingData as error:
            missing.append(f"{title}: {error}")
            continue
        counted = {
            "train": _count(train.paths, settings, keep=False),
            "test": _count(test.paths, settings, keep=True),
        }
        measured |= {f"{title} {part}": each.figures() for part, each in counted.items()}
        notes += [f"{title}: {note}" for note in (train.note, test.note) if note is not None]
        if DATA_SETS[setting].benchmark.has_published_denominator:
            notes += _denominator_notes(title, counted)
    if not measured:
        raise MissingData("; ".join(missing))
    rows = tuple(
        RowResult(
            name=row.name,
            title=row.title,
            group=row.group,
            published=row.published,
            measured={part: Figure(figures[row.name]) for part, figures in measured.items()},
            records=(),
        )
        for row in paper.rows
    )
    return TableResult(paper.name, paper.title, paper.columns, rows, tuple([*notes, *missing]))


def _count(files: tuple[Path, ...], settings: Settings, *, keep: bool) -> _Counted:
    rule = None if settings.candidates is None else candidate_rules.parse(settings.candidates)
    types = {side for pair in getattr(rule, "types", ()) for side in pair}
    counted = _Counted(Statistics(), 0, [])
    for document in counted.statistics.watch(stream_documents(*files)):
        counted.candidates += sum(entity.type in types for entity in document.entities)
        if keep:
            counted.documents.append(document)
    return counted


def _denominator_notes(title: str, counted: dict[str, _Counted]) -> list[str]:
    train, test = counted["train"], counted["test"]
    reachable = published_score((), Gold.of(test.documents), train.statistics.relations, ()).overall.gold
    entities = ", ".join(
        f"{each.statistics.mean(each.candidates):.2f} in {part}" for part, each in counted.items()
    )
    return [
        f"{title} test: published scores are over the facts of relations that train has and of entities that "
        f"a mention names alone, {test.statistics.mean(reachable):.2f} a document",
        f"{title}: entities of all types are counted; of types that can stand in a relation there are "
        f"{entities}",
    ]
