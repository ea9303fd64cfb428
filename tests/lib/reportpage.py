# SPDX-License-Identifier: GPL-2.0-only
"""The parts of a page that `lttctl report -o` wrote: its names, and the numbers of its time line (src/ctl/html/html.h)."""
import base64
import collections
import html.parser
import json
import zlib

import ltt


class Parser(html.parser.HTMLParser):
    """The texts of elements, and all of their names."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.inside = collections.Counter(), set(), {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        self.inside = dict(attrs).get("id") if tag == "script" else None

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside] = self.texts.get(self.inside, "") + data


class Page:
    def __init__(self, path):
        with open(path, "rb") as f:
            text = f.read()
        ltt.check(len(text) < 8_000_000, f"{path}: {len(text)} bytes")
        self.parsed = Parser(text.decode())
        self.tags = self.parsed.tags
        self.names = json.loads(self.parsed.texts["names"])
        self.raw, self.at = zlib.decompress(base64.b64decode(self.parsed.texts["numbers"], validate=True), -15), 0
        nr = self.names["nr_events"]
        times, rows, cpus, classes = self.sums(nr), self.column(nr), self.column(nr), self.column(nr)
        self.events = list(zip(times, rows, cpus, classes))
        nr = self.names["nr_spans"]
        self.spans = list(zip(self.sums(nr), *(self.column(nr) for _ in range(4))))
        nr = self.names["nr_cells"]
        self.cells = list(zip(self.column(nr), self.column(nr), self.sums(nr), self.column(nr)))
        ltt.equal(f"{path}: all is decoded", self.at, len(self.raw))
        ltt.equal(f"{path}: scripts", (self.tags["script"], text.count(b"</script")), (3, 3))
        bad = [a for a in self.parsed.attributes if a.startswith("on") or a in ("src", "srcset", "action")]
        ltt.equal(f"{path}: attributes that could do something", bad, [])
        self.text = text.decode()

    def column(self, nr):
        raw, at, numbers = self.raw, self.at, []
        for _ in range(nr):
            value = place = 0
            while raw[at] & 128:
                value |= (raw[at] & 127) << place
                place, at = place + 7, at + 1
            numbers.append(value | raw[at] << place)
            at += 1
        self.at = at
        return numbers

    def sums(self, nr):
        total, numbers = 0, []
        for value in self.column(nr):
            total += value >> 1 ^ -(value & 1)
            numbers.append(total)
        return numbers

    def row(self, row):
        """(number, label) of a row."""
        return tuple(self.names["rows"][row][i] for i in (2, 5))
