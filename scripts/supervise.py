# SPDX-License-Identifier: GPL-2.0-only
"""supervise - run one test in a session of its own, for runtests, in a process that is its supervisor.

It is the subreaper of all that the test starts, so a daemon can't get away from it. Result:
the test's exit status; 1 if it did not end, left a process behind, or one of its processes crashed.

The limit is processor time, so that a busy machine does not make a slow test a failed one. After
that much wall time a test has also failed when all of its processes together got nothing done for
half a minute, and in any case after four times as much.
"""
import ctypes
import glob
import os
import signal
import sys
import time

SKIP = 77
DEADLY = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE,
          signal.SIGSYS, signal.SIGTRAP}
# Signals that nohup, or a shell without job control, may ignore: tests begin as by hand.
USERS = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ}
WAITED = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM}
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")
IDLE_SECONDS = 30  # with less than this share of them spent, a test hangs:
IDLE_SHARE = 0.01
SHOWN_THREADS = 100


def read(path):
    """Content of a file of /proc, or None: its process may have ended."""
    try:
        with open(path, "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return None


def stat(path):
    """Fields of a stat file from the state on: the name before it may contain anything."""
    text = read(path)
    return text.rsplit(")", 1)[1].split() if text else None


def comm(pid):
    fields = stat(f"/proc/{pid}/stat")
    line = (read(f"/proc/{pid}/cmdline") or "").replace("\0", " ").strip()
    return f"{pid} ({line[:100]})" if fields and fields[0] != "Z" else None


def children(pid="self"):
    pids = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        pids += [int(p) for p in (read(path) or "").split()]
    return pids


def descendants(pid="self"):
    found = children(pid)
    for child in list(found):
        found += descendants(child)
    return found


def cpu_seconds():
    """Processor time of all that the test has started, ended processes included."""
    times = os.times()
    ticks = 0
    for pid in descendants():
        fields = stat(f"/proc/{pid}/stat")
        ticks += sum(int(field) for field in fields[11:15]) if fields else 0
    return times.children_user + times.children_system + ticks / TICKS


def describe_threads(pid):
    """Where each thread of a process waits."""
    for task in sorted(glob.glob(f"/proc/{pid}/task/*"))[:SHOWN_THREADS]:
        fields = stat(f"{task}/stat") or ["gone"]
        name, wchan, call = ((read(f"{task}/{name}") or "?").strip() for name in ("comm", "wchan", "syscall"))
        yield f"    {os.path.basename(task)} {name}: state {fields[0]}, in {wchan}, system call {call}"


class Supervisor:
    """Runs the test, reaps every process that it leaves, notes failures."""

    def __init__(self, argv, limit, env):
        self.argv = argv
        self.env = env
        self.limit = limit
        self.begin = time.monotonic()
        self.interrupted = False
        self.complaints = []
        self.status = None
        self.names = {}
        self.ended_by_us = set()
        self.progress = (self.begin, 0.0)  # when processor time grew last, and to how much

    def note(self, text):
        self.complaints.append(text)

    def reap(self, main):
        """Take all that have ended. Return whether any child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == main:
                self.status = status
            elif os.WIFSIGNALED(status) and os.WTERMSIG(status) in DEADLY and pid not in self.ended_by_us:
                name = self.names.get(pid, pid)
                self.note(f"process {name} died by {signal.Signals(os.WTERMSIG(status)).name}")

    def wait_change(self, seconds):
        info = signal.sigtimedwait(WAITED, max(0.0, seconds))
        if info and info.si_signo != signal.SIGCHLD:
            self.interrupted = True
            self.note("interrupted")

    def remember(self):
        for pid in children():
            if pid not in self.names:
                name = comm(pid)
                if name:
                    self.names[pid] = name

    def exceeded(self):
        """Why the test has taken too long, or None."""
        now = time.monotonic()
        wall = now - self.begin
        if wall < self.limit:
            return None
        cpu = cpu_seconds()
        since, before = self.progress
        if cpu - before > IDLE_SHARE * (now - since):
            self.progress = (now, cpu)
        elif now - since > min(IDLE_SECONDS, 2 * self.limit):
            return f"hangs: no progress for {now - since:.0f} s, after {wall:.0f} s"
        if cpu > self.limit:
            return f"took more than {self.limit:g} s of processor time"
        if wall > 4 * self.limit:
            return f"took longer than {4 * self.limit:g} s, with {cpu:.0f} s of processor time"
        return None

    def run(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, WAITED)
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        main = self.spawn()
        reason = None
        while self.status is None and not reason and not self.interrupted:
            self.wait_change(min(0.5, self.limit))
            self.remember()
            self.reap(main)
            if self.status is None:
                reason = self.exceeded()
        if reason:
            self.note(reason)
            self.describe_hang()
        self.end_rest(main)
        return self.result()

    def spawn(self):
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            for number in USERS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WAITED)
            os.execvpe(self.argv[0], self.argv, self.env)
        except OSError as e:
            os.write(2, f"{self.argv[0]}: {e}\n".encode())
        os._exit(126)

    def describe_hang(self):
        for pid in descendants():
            name = comm(pid)
            if name:
                self.note(f"  running at that moment: {name}")
                for line in describe_threads(pid):
                    self.note(line)

    def end_rest(self, main):
        """Remaining processes get a moment to end, and are killed then."""
        grace = time.monotonic() + (0.3 if self.status is not None else 0)
        while self.reap(main) and time.monotonic() < grace:
            self.wait_change(grace - time.monotonic())
        told = self.status is None
        until = time.monotonic() + 10
        while self.reap(main) and time.monotonic() < until:
            for pid in children():
                name = comm(pid)
                if name and not told:
                    self.note(f"left running: {name}")
                self.ended_by_us.update([pid, *descendants(pid)])
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            told = True
            self.wait_change(0.2)

    def result(self):
        for line in self.complaints:
            print(f"runtests: {line}")
        sys.stdout.flush()
        if self.status is None or self.complaints and self.ok():
            return 1
        if os.WIFSIGNALED(self.status):
            print(f"runtests: died by {signal.Signals(os.WTERMSIG(self.status)).name}")
            return 1
        return os.WEXITSTATUS(self.status)

    def ok(self):
        return os.WIFEXITED(self.status) and os.WEXITSTATUS(self.status) in (0, SKIP)
