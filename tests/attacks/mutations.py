"""Ways to damage a file: bit by bit, line by line, value by value, and by making it absurdly large."""

import gzip
import json
import struct
from collections.abc import Callable
from random import Random

NUMBERS = (
    b"0", b"-1", b"-0", b"1", b"2.5", b"1e400", b"-1e-400", b"NaN", b"Infinity", b"-Infinity", b"01", b"0x10",
    b"1_000", b"4294967296", b"9223372036854775808", b"9" * 5_000, b"-" + b"9" * 5_000, b"1." + b"0" * 5_000,
    "\u0663".encode(), "\u00b2".encode(), "\uff11".encode(),
)  # fmt: skip
STRINGS = (
    b'""', b'" "', b'"\\u0000"', b'"\\ud800"', b'"\\udfff\\ud800"', b'"[/b][red]x"', b'"\\u001b[31mred"',
    b'"\\u202eabc"', b'"\\n\\r\\t"', b'"../../x"', b'"x\\u0085y"', b'"' + b"x" * 20_000 + b'"', b'"*"',
)  # fmt: skip
VALUES = (b"null", b"true", b"false", b"[]", b"{}", b"[[]]", b'[{"a": 1, "a": 2}]', b"[" * 1_000 + b"]" * 1_000,
          b'{"a":' * 300 + b"0" + b"}" * 300)  # fmt: skip
SNIPPETS = (
    b"", b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"\t", b"|t|", b"|a|",
    b"\x1b]0;x\x07", b"[/bold]", b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\\u", b"\\ud83d", b"&a [*a, *a]",
    b"*a", b"!!python/object/apply:os.system ['true']", b"<<: *a", b"---\n", b"...\n", b"? ", b"- ", b": ",
    b"%YAML 9.9\n", b"!!binary x", b"!!set {a, b}", b"2001-01-01", b"1:30:00", b"0o17", b"~", b".inf", b".nan",
    *NUMBERS, *STRINGS, *VALUES,
)  # fmt: skip

Mutation = Callable[[bytes, Random], bytes]


def mutate(content: bytes, rng: Random) -> bytes:
    """Damage a file once, twice or four times; one in fifty grows beyond all measure, one in twenty is packed."""
    mutations = rng.choices(PLAIN, k=rng.choice((1, 1, 2, 4)))
    if rng.random() < 0.02:
        mutations.append(rng.choice(LARGE))
    for mutation in mutations:
        content = mutation(content, rng)
    return packed(content, rng) if rng.random() < 0.05 else content


def _span(content: bytes, rng: Random, longest: int = 60) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.randrange(longest))


