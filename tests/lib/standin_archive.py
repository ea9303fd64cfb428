#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""standin_archive - a stand-in for ltt-archive, which reports late: archive.def byte by byte.

    ltt-relayd --store=file:///DIR with LTT_ARCHIVE=tests/lib/standin_archive.py

It copies each packet to DIR/SESSION/TRACE/CHANNEL_CPU/NUMBER, so that one that comes twice is there
once. Files in DIR steer it: `delay` has the seconds until a packet is reported; `away` has the error of
a store that takes nothing. As a module:

    standin_archive.join(DIR, "joined")     makes traces of the packets
    standin_archive.PATH                    of the program
"""
import os
import select
import socket
import struct
import sys
import time

import ctfpkt

PATH = os.path.abspath(__file__)
ARC_DATA, ARC_END, ARC_ALIVE, ARC_DURABLE, ARC_DONE, ARC_STATE = 1, 2, 3, 4, 5, 6


def text(s):
    data = s.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def read_text(body):
    length, = struct.unpack_from("<I", body)
    return body[4:4 + length].decode(), body[5 + length:]


def write_whole(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.new", "wb") as f:
        f.write(data)
    os.rename(f"{path}.new", path)


def traces(session):
    """(directory, name without archives/NAME) of each trace."""
    for place, dirs, files in os.walk(session):
        dirs[:] = sorted(d for d in dirs if d[0] != "." and d != "index")
        if "metadata" in files:
            parts = os.path.relpath(place, session).split("/")
            yield place, "/".join(parts[2:] if parts[0] == "archives" else parts)


def index(place, name):
    """(number, offset, bytes) of each packet."""
    with open(f"{place}/index/{name}.idx", "rb") as f:
        data = f.read()[ctfpkt.INDEX_HEADER.size:]
    size = ctfpkt.INDEX_ENTRY.size
    for at in range(0, len(data) - len(data) % size, size):
        entry = ctfpkt.INDEX_ENTRY.unpack_from(data, at)
        yield entry[8], entry[0], entry[1] // 8


class Archive:
    def __init__(self, fd, store, output):
        self.sock = socket.socket(fileno=fd)
        self.store, self.output = store, output
        self.received = b""
        self.late = []  # (time, message)
        self.stored = {}  # file in the store: number of packets from the first on
        self.waiting = []  # messages while the store is away

    def send(self, number, body):
        message = struct.pack("<HHI", number, 0, 0) + body
        self.sock.sendall(struct.pack("<I", len(message)) + message)

    def setting(self, name):
        try:
            with open(f"{self.store}/{name}", encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def state(self):
        self.send(ARC_STATE, text(self.setting("away")) + struct.pack("<Q", 0))

    def take_stream(self, session, trace, place, name):
        """Return: (to, number): all before it have been taken."""
        to = f"{self.store}/{session}/{trace}/{name}"
        nr = self.stored.get(to, 0)
        try:
            with open(f"{place}/{name}", "rb") as f:
                for seq, offset, size in index(place, name):
                    f.seek(offset)
                    if not os.path.exists(f"{to}/{seq:010}"):
                        write_whole(f"{to}/{seq:010}", f.read(size))
                    nr = max(nr, seq + 1)  # those before it, if there were any, were cleared
        except FileNotFoundError:
            pass  # removed, or there is no packet yet
        while os.path.exists(f"{to}/{nr:010}"):  # of an earlier process
            nr += 1
        return to, nr

    def take_all(self, session):
        for place, trace in traces(f"{self.output}/{session}"):
            with open(f"{place}/metadata", "rb") as f:
                write_whole(f"{self.store}/{session}/{trace}/metadata", f.read())
            for name in sorted(os.listdir(place)):
                if name[0] != "." and name not in ("metadata", "index", "symbols", "clocks") and \
                        os.path.isfile(f"{place}/{name}"):
                    yield trace, *self.take_stream(session, trace, place, name)

    def take(self, session):
        def archives():
            try:
                return os.listdir(f"{self.output}/{session}/archives")
            except FileNotFoundError:
                return []

        before, taken = None, []
        while before != (before := archives()):  # packets move meanwhile
            taken = list(self.take_all(session))
        when = time.monotonic() + float(self.setting("delay") or 0)
        for trace, to, nr in taken:
            self.stored[to] = max(nr, self.stored.get(to, 0))
            if nr:
                with open(f"{to}/{nr - 1:010}", "rb") as f:
                    head = ctfpkt.Packet(*ctfpkt.HEADER.unpack(f.read(ctfpkt.HEADER.size)), 0)
                self.late.append((when, ARC_DURABLE, text(session) + text(trace) +
                                  struct.pack("<IIQ", head.stream_id, head.instance, nr - 1)))

    def message(self, number, body):
        if number == ARC_ALIVE:
            return self.state()
        if self.setting("away"):
            self.waiting.append((number, body))
            return self.state()
        session, rest = read_text(body)
        try:
            self.take(session)
        except FileNotFoundError:
            pass
        if number == ARC_END:
            when = time.monotonic() + float(self.setting("delay") or 0)
            self.late.append((when, ARC_DONE, text(session) + rest[:8]))
        return None

    def receive(self):
        try:
            data = self.sock.recv(65536)
        except ConnectionResetError:  # of a killed relay
            data = b""
        if not data:
            sys.exit(0)
        self.received += data
        while len(self.received) >= 4:
            end = 4 + struct.unpack_from("<I", self.received)[0]
            if len(self.received) < end:
                break
            message, self.received = self.received[4:end], self.received[end:]
            self.message(struct.unpack_from("<H", message)[0], message[8:])

    def run(self):
        self.state()
        while True:
            wait = max(0, self.late[0][0] - time.monotonic()) if self.late else 0.1 if self.waiting else None
            if self.waiting and not self.setting("away"):
                waiting, self.waiting = self.waiting, []
                for number, body in waiting:
                    self.message(number, body)
                self.state()
            if select.select([self.sock], [], [], wait)[0]:
                self.receive()
            while self.late and self.late[0][0] <= time.monotonic():
                self.send(*self.late.pop(0)[1:])


def join(store, to):
    """The traces of all packets in the store. Return: their directories."""
    found = []
    for place, _, files in os.walk(store):
        if "metadata" not in files:
            continue
        trace = f"{to}/{os.path.relpath(place, store)}"
        with open(f"{place}/metadata", "rb") as f:
            write_whole(f"{trace}/metadata", f.read())
        for stream in (d for d in os.listdir(place) if os.path.isdir(f"{place}/{d}")):
            packets = sorted(p for p in os.listdir(f"{place}/{stream}") if p.isdigit())
            if packets:
                with open(f"{trace}/{stream}", "wb") as out:
                    for packet in packets:
                        with open(f"{place}/{stream}/{packet}", "rb") as f:
                            out.write(f.read())
        found.append(trace)
    return found


if __name__ == "__main__":
    values = dict(a[2:].split("=", 1) for a in sys.argv[1:-1] if "=" in a)
    Archive(int(values["relay-fd"]), values["store"].removeprefix("file://"), sys.argv[-1]).run()
