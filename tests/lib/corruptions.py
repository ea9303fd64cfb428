# SPDX-License-Identifier: GPL-2.0-only
"""Random corruptions of a trace's files."""
import contextlib
import os


def files(trace):
    """(path, weight): streams, metadata and indexes."""
    for where, _, names in os.walk(trace):
        for name in names:
            path = os.path.join(where, name)
            if os.path.getsize(path) and not name.startswith(".") and name not in ("clocks", "kallsyms"):
                yield path, 1 if name == "metadata" or name.endswith(".idx") else 8


def corrupt(rng, data):
    """Return the bytes, and the kind."""
    at = rng.randrange(len(data))
    kind = rng.choice(["bit", "byte", "word", "zeros", "cut", "doubled", "removed"])
    if kind == "bit":
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:], kind
    if kind == "byte":
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1:], kind
    if kind == "word":
        return data[:at] + rng.choice([b"\xff" * 8, b"\0" * 8, rng.randbytes(8)])[:len(data) - at] + data[at + 8:], kind
    length = rng.randrange(1, 6000)
    if kind == "zeros":
        return data[:at] + bytes(len(data[at:at + length])) + data[at + length:], kind
    if kind == "cut":
        return data[:at], kind
    return (data[:at + length] + data[at:] if kind == "doubled" else data[:at] + data[at + length:]), kind


@contextlib.contextmanager
def changed_file(rng, some):
    """One of the files is corrupt meanwhile: its path, and the kind. @some: of files()."""
    path = rng.choices([p for p, _ in some], [w for _, w in some])[0]
    with open(path, "rb") as f:
        data = f.read()
    changed, kind = corrupt(rng, data)
    with open(path, "wb") as f:
        f.write(changed)
    try:
        yield path, kind
    finally:
        with open(path, "wb") as f:
            f.write(data)