def flip_bit(content: bytes, rng: Random) -> bytes:
    if not content:
        return content
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def delete(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    return content[:start] + content[end:]


def repeat(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng, 300)
    return content[:end] + content[start:end] * rng.randrange(1, 4) + content[end:]


def move(content: bytes, rng: Random) -> bytes:
    start, end = _span(content, rng)
    rest = content[:start] + content[end:]
    place = rng.randrange(len(rest) + 1)
    return rest[:place] + content[start:end] + rest[place:]


def insert(content: bytes, rng: Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.choice(SNIPPETS) + content[place:]


def cut(content: bytes, rng: Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def swap_lines(content: bytes, rng: Random) -> bytes:
    lines = content.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def change_column(content: bytes, rng: Random) -> bytes:
    """Another value in one of the columns of a line, whatever separates them."""
    lines = content.split(b"\n")
    place = rng.randrange(len(lines))
    separator = rng.choice((b"\t", b"|", b" ", b": "))
    columns = lines[place].split(separator)
    columns[rng.randrange(len(columns))] = rng.choice(SNIPPETS).strip(b'"')
    lines[place] = separator.join(columns)
    return b"\n".join(lines)


def change_value(content: bytes, rng: Random) -> bytes:
    """Another value, key or number of values somewhere in the JSON of the file, or of one of its lines."""
    lines = content.split(b"\n")
    place = rng.randrange(len(lines)) if content[:1] == b"{" else 0
    text = lines[place] if content[:1] == b"{" else content
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return insert(content, rng)
    marked, snippets = _replaced(value, rng)
    encoded = json.dumps(marked).encode()
    for mark, snippet in snippets.items():
        encoded = encoded.replace(f'"{mark}"'.encode(), snippet)
    return b"\n".join([*lines[:place], encoded, *lines[place + 1 :]]) if content[:1] == b"{" else encoded


def _replaced(value, rng: Random) -> tuple[object, dict[str, bytes]]:
    """A copy with one place replaced by a mark, and what the mark stands for."""
    mark = f"mark{rng.getrandbits(60):x}"
    place = value
    path = []
    while isinstance(place, list | dict) and place and (rng.random() < 0.85 or not path):
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        path.append((place, key))
        place = place[key]
    if not path:
        return mark, {mark: rng.choice(SNIPPETS)}
    owner, key = path[-1]
    match rng.randrange(5):
        case 0:
            del owner[key]
            return value, {}
        case 1 if isinstance(owner, dict):
            owner[mark] = owner[key]  # a key twice, with the same value or another
            owner[f"{mark}b"] = rng.choice((owner[key], None, 0))
            return value, {mark: json.dumps(key).encode(), f"{mark}b": json.dumps(key).encode()}
        case 2 if isinstance(owner, list):
            owner.insert(rng.randrange(len(owner) + 1), owner[key])
            return value, {}
        case 3:
            other_owner, other_key = rng.choice(path)
            owner[key] = json.loads(json.dumps(other_owner[other_key]))
            return value, {}
        case _:
            owner[key] = mark
            return value, {mark: rng.choice((*NUMBERS, *STRINGS, *VALUES))}


def many_times(content: bytes, rng: Random) -> bytes:
    """Some piece of the file, up to a megabyte of it."""
    start, end = _span(content, rng, 200)
    piece = content[start:end] or b"["
    return content[:start] + piece * rng.randrange(1, 2 + 1_000_000 // len(piece)) + content[end:]


def nested(content: bytes, rng: Random) -> bytes:
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"- ", b""), (b"((", b"))")))
    depth = rng.choice((100, 1_000, 10_000, 100_000))
    place = rng.randrange(len(content) + 1)
    return content[:place] + opening * depth + closing * rng.choice((0, depth)) + content[place:]


def tiny_values(content: bytes, rng: Random) -> bytes:
    """A long list of the smallest values, which take far more memory than the file."""
    place = rng.randrange(len(content) + 1)
    value = rng.choice((b"[]", b"{}", b'""', b"[[]]", b'{"":0}', b'["a"]', b"0"))
    return content[:place] + b"[" + b",".join([value] * rng.choice((1_000, 300_000))) + b"]" + content[place:]


def packed(content: bytes, rng: Random) -> bytes:
    """The file as gzip, whole, damaged, cut, or with a bomb behind it."""
    whole = gzip.compress(content, 1)
    match rng.randrange(5):
        case 0:
            return whole
        case 1:
            return flip_bit(whole, rng)
        case 2:
            return cut(whole, rng)
        case 3:
            return whole + rng.choice((b"\x00" * 10, b"tail", whole))
        case _:
            return gzip.compress(content[:-2] + rng.choice((b" ", b"a", b"[", b"\n")) * (1 << 24), 1)


def lying_header(content: bytes, rng: Random) -> bytes:
    """Another length of the header of a safetensors file."""
    return struct.pack("<Q", rng.choice((0, 1, 2**31, 2**63, len(content), len(content) + 1))) + content[8:]


PLAIN: tuple[Mutation, ...] = (
    flip_bit, delete, repeat, move, insert, insert, cut, swap_lines, change_column, change_column, change_value,
    change_value, change_value, change_value, lying_header,
)  # fmt: skip
LARGE: tuple[Mutation, ...] = (many_times, nested, tiny_values)
