"""The paper's table of the data sets, counted anew from the files at hand."""

from unnoted.data.candidates import CandidatePairs
from unnoted.data.check import CorpusStatistics
from unnoted.data.loading import stream_documents
from unnoted.evaluation.chemdisgene import published_score
from unnoted.evaluation.metrics import Gold
from unnoted.experiments.data_sets import DATA_SETS, DataFolder, Files, MissingData
from unnoted.experiments.paper import PaperTable
from unnoted.experiments.results import Figure, RowResult, TableResult
from unnoted.training.settings import load_settings

CONFIGS = ("docred-original/bert-base/ssr-pu", "chemdisgene/pubmedbert/ssr-pu")
"""Settings that name the training files of each data set."""


def statistics_table(paper: PaperTable, data: DataFolder) -> TableResult:
    """Count the documents at hand, beside what the paper says of the whole.

    A data set that is not there has no figures, and a note says so.

    Raises:
        MissingData: if no data set is there.
    """
    counted: dict[str, CorpusStatistics] = {}
    notes, missing = ["# rels: relations that occur in the files"], []
    for config in CONFIGS:
        settings, data_set = load_settings(config), DATA_SETS[config.partition("/")[0]]
        title = data_set.title
        try:
            parts = {"train": data.train(settings), "test": data.need("test documents", data_set.test)}
        except MissingData as error:
            missing.append(f"{title}: {error}")
            continue
        notes += [f"{title}: {files.note}" for files in parts.values() if files.note is not None]
        found = {part: CorpusStatistics() for part in parts}
        entities = {part: _count(parts[part], found[part], settings.candidates) for part in parts}
        counted |= {f"{title} {part}": statistics for part, statistics in found.items()}
        if data_set.benchmark.has_published_denominator:
            gold = Gold.from_documents(stream_documents(*parts["test"].paths))
            reachable = published_score((), gold, found["train"].relations, ()).overall.gold
            shown = ", ".join(f"{found[part].mean(entities[part]):.2f} in {part}" for part in parts)
            notes += [
                f"{title} test: published scores are over the facts of relations that train has and of "
                f"entities that a mention names alone, {found['test'].mean(reachable):.2f} per document",
                f"{title}: entities of all types are counted; of types that can stand in a relation there "
                f"are {shown}",
            ]
    if not counted:
        raise MissingData("; ".join(missing))
    figures = {part: _figures(statistics) for part, statistics in counted.items()}
    rows = tuple(
        RowResult(
            row.name, row.title, row.group, row.published, {p: figures[p][row.name] for p in figures}, ()
        )
        for row in paper.rows
    )
    return TableResult(paper.name, paper.title, paper.columns, rows, tuple([*notes, *missing]))


def _count(files: Files, statistics: CorpusStatistics, candidates: str | None) -> int:
    """Count documents, and their entities of the types that candidate pairs have."""
    rule = None if candidates is None else CandidatePairs.parse(candidates)
    types = {side for pair in (rule and rule.types) or () for side in pair}
    documents = statistics.watch(stream_documents(*files.paths))
    return sum(entity.type in types for document in documents for entity in document.entities)


def _figures(found: CorpusStatistics) -> dict[str, Figure]:
    """By the names of the rows."""
    return {
        "# docs": Figure(found.documents),
        "# rels": Figure(len(found.relations)),
        "Avg # ents": Figure(found.mean(found.entities)),
        "Avg # rels": Figure(found.mean(found.facts)),
    }
