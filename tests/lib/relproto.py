# SPDX-License-Identifier: GPL-2.0-only
"""relproto - a hostile peer of a relay: relay.def byte by byte.

    p = relproto.Peer(port)
    code, rest = p.session(host="evil")
"""
import socket
import struct

import ctfpkt
import ltt

REL_HELLO, REL_SESSION, REL_TRACE, REL_METADATA, REL_STREAM, REL_PACKET = 1, 2, 3, 4, 5, 6
REL_STREAM_END, REL_END, REL_BEACON = 7, 8, 9
UUID = b"u" * 16


def text(s):
    data = s.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def blob(data):
    return struct.pack("<I", len(data)) + data


def header(size, seq=0, uuid=UUID, magic=0xC1FC1FC1, instance=0, crc=0, begin=0, end=0,
           pos=0):
    return ctfpkt.HEADER.pack(magic, instance, 2, crc, pos, 0, 0, 0, 0, 0, 0, uuid, begin, end, size * 8,
                              size * 8, seq, 0, 0)


HEADER_BYTES = len(header(0))


class Peer:
    """@wrap: function that wraps the connected socket, for instance in TLS."""

    def __init__(self, port, greet=True, wrap=None):
        self.sock = socket.create_connection(("127.0.0.1", port), 10 * ltt.PATIENCE)
        self.sock = wrap(self.sock) if wrap else self.sock
        self.serial = 0
        if greet:
            ltt.equal("hello", self.ask(REL_HELLO, text("test") + struct.pack("<Q", 0))[0], 0)

    def send(self, number, body, behind=b""):
        self.serial += 1
        message = struct.pack("<HHI", number, 0, self.serial) + body
        self.sock.sendall(struct.pack("<I", len(message)) + message + behind)

    def read(self, nr):
        data = b""
        while len(data) < nr:
            got = self.sock.recv(nr - len(data))
            if not got:
                raise ConnectionError
            data += got
        return data

    def ask(self, number, body, behind=b""):
        """(code, rest); (-1, b""): the relay closed the connection."""
        try:
            self.send(number, body, behind)
            answer = self.read(struct.unpack("<I", self.read(4))[0])
        except (ConnectionError, BrokenPipeError):
            return -1, b""
        kind, flags, serial, code = struct.unpack_from("<HHII", answer)
        ltt.equal("type, flags, serial of an answer", (kind, flags, serial), (number, 1, self.serial))
        return code, answer[12:]

    def session(self, host="evil", name="s", stamp="20260101-000000", id=b"i" * 16, live_us=0):
        return self.ask(REL_SESSION, text(host) + text(name) + text(stamp) + blob(id) +
                        (struct.pack("<I", live_us) if live_us else b""))

    def trace(self, path="ust", uuid=UUID, number=1, metadata=0):
        return self.ask(REL_TRACE, struct.pack("<Q", number) + text(path) + blob(uuid) +
                        struct.pack("<Q", metadata))

    def stream(self, channel="chan", number=1, cpu=0, trace=1):
        return self.ask(REL_STREAM, struct.pack("<QI", trace, number) + text(channel) +
                        struct.pack("<IIIQI", cpu, 0, 0, 0, 0))

    def packet(self, header, body=b"", number=1):
        return self.ask(REL_PACKET, struct.pack("<I", number) + blob(header), body)

    def empty_packet(self, begin, end, **others):
        """Send a complete packet without events."""
        bare = header(HEADER_BYTES, begin=begin, end=end)
        return self.packet(ctfpkt.sealed(bare), **others)

    def beacon(self, time):
        return self.ask(REL_BEACON, struct.pack("<Q", time))

    def close(self):
        self.sock.close()


def refused(what, answer):
    ltt.check(answer[0] != 0, f"{what}: was accepted")
