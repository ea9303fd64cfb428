# SPDX-License-Identifier: GPL-2.0-only
"""live - a viewer for tests, which sends the messages of the LTTng-live protocol byte by byte, and
babeltrace2 as one.

    v = live.Viewer(r.live_port)
    v.connect()
    v.create()
    session, = v.sessions()
    status, streams = v.attach(session.id)
    viewer = live.babeltrace(t, r, "net", "out")     follows it, text to out
"""
import collections
import os
import socket
import struct

import ltt

CONNECT, LIST, ATTACH, INDEX, PACKET, METADATA, NEW_STREAMS, CREATE, DETACH = range(1, 10)
BEGIN, NOW = 1, 2
OK, RETRY, END, ERROR, INACTIVE = range(1, 6)
NEW_METADATA, NEW_STREAM = 1, 2

Session = collections.namedtuple("Session", "id period viewers streams host name")
Stream = collections.namedtuple("Stream", "id trace metadata path channel")
Index = collections.namedtuple("Index", "offset packet content begin end discarded cls status flags")


def text(raw):
    ltt.check(raw.endswith(b"\0"), "a text without its end")
    return raw.rstrip(b"\0").decode()


class Viewer:
    def __init__(self, port, wrap=None):
        self.sock = socket.create_connection(("127.0.0.1", port), 10 * ltt.PATIENCE)
        self.sock = wrap(self.sock) if wrap else self.sock
        self.sock.settimeout(20 * ltt.PATIENCE)

    def close(self):
        self.sock.close()

    def read(self, n):
        data = b""
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def is_closed(self):
        """Whether the relay closed the connection without a reply."""
        try:
            return self.sock.recv(1) == b""
        except ConnectionResetError:
            return True

    def send(self, command, body=b"", length=None, version=0):
        head = struct.pack(">QII", len(body) if length is None else length, command, version)
        self.sock.sendall(head + body)

    def ask(self, command, body, n):
        self.send(command, body)
        return self.read(n)

    def connect(self, major=2, minor=4):
        self.send(CONNECT, struct.pack(">QIII", 2**64 - 1, major, minor, 1))
        return struct.unpack(">QIII", self.read(20))

    def create(self):
        return struct.unpack(">I", self.ask(CREATE, b"", 4))[0]

    def open(self):
        self.connect()
        ltt.equal("create", self.create(), 1)
        return self

    def sessions(self):
        nr, = struct.unpack(">I", self.ask(LIST, b"", 4))
        found = []
        for _ in range(nr):
            *numbers, host, name = struct.unpack(">QIII64s255s", self.read(339))
            found.append(Session(*numbers, text(host), text(name)))
        return found

    def long_sessions(self):
        """List the sessions as in protocol version 2.15, with the format of their traces."""
        nr, = struct.unpack(">I", self.ask(LIST, b"", 4))
        found = []
        for _ in range(nr):
            *numbers, host, name, form = struct.unpack(">QIIIIII", self.read(32))
            found.append((Session(*numbers, self.read(host).decode(), self.read(name).decode()),
                          form))
        return found

    def streams(self):
        status, nr = struct.unpack(">II", self.read(8))
        found = []
        for _ in range(nr):
            *numbers, path, channel = struct.unpack(">QQI4096s255s", self.read(4371))
            found.append(Stream(*numbers, text(path), text(channel)))
        return status, found

    def attach(self, session, seek=BEGIN):
        self.send(ATTACH, struct.pack(">QQI", session, 0, seek))
        return self.streams()

    def new_streams(self, session):
        self.send(NEW_STREAMS, struct.pack(">Q", session))
        return self.streams()

    def detach(self, session):
        return struct.unpack(">I", self.ask(DETACH, struct.pack(">Q", session), 4))[0]

    def metadata(self, stream):
        length, status = struct.unpack(">QI", self.ask(METADATA, struct.pack(">Q", stream), 12))
        return status, self.read(length)

    def index(self, stream):
        return Index(*struct.unpack(">7QII", self.ask(INDEX, struct.pack(">Q", stream), 64)))

    def packet(self, stream, offset, length):
        raw = self.ask(PACKET, struct.pack(">QQI", stream, offset, length), 12)
        status, length, flags = struct.unpack(">III", raw)
        return status, flags, self.read(length)


def url(r, name=None):
    where = f"net://127.0.0.1:{r.live_port}"
    return f"{where}/host/{os.uname().nodename}/{name}" if name else where


def babeltrace(t, r, name, out, *options):
    """Follow a session; its text goes to the file @out, error messages to @out.err."""
    with open(out, "w") as stdout, open(f"{out}.err", "w") as stderr:
        return t.spawn("babeltrace2", "-i", "lttng-live", *options, url(r, name),
                       stdout=stdout, stderr=stderr)


def lines(out):
    with open(out) as f:
        return f.read().splitlines()


def await_viewers(r, name, nr, wrap=None):
    """Wait until @n viewers follow the session: they receive all later events."""
    def there():
        v = Viewer(r.live_port, wrap)
        v.connect()
        found = [s for s in v.sessions() if s.name == name]
        v.close()
        return found and found[0].viewers == nr
    ltt.until(there, 20, f"{nr} viewers of {name}")


def finish(t, viewer, out, may_say="\0"):
    """Wait for the end of the viewer; no error message except @may_say. Return its lines."""
    ltt.equal("exit status of babeltrace2", viewer.wait(30 * ltt.PATIENCE), 0)
    t.running.remove(viewer)
    said = "\n".join(line for line in lines(f"{out}.err") if may_say not in line)
    ltt.check(not said, f"babeltrace2: {said[-2000:]}")
    return lines(out)


def stored(*traces):
    """The lines of `lttctl view` of stored traces, which babeltrace2 reads as well."""
    found = []
    for trace in traces:
        here = ltt.run("lttctl", "--quiet", "view", trace).stdout.splitlines()
        ltt.equal("events that babeltrace2 reads", len(ltt.babeltrace(trace)), len(here))
        found += here
    return found


def without_distance(lines):
    """Lines of babeltrace2 without the time since the event before, which is of another one for a viewer."""
    return [line.split(" (", 1)[0] + line.split(") ", 1)[1] for line in lines]
