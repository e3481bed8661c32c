"""Files of annotation tools for tests, and what documents say of them."""

import json

from unnoted.data.check import check_files


def put(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def kinds(path):
    return {kind.slug: count for kind, count in check_files([path]).log.counts.items()}


def triples(document):
    return [
        (document.entities[f.head].name, f.relation, document.entities[f.tail].name) for f in document.facts
    ]
