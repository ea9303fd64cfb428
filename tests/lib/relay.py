# SPDX-License-Identifier: GPL-2.0-only
"""relay - an ltt-relayd for tests, a connection to it that can be cut and stalled, and
the account of the packets it stored.

    r = relay.Relay(t)             started, listening at r.port, storing below r.out
    line = relay.Line(r.port)      forwards line.port to it
    relay.session(t, "net", line.port)
"""
import contextlib
import glob
import os
import random
import re
import signal
import socket
import struct
import threading
import time

import killcell
import ltt


def reserve_port():
    """A socket with a port that no other test is given while it is open; a socket with
    SO_REUSEADDR can listen there. Not one of the ports that the kernel gives to clients."""
    while True:
        s = socket.socket()
        try:
            s.bind(("127.0.0.1", random.SystemRandom().randrange(10000, 30000)))
        except OSError:
            s.close()
            continue
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # not before: it has to be alone
        return s


def port_of(reserved):
    return reserved.getsockname()[1]


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as f:
        return [int(child) for child in f.read().split()]


class Relay:
    program = ("ltt-relayd",)
    scheme = "tcp"
    live_scheme = None  # the same
    err = None  # a file for its stderr; None: that of the test
    env = None  # for the next start

    def __init__(self, t, *options, out="relay"):
        self.t = t
        self.options = options
        self.out = os.path.abspath(out)
        self.reserved = reserve_port(), reserve_port()
        self.port, self.live_port = map(port_of, self.reserved)
        self.proc = None
        self.start()

    def start(self):
        with contextlib.ExitStack() as files:
            said = {"stderr": files.enter_context(open(self.err, "a"))} if self.err else {}
            self.proc = self.t.spawn(*self.program, "-o", self.out,
                                     "-C", f"{self.scheme}://127.0.0.1:{self.port}",
                                     "-L", f"{self.live_scheme or self.scheme}://127.0.0.1:{self.live_port}",
                                     *self.options, env=self.env, **said)
        ltt.until(lambda: self.proc.poll() is not None or
                  (listens(self.port) and listens(self.live_port)), 10, "the relay")
        ltt.equal("exit status of the relay, which should run", self.proc.poll(), None)

    def signal(self, signo):
        self.proc.send_signal(signo)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.proc.wait()

    def end(self):
        begin = time.monotonic()
        self.signal(signal.SIGTERM)
        ltt.equal("exit status of the relay", self.proc.wait(10 * ltt.PATIENCE), 0)
        ltt.check(time.monotonic() - begin < 2 * ltt.PATIENCE, "the relay ends late on SIGTERM")

    def alive(self):
        ltt.equal("exit status of the relay, which should run", self.proc.poll(), None)

    def helpers(self):
        """With a store: the guard, the process that starts ltt-archive, and that, if they run."""
        found, pid = [], self.proc.pid
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            while pids := children(pid):
                pid, = pids
                found.append(pid)
        return found

    def hosts(self):
        """All that is in its directory but its lock."""
        return sorted(set(os.listdir(self.out)) - {".lock"})

    def traces(self):
        return sorted(os.path.dirname(m) for m in
                      glob.glob(f"{self.out}/*/*/**/metadata", recursive=True))

    def trace(self, part=""):
        """The trace whose path contains that part."""
        found = [path for path in self.traces() if part in path]
        ltt.equal("traces at the relay", len(found), 1)
        return found[0]


class Line:
    """Forwards connections; stall() delays all bytes, cut() closes all connections."""

    def __init__(self, to):
        self.to = to
        self.flows = threading.Event()
        self.flows.set()
        self.down = False
        self.budget = None  # bytes until the line breaks by itself
        self.pairs = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            try:
                if self.down:
                    raise OSError
                far = socket.create_connection(("127.0.0.1", self.to), 5)
            except OSError:
                near.close()
                continue
            pair = (near, far)
            self.pairs.append(pair)
            for one, other in (pair, pair[::-1]):
                threading.Thread(target=self.pump, args=(one, other, pair), daemon=True).start()

    def pump(self, one, other, pair):
        try:
            while data := one.recv(16384):
                self.flows.wait()
                left = self.budget
                if left is not None:
                    data = data[:max(0, left)]
                    self.budget = left - len(data)
                other.sendall(data)
                if left is not None and left <= len(data):
                    break
        except OSError:
            pass
        self.close(pair)

    @staticmethod
    def close(pair):
        for s in pair:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()

    def cut(self):
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            self.close(pair)

    def break_after(self, nr):
        """Whichever way they go."""
        self.budget = nr

    def heal(self):
        self.budget = None
        self.down = False
        self.flows.set()

    def stall(self):
        self.flows.clear()


