"""Scores without a model: how often pairs of the same entity types are labelled with a relation."""

import numpy as np

from unnoted.data.corpus import Corpus
from unnoted.priors.labelled_scores import LabelledScores

HELD_BY = 50
"""Pairs that the share over all types counts for, beside the pairs of the types themselves."""


def scores_by_types(corpus: Corpus) -> LabelledScores:
    """The labels of a corpus, and as margins the labelled shares among pairs of the same types.

    For an audit of documents that no model has scored yet. Entity types are all that orders the pairs.

    Example:
        >>> from unnoted.data.candidates import CandidatePairs
        >>> from unnoted.data.synthetic import generate_documents
        >>> from unnoted.data.corpus import RelationVocabulary
        >>> documents = tuple(generate_documents(3))
        >>> found = scores_by_types(Corpus(documents, RelationVocabulary.from_documents(documents), CandidatePairs()))
        >>> found.pairs == sum(len(d.entities) * (len(d.entities) - 1) for d in documents)
        True
        >>> int(found.labelled.sum()) == sum(len(d.labels) for d in documents)
        True
    """
    arrays = [corpus.candidates.index_pairs(document) for document in corpus]
    heads, tails = (np.concatenate([pair[side] for pair in arrays]) for side in (0, 1))
    number = np.repeat(np.arange(len(corpus), dtype=np.int32), [len(pair[0]) for pair in arrays])
    labelled = np.zeros((len(heads), len(corpus.relations)), dtype=bool)  # [P, K]
    kinds: dict[tuple[str, str], int] = {}
    kind = np.zeros(len(heads), dtype=np.int64)
    first = 0
    for document, (head, tail) in zip(corpus, arrays, strict=True):
        rows = {pair: first + row for row, pair in enumerate(zip(head.tolist(), tail.tolist(), strict=True))}
        types = [entity.type for entity in document.entities]
        for (one, other), row in rows.items():
            kind[row] = kinds.setdefault((types[one], types[other]), len(kinds))
        for one, other, relation in document.labels:
            if (one, other) in rows and relation in corpus.relations:
                labelled[rows[one, other], corpus.relations.position(relation)] = True
        first += len(rows)
    pairs = np.bincount(kind, minlength=len(kinds))[:, None]  # [kinds, 1]
    noted = np.zeros((len(kinds), labelled.shape[1]))
    np.add.at(noted, kind, labelled)
    share = (noted + HELD_BY * labelled.mean(0)) / (pairs + HELD_BY)  # [kinds, K]
    documents = tuple(document.id for document in corpus)
    margin = share.astype(np.float32)[kind]  # [kinds, K] → [P, K]
    return LabelledScores(corpus.relations.ids, documents, number, heads, tails, margin, labelled)
