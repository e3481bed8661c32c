"""Rule propagation, pair by pair and rule by rule."""


def propagate(pairs, margins, rules):
    """Margins after one round of rules with one premise.

    Args:
        pairs: (document, head, tail) of each row.
        margins: by row, then by relation.
        rules: (premise, conclusion, is the other way round).
    """
    rows = {pair: row for row, pair in enumerate(pairs)}
    result = [list(row) for row in margins]
    for row, (document, head, tail) in enumerate(pairs):
        for premise, conclusion, turned in rules:
            source = rows.get((document, tail, head)) if turned else row
            if source is not None:
                result[row][conclusion] = max(result[row][conclusion], margins[source][premise])
    return result
