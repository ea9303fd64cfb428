#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ctfpkt - walks the packets of our traces by the written format, with no reader.

An oracle that shares nothing with the product or with babeltrace2. As a program:

    ctfpkt.py TRACE_DIR...      a line for each stream, problems on stderr,
                                exit status 1 if there was one

As a module: streams(dir) -> Stream objects with .packets, .problems and sums;
Stream.events(layouts) counts events whose payload's layout is given.

A packet is a header of 136 bytes (all little-endian, packed) and records:

    u32 magic, stream_instance_id, 2, crc32c (of the packet, with this field as 0),
    u64 stream_pos, events_recorded, lost_full, lost_size, lost_busy, lost_output,
    u32 stream_id, u8[16] uuid, u64 timestamp_begin, timestamp_end, content_size, packet_size (bits),
    packet_seq_num, events_discarded, u32 cpu_id
"""
import functools
import os
import re
import struct
import sys
from collections import namedtuple

HEADER = struct.Struct("<4I6QI16s6QI")
Packet = namedtuple("Packet", "magic instance form crc pos recorded lost_full lost_size lost_busy lost_output "
                    "stream_id uuid begin end content size seq discarded cpu offset")
CAUSES = ("lost_full", "lost_size", "lost_busy", "lost_output")
TS_BITS = 27
CRC = [0] * 256
for _byte in range(256):
    _v = _byte
    for _ in range(8):
        _v = _v >> 1 ^ (0x82F63B78 if _v & 1 else 0)
    CRC[_byte] = _v
INDEX_HEADER = struct.Struct(">4I")
INDEX_ENTRY = struct.Struct(">9Q")


@functools.lru_cache(None)
def exponents(power):
    """Those of x**power, reduced by the polynomial of CRC-32C."""
    value, square, at = 1, 2, power  # bit i: x**i

    def times(a, b):
        product = 0
        for bit in range(31, -1, -1):
            product = product << 1 ^ (0x11EDC6F41 if product >> 31 else 0) ^ (a if b >> bit & 1 else 0)
        return product
    while at:
        value = times(value, square) if at & 1 else value
        square, at = times(square, square), at >> 1
    return [e for e in range(32) if value >> e & 1]


def crc32c(data):
    """A byte at a time is some MB a second. So the first half is reduced to a change of the rest, as
    whole numbers of any size, and so on, until bytes are as fast."""
    size, v = len(data), 0xFFFFFFFF
    if size > 256:
        number = int.from_bytes(data, "little") ^ v  # bit 0 has the greatest power of x
        while size > 128:
            half = (size - 4) // 2
            first, number = number & (1 << half * 8) - 1, number >> half * 8
            for e in exponents(half * 8 + 32):
                number ^= first << 32 - e
            size -= half
        data, v = number.to_bytes(size, "little"), 0
    for byte in data:
        v = v >> 8 ^ CRC[(v ^ byte) & 255]
    return v ^ 0xFFFFFFFF


def checksum(head, body=b""):
    """Of a packet, whatever its header has as checksum."""
    return crc32c(head[:12] + bytes(4) + head[16:] + body)


def sealed(head, body=b""):
    """The header with the checksum that fits."""
    return head[:12] + struct.pack("<I", checksum(head, body)) + head[16:]


class Stream:
    def __init__(self, path):
        self.path = path
        self.problems = []
        self.packets = []
        with open(path, "rb") as f:
            self.data = f.read()
        self.walk()

    def problem(self, offset, text):
        self.problems.append(f"{self.path} at {offset}: {text}")

    def walk(self):
        at = 0
        while at < len(self.data):
            if at + HEADER.size > len(self.data):
                return self.problem(at, "no room for a packet header")
            p = Packet(*HEADER.unpack_from(self.data, at), at)
            size = p.size // 8
            if p.magic != 0xC1FC1FC1 or p.form != 2 or p.content != p.size or size < HEADER.size:
                return self.problem(at, "no packet header")
            if at + size > len(self.data):
                return self.problem(at, "a packet longer than the file")
            self.check(p, self.packets[-1] if self.packets else None)
            self.packets.append(p)
            at += size

    def check(self, p, before):
        if p.end < p.begin:
            self.problem(p.offset, "ends before it begins")
        if p.discarded != sum(getattr(p, c) for c in CAUSES):
            self.problem(p.offset, "causes of loss do not add up")
        if not before:
            return
        for text, wrong in (
                ("overlaps the packet before", p.begin < before.end),
                ("packet_seq_num does not follow", p.seq != before.seq + 1),
                ("stream_pos does not follow",
                 p.lost_output == before.lost_output
                 and p.pos != before.pos + before.size // 8 - HEADER.size),
                ("events_discarded goes back", p.discarded < before.discarded),
                ("events_recorded goes back", p.recorded < before.recorded),
                ("another trace's uuid", p.uuid != before.uuid)):
            if wrong:
                self.problem(p.offset, text)

    @property
    def recorded(self):
        return self.packets[-1].recorded if self.packets else 0

    def lost(self, cause=None):
        if not self.packets:
            return 0
        return getattr(self.packets[-1], cause) if cause else self.packets[-1].discarded

    def check_sums(self):
        for p in self.packets:
            head, end = p.offset + HEADER.size, p.offset + p.size // 8
            if checksum(self.data[p.offset:head], self.data[head:end]) != p.crc:
                self.problem(p.offset, "its checksum is wrong")

    def check_index(self):
        folder, name = os.path.split(self.path)
        path = f"{folder}/index/{name}.idx"
        with open(path, "rb") as f:
            raw = f.read()
        magic, major, _, length = INDEX_HEADER.unpack_from(raw)
        if magic != 0xC1F1DCC1 or major != 1 or length != INDEX_ENTRY.size:
            return self.problem(0, f"{path}: not an index header")
        if (len(raw) - INDEX_HEADER.size) // length != len(self.packets):
            self.problem(0, f"{path}: not as many entries as packets")
        for i, p in enumerate(self.packets):
            at = INDEX_HEADER.size + i * length
            if at + length > len(raw):
                break
            entry = INDEX_ENTRY.unpack_from(raw, at)
            wanted = (p.offset, p.size, p.content, p.begin, p.end, p.discarded, p.stream_id,
                      p.instance, p.seq)
            if entry != wanted:
                self.problem(p.offset, f"index entry {i} is {entry}, the packet has {wanted}")

    def events(self, layouts):
        """Count events by id. layouts: {id: [item...]}, an item being a number of
        bytes, 's' (string) or (length bytes, element bytes) of a sequence."""
        found = {}
        for p in self.packets:
            at, end, clock = p.offset + HEADER.size, p.offset + p.size // 8, p.begin
            before = sum(found.values())
            while at < end:
                event, clock, at = self.event_header(at, clock)
                if not p.begin <= clock <= p.end:
                    self.problem(at, "an event's time is not within its packet")
                at = self.skip(at, layouts[event])
                found[event] = found.get(event, 0) + 1
            if at != end:
                self.problem(p.offset, "an event runs over the end of its packet")
            if p.seq == 0 or p.offset > 0:
                known = p.recorded - p.lost_output
                if p.offset:
                    known -= self.before(p).recorded - self.before(p).lost_output
                if sum(found.values()) - before != known:
                    self.problem(p.offset, "events_recorded differs from the events")
        return found

    def before(self, p):
        return self.packets[self.packets.index(p) - 1]

    def event_header(self, at, clock):
        low, = struct.unpack_from("<I", self.data, at)
        kind = low & 31
        if kind == 31:
            event, clock = struct.unpack_from("<IQ", self.data, at + 1)
            return event, clock, at + 13
        ts, mask = low >> 5, (1 << TS_BITS) - 1
        clock += (ts - (clock & mask)) & mask
        if kind == 30:
            return struct.unpack_from("<H", self.data, at + 4)[0], clock, at + 6
        return kind, clock, at + 4

    def skip(self, at, items):
        for item in items:
            if item == "s":
                at = self.data.index(b"\0", at) + 1
            elif isinstance(item, tuple):
                n = int.from_bytes(self.data[at:at + item[0]], "little")
                at += item[0] + n * item[1]
            else:
                at += item
        return at


def streams(folder):
    """All streams of all traces below a folder, sorted by path."""
    found = []
    for where, dirs, names in os.walk(folder):
        dirs[:] = sorted(d for d in dirs if d != "index")
        if "metadata" in names:
            found += [Stream(f"{where}/{n}") for n in sorted(names)
                      if n != "metadata" and not n.startswith(".")]
    return found


def metadata_text(trace):
    """The TSDL text of a packetised metadata file; checks its packets."""
    with open(f"{trace}/metadata", "rb") as f:
        raw = f.read()
    at, text = 0, b""
    while at < len(raw):
        magic, _, _, content, size = struct.unpack_from("<I16sIII", raw, at)
        if magic != 0x75D11D57 or content > size or size % 8 or at + size // 8 > len(raw):
            raise ValueError(f"{trace}/metadata: no whole packet at {at}")
        text += raw[at + 37:at + content // 8]
        at += size // 8
    return text.decode()


def event_ids(trace):
    """{(stream id, name): id} by the metadata."""
    found = {}
    for block in re.split(r"\bevent\s*\{", metadata_text(trace))[1:]:
        name = re.search(r'\bname\s*=\s*"([^"]*)"', block)
        number = re.search(r"\bid\s*=\s*(\d+)", block)
        stream = re.search(r"\bstream_id\s*=\s*(\d+)", block)
        if name and number:
            found[int(stream.group(1)) if stream else 0, name.group(1)] = int(number.group(1))
    return found


def main():
    wrong = False
    for folder in sys.argv[1:]:
        for s in streams(folder):
            s.check_index()
            s.check_sums()
            causes = " ".join(f"{c}={s.lost(c)}" for c in CAUSES)
            print(f"{s.path}: packets={len(s.packets)} recorded={s.recorded} "
                  f"discarded={s.lost()} {causes}")
            for text in s.problems:
                print(text, file=sys.stderr)
                wrong = True
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