class OldLine(Line):
    """To a relay with an earlier version of the protocol: its hello ends with that, and a byte."""

    def pump(self, one, other, pair):
        super().pump(Old(one) if one is pair[1] else one, other, pair)


class Old:
    def __init__(self, sock):
        self.sock, self.greeted = sock, False

    def recv(self, nr):
        data = self.sock.recv(nr)
        if data and not self.greeted:
            self.greeted = True
            end = 4 + struct.unpack_from("<I", data)[0]
            data = data[:end - 5] + struct.pack("<IB", 0, 0) + data[end:]
        return data


def session(t, name, port, *channel, rule="rapp:*", start=True, live=None, scheme="net",
            spool=None, more=()):
    t.ctl("create", name, f"--set-url={scheme}://127.0.0.1:{port}", *more,
          *([f"--live={live}"] if live else []),
          *([] if spool is None else [f"--spool={spool}"]))
    t.ctl("enable-channel", "-u", "-s", name, *channel, "chan")
    t.ctl("enable-event", "-u", "-s", name, "-c", "chan", rule)
    if start:
        t.ctl("start", name)


def find_session(tree, name):
    if isinstance(tree, dict):
        if tree.get("name") == name and "link" in tree:
            return tree
        tree = list(tree.values())
    for part in tree if isinstance(tree, list) else []:
        if (found := find_session(part, name)) is not None:
            return found
    return None


def link(t, name):
    return find_session(t.figures(name), name)["link"]


def spooled(t, name):
    return find_session(t.figures(name), name)["spooled"]


def written(t, name):
    return ltt.find_key(find_session(t.figures(name), name), "written") or 0


def await_written(t, name, more=1000, what="events at the relay"):
    before = written(t, name)
    ltt.until(lambda: written(t, name) >= before + more, 20, what)


def await_caught_up(t, name, what):
    """Wait until all events recorded before this call are written."""
    recorded = ltt.find_key(find_session(t.figures(name), name)["totals"], "recorded")
    ltt.until(lambda: written(t, name) >= recorded, 60, what)


def await_all_written(t, name):
    """Check the output of programs that have ended. Return: number of events."""
    def all_written():
        session = find_session(t.figures(name), name)
        recorded = ltt.find_key(session["totals"], "recorded")
        left = recorded - ltt.find_key(session["totals"], "cleared")
        return left == ltt.find_key(session["totals"], "written") and recorded
    return ltt.until(all_written, 20, "all events to be at the relay")


def archives(r, name):
    """The directory of a session, and its archives, the oldest first."""
    place, = glob.glob(f"{r.out}/*/{name}-*")
    return place, sorted(glob.glob(f"{place}/archives/*"), key=lambda path: int(path.rsplit("-", 1)[1]))


# Two threads emit LTT_RATE events a second together.
PACED = ("-t", 2, "-r", int(os.environ.get("LTT_RATE", 20000)) // 2)


def load(t, *options, counters="load"):
    return t.spawn(f"{ltt.PROG}/rapp", "-a", "-c", counters, *options)


def catches(app, number):
    """Whether the program has got so far that it handles this signal; or has ended."""
    if app.poll() is not None:
        return True
    with open(f"/proc/{app.pid}/status", encoding="utf-8", errors="replace") as f:
        caught, = re.findall(r"^SigCgt:\s*(\w+)$", f.read(), re.M)
    return int(caught, 16) >> number - 1 & 1


def end_load(t, app):
    ltt.until(lambda: catches(app, signal.SIGTERM), 20, "the handler of the program")
    app.terminate()
    ltt.equal("exit status of the program", app.wait(20 * ltt.PATIENCE), 0)
    t.running.remove(app)


def conclude(t, relay, name, counters="load", part=""):
    """Stop and destroy: stored + counted = emitted, nothing twice, nothing torn."""
    totals = t.stop(name)
    t.destroy(name)
    cell = killcell.Cell(name, "relay", 0)
    cell.account(counters, relay.trace(part), totals, 0)
    ltt.check(cell.sums["doubled"] == cell.sums["torn"] == 0, f"{cell.sums}")
    return totals
