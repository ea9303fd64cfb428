# SPDX-License-Identifier: GPL-2.0-only
"""The events of a trace in SQLite, imported from `lttctl view --json`, and the comparison of rows."""
import json
import math
import sqlite3

import ltt

COMMON = ["ts", "name", "host", "cpu", "pid", "tid", "procname", "fields"]


def integer(value):
    """Numbers beyond 2^53 are texts in JSON; those that SQLite has not are negative."""
    if not isinstance(value, str) or not value.lstrip("-").isdigit():
        return value
    return int(value) - (2 ** 64 if int(value) >= 2 ** 63 else 0)


def add_field(field, value, row, large):
    if isinstance(value, dict) and "labels" in value:
        row[field] = value["labels"][0] if value["labels"] else str(value["value"])
        row[f"{field}_value"] = integer(value["value"])
    else:
        row[field] = integer(value) if field in large else value


def quantile(part):
    """The aggregate of SQLite's binding: the value of the least rank that has this part at or below it."""
    class Quantile:
        def __init__(self):
            self.values = []

        def step(self, value):
            if value is not None:
                self.values.append(value)

        def finalize(self):
            return sorted(self.values)[math.ceil(part * len(self.values)) - 1] if self.values else None
    return Quantile


def imported(trace, prefix, large=()):
    """A database with the table events, and one of each name that begins with @prefix. @large: fields of
    64 bits, whose numbers are texts in JSON."""
    db = sqlite3.connect(":memory:")
    for name, part in ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999):
        db.create_aggregate(name, 1, quantile(part))
    tables = {"events": []}
    for line in ltt.run("lttctl", "view", "--json", "--statedump", trace).stdout.splitlines():
        event = json.loads(line)
        fields, context = event.get("fields", {}), event.get("context", {})
        row = {"ts": int(event["ns"]), "name": event["event"], "host": event["host"], "cpu": event["packet"]["cpu_id"],
               "pid": context.get("vpid"), "tid": context.get("vtid"), "procname": context.get("procname")}
        for field, value in fields.items():
            add_field(field, value, row, large)
        row["fields"] = json.dumps(fields, separators=(",", ":"))
        tables["events"].append({c: row[c] for c in COMMON})
        if event["event"].startswith(prefix):
            tables.setdefault(event["event"], []).append(row)
    for name, rows in tables.items():
        names = list(rows[0])
        numbers = {c for c in names if all(isinstance(r[c], (int, float)) for r in rows)}
        db.execute(f'CREATE TABLE "{name}"(' + ", ".join(f'"{c}" {"NUMERIC" if c in numbers else "TEXT"}' for c in names) + ")")
        db.executemany(f'INSERT INTO "{name}" VALUES (' + ",".join("?" * len(names)) + ")", [[r[c] for c in names] for r in rows])
    return db


def same(got, want):
    return len(got) == len(want) and all(
        len(g) == len(w) and all(a == b or (isinstance(a, float) and isinstance(b, (int, float)) and math.isclose(a, b))
                                 for a, b in zip(g, w))
        for g, w in zip(got, want))
