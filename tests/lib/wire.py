# SPDX-License-Identifier: GPL-2.0-only
"""wire - messages as a peer that is not lttctl or libltt may send: raw ones to the
session daemon's sockets, under any uid that the test may take.

Written from doc/protocol.md and src/common/proto/codec.h, not from the tables, so
that a test sends bytes, not only those that our own encoder produces.
"""
import contextlib
import os
import socket
import struct
import subprocess
import time

import ltt

RUN = os.environ["LTT_RUNDIR"]
NOBODY = 65534
OTHER = 65533
REPLY, ITEM = 1, 2
APP_HELLO, APP_POINTS_ADD, APP_READY = 1, 3, 9
HELLO = 1


def need_root():
    if os.getuid() != 0:
        ltt.skip("needs root, to be several users")


def as_user(uid):
    """Arguments of a subprocess that runs as another user."""
    return dict(user=uid, group=uid, extra_groups=[])


@contextlib.contextmanager
def being(uid):
    """Connections opened within this context belong to this user."""
    if uid is None or uid == os.geteuid():
        yield
        return
    user, group, groups = os.geteuid(), os.getegid(), os.getgroups()
    os.setgroups([])
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)
        os.setgroups(groups)


def connect(name, uid=None, timeout=10):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # not settimeout(): connect() would not wait where the daemon has many to accept
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", timeout * ltt.PATIENCE, 0))
    try:
        with being(uid):
            s.connect(f"{RUN}/{name}")
    except OSError:
        s.close()
        raise
    s.settimeout(timeout * ltt.PATIENCE)
    return s


def text(s):
    data = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def records(items):
    """Encode a list: each record is preceded by its length."""
    body = b"".join(struct.pack("<I", len(i)) + i for i in items)
    return struct.pack("<II", len(items), len(body)) + body


def message(number, body=b"", serial=1, flags=0):
    return struct.pack("<HHI", number, flags, serial) + body


def app_hello(name="raw", producer=0, bits=64):
    return message(APP_HELLO, struct.pack("<IQI", 1, 0, os.getpid()) + text(name) +
                   struct.pack("<BBQ", producer, bits, time.time_ns()))


def point(number, name, fields=(), kind=1, level=6, form=b"", line=None):
    return (struct.pack("<I", number) + text(name) + struct.pack("<BB", kind, level) + text(form) +
            text("raw.c") + struct.pack("<I", number if line is None else line) + records(fields))


def points_add(points, complete=1):
    return message(APP_POINTS_ADD, records(points) + struct.pack("<B", complete))


def client_hello(serial=1):
    return message(HELLO, text("test") + struct.pack("<Q", 0), serial)


def say(s, data, fds=()):
    """Send; the peer may have closed the connection. Return whether it was sent."""
    try:
        socket.send_fds(s, [data], list(fds)) if fds else s.send(data)
        return True
    except (BrokenPipeError, ConnectionResetError):
        return False


def closed(s):
    """Check whether the daemon closed the connection. Its messages are discarded."""
    s.setblocking(False)
    try:
        while s.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


def answer(s):
    """Code and sentence of the next reply."""
    while True:
        data = s.recv(65536)
        if not data:
            return None
        _, flags, _ = struct.unpack_from("<HHI", data)
        if flags & REPLY:
            code, length = struct.unpack_from("<II", data, 8)
            return code, data[16:16 + length].decode(errors="replace")


def quota(t, uid, name, guest=False):
    """(used, refused) of a user, as reported to root."""
    for q in t.ctl_json("quota")["result"]["quotas"]:
        if q["user"] == uid and q["name"] == name and q["in_roots"] == guest:
            return q["used"], q["times_refused"]
    return 0, 0


def daemon(*options):
    """A session daemon whose socket all members of nogroup may use."""
    with open("daemon.log", "a") as log:
        subprocess.run(["ltt-sessiond", "-b", "--group=nogroup", *options], stdout=log,
                       stderr=log, check=True, timeout=10 * ltt.PATIENCE)


def ctl(uid, *argv, status=0, gid=None):
    """Run lttctl as user @uid, in a home of its own. Return the CompletedProcess."""
    home = os.path.abspath(f"home-{uid}")
    if not os.path.isdir(home):
        os.mkdir(home, 0o700)
        os.chown(home, uid, uid)
    return ltt.run("lttctl", *argv, status=status, env=dict(LTT_HOME=home, HOME=home),
                   **dict(as_user(uid), group=gid or uid))
