# SPDX-License-Identifier: GPL-2.0-only
"""ltt - for end-to-end tests written in Python.

scripts/runtests gives each test its own working directory and the environment
(TOP, BUILD, LTT_RUNDIR, LTT_HOME). A test is a plain script:

    #!/usr/bin/env python3
    import ltt
    with ltt.Test() as t:
        t.ctl("create", "demo", "-o", "trace")
        ...

Leaving the `with` ends every process that still runs; the daemons have to end within two
seconds after SIGTERM.
"""
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

TOP = os.environ["TOP"]
BUILD = os.environ["BUILD"]
SLOW = int(os.environ.get("LTT_TEST_SLOW", "1"))
PATIENCE = 4 * SLOW  # limits are times of an idle machine, and are multiplied by it
SHORT = int(os.environ.get("LTT_TEST_SHORT", "1"))  # repetitions are divided by it
PROG = f"{BUILD}/prog"
DAEMONS = ("ltt-sessiond", "ltt-consumerd", "ltt-keeperd")


class Failure(Exception):
    """An expectation of a test failed."""


def fail(text):
    raise Failure(text)


def on_uncaught(kind, value, trace):
    """A Failure needs no stack of this library."""
    if kind is Failure:
        print(f"FAIL: {value}")
    else:
        sys.__excepthook__(kind, value, trace)


sys.excepthook = on_uncaught


def skip(text):
    print(text)
    sys.exit(77)


def check(condition, text):
    if not condition:
        fail(text)


def equal(what, got, wanted):
    if got != wanted:
        fail(f"{what}: got {got!r}, want {wanted!r}")


def run(*argv, status=0, env=None, timeout=60, **kw):
    """Run a command to its end. status None: any. Return the CompletedProcess (text)."""
    full = dict(os.environ, **(env or {}))
    try:
        done = subprocess.run([str(a) for a in argv], env=full, capture_output=True, text=True,
                              timeout=timeout * SLOW, errors="replace", **kw)
    except subprocess.TimeoutExpired as e:
        raise Failure(f"{' '.join(map(str, argv))}: no end after {timeout * SLOW} s") from e
    if status is not None and done.returncode != status:
        fail(f"{' '.join(map(str, argv))}: exit status {done.returncode}, want {status}\n"
             f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def until(condition, seconds=5, what="the condition"):
    """Poll a condition until it holds, at most for a given time on an idle machine."""
    begin = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - begin
        if waited > seconds * PATIENCE:
            fail(f"waited {waited:.0f} s in vain for {what() if callable(what) else what}")
        # Whatever is waited for may need this processor: a condition is often a program, and one with a
        # sanitizer takes a tenth of a second.
        time.sleep(min(0.1, max(0.005 if SLOW == 1 else 0.05, waited / 10)))


def preload(*libs):
    """Value for LD_PRELOAD: wrappers by their short names."""
    first = [os.environ["LTT_SAN_PRELOAD"]] if os.environ.get("LTT_SAN_PRELOAD") else []
    return " ".join(first + [f"{BUILD}/lib/libltt-{lib}.so" for lib in libs])


def daemons(*names):
    """Pids of this test's daemons, known by their environment."""
    mine = f"LTT_RUNDIR={os.environ['LTT_RUNDIR']}".encode()
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                if f.read().strip() not in (names or DAEMONS):
                    continue
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mine in f.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            continue
    return found


def daemon(name):
    """Pid of the only daemon of a name. One that has forked, to start another program, is seen twice
    until then."""
    until(lambda: len(daemons(name)) == 1, 5, f"one {name}")
    return daemons(name)[0]


def serve():
    """Start a session daemon. Return: its pid, when it serves."""
    run("ltt-sessiond", "-d")
    return daemon("ltt-sessiond")


def take_away(pid, how):
    """Send a signal that ends a daemon, and wait until it has ended: without memory, it may hold locks."""
    os.kill(pid, how)
    until(lambda: state_of(pid) in ("", "X", "Z"), 10, "the daemon to end")


def state_of(pid):
    """The letter of its state; "": there is none."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_stopped(pid):
    """Whether SIGSTOP has taken effect."""
    return state_of(pid) == "T"


def go_on(pid):
    """After SIGSTOP. The kernel may have woken it, as the last of its session, and it may have ended. Where
    it is just ending, a SIGCONT would take away the SIGSTOP with which a sanitizer halts it
    to search for leaks: it would wait for that for ever."""
    try:
        if is_stopped(pid):
            os.kill(pid, signal.SIGCONT)
    except (ProcessLookupError, FileNotFoundError):
        pass


class Test:
    def __init__(self):
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for proc in self.running:
            if proc.poll() is None:
                proc.kill()
            proc.wait()
        late = self.stop_daemon()
        if kind is Failure:
            print(f"FAIL: {value}")
        if late:
            print(f"FAIL: {late}")
        if kind is Failure or (late and kind is None):
            sys.exit(1)

    @staticmethod
    def stop_daemon():
        """Send SIGTERM to the session daemon. Return an error message or None."""
        for pid in daemons("ltt-sessiond"):
            with contextlib.suppress(ProcessLookupError):  # it was ending by itself
                os.kill(pid, signal.SIGTERM)
        seconds = 2 * PATIENCE
        end = time.monotonic() + seconds
        while left := daemons():
            if time.monotonic() > end:
                return f"daemons still there {seconds} s after SIGTERM: {left}"
            time.sleep(0.01)
        return None

    def lttctl(self, *argv, **kw):
        """Return the CompletedProcess."""
        return run("lttctl", *argv, **kw)

    def ctl(self, *argv, status=0, **kw):
        """Run lttctl with these arguments; return its stdout."""
        return self.lttctl(*argv, status=status, **kw).stdout

    def ctl_json(self, *argv, **kw):
        return json.loads(self.ctl("--json", *argv, **kw))

    def figures(self, *names):
        """`lttctl status`, once the figures are complete: for a moment after a consumer was killed they
        are missing (exit status 4)."""
        def known():
            done = self.lttctl("--json", "status", *names, status=None)
            check(done.returncode in (0, 4), f"lttctl status: {done.returncode}\n{done.stderr}")
            return done.returncode == 0 and json.loads(done.stdout)
        return until(known, 20, "the consumer's figures")

    def stop(self, name):
        """Stop a session; return its totals. Lost events are accepted."""
        done = self.lttctl("--json", "stop", name, status=None)
        totals = find_key(json.loads(done.stdout or "{}"), "totals")
        if not totals:
            fail(f"stop: no totals: status {done.returncode}\n{done.stdout}{done.stderr}")
        equal("exit status of stop", done.returncode,
              6 if totals["lost"] or totals["lost_buffers"] or totals["unrecorded"] else 0)
        return totals

    def destroy(self, name):
        """Destroy a session; lost events are accepted, as they were reported."""
        done = self.lttctl("destroy", name, status=None)
        check(done.returncode in (0, 6), f"destroy {name}: status {done.returncode}\n{done.stderr}")

    def spawn(self, *argv, env=None, **kw):
        """Start a program that the test ends, or that ends with the test."""
        proc = subprocess.Popen([str(a) for a in argv], env=dict(os.environ, **(env or {})), **kw)
        self.running.append(proc)
        return proc

    def daemons(self, *names):
        return daemons(*names)

    def revive(self, victims):
        """Start daemons that were killed, and that no client starts."""

    def session(self, name, rules, channel=None, output="trace", start=True):
        """create, enable-channel, enable-event, start: the begin of most tests.
        channel: options of enable-channel. Return the output directory."""
        self.ctl("create", name, "-o", os.path.abspath(output))
        where = []
        if channel is not None:
            self.ctl("enable-channel", "-u", "-s", name, *channel, "chan")
            where = ["-c", "chan"]
        for rule in rules:
            self.ctl("enable-event", "-u", "-s", name, *where, rule)
        if start:
            self.ctl("start", name)
        return os.path.abspath(output)


def find_key(tree, key):
    """The first value of that name in a JSON document, depth first."""
    if isinstance(tree, dict):
        if key in tree:
            return tree[key]
        tree = list(tree.values())
    for part in tree if isinstance(tree, list) else []:
        if (found := find_key(part, key)) is not None:
            return found
    return None


# --- limits ------------------------------------------------------------------------

def own_group(controller):
    """The group of this process, relative."""
    with open("/proc/self/cgroup") as f:
        for line in f:
            _, names, group = line.strip().split(":", 2)
            if names == controller:
                return group
    return None


def members(group):
    """Of a control group, and which state each is in."""
    found = []
    with open(f"{group}/cgroup.procs") as f:
        pids = f.read().split()
    for pid in pids:
        for path in glob.glob(f"/proc/{pid}/task/*"):
            with contextlib.suppress(OSError):
                with open(f"{path}/stat") as stat, open(f"{path}/wchan") as wchan:
                    found.append(f"{path} {' '.join(stat.read().split()[1:3])} {wchan.read()}")
    return found or pids


@contextlib.contextmanager
def memory_group(limit_bytes):
    """A memory group with this limit; its directory."""
    for root, controller, limit in (("/sys/fs/cgroup", "", "memory.max"),
                                    ("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes")):
        own = own_group(controller)
        path = f"{root}{own}/ltt-test-{os.getpid()}" if own is not None else ""
        try:
            os.mkdir(path)
        except OSError:
            continue
        try:
            with open(f"{path}/{limit}", "r+") as f:  # where it is one
                f.write(str(limit_bytes))
        except OSError:
            os.rmdir(path)
            continue
        try:
            yield path
        finally:
            with open(f"{path}/{limit}", "r+") as f:  # the end of a process that was killed may need some
                f.write("-1" if controller else "max")
            until(lambda: not members(path), 20, lambda: f"the group to be empty: {members(path)}")
            os.rmdir(path)
        return
    skip("no memory control group can be made here")


# --- the load generator and its checker --------------------------------------------

def figures(text):
    """{'emitted': 3, 'lost': 0} of 'emitted 3 lost 0'."""
    return {k: int(v) for k, v in re.findall(r"(\w+) (-?\d+)", text)}


def rapp_check(counters, trace, status=0):
    names = counters if isinstance(counters, str) else ",".join(counters)
    done = run(f"{PROG}/rapp_check", names, trace, status=status, timeout=120)
    if done.stderr:
        print(done.stderr, end="")
    return figures(done.stdout)


# --- traces ---------------------------------------------------------------------------

HEADLESS = re.compile(r"Invalid CTF magic number.* magic=0$", re.M)


def babeltrace(trace, *options, growing=False, lossy=False):
    """Lines of babeltrace2's text; an error message from it is a failure. @growing: but for an index
    that has grown since it read the file's size: it reads on without; and it is run again
    where a packet has its size and not its header yet (doc/reliability.md, G6). @lossy: but for
    events that were lost and counted."""
    for _ in range(20):
        done = run("babeltrace2", *options, trace, status=None, timeout=120)
        if not (growing and done.returncode and HEADLESS.search(done.stderr)):
            break
    equal(f"exit status of babeltrace2 ({done.stderr[:2000]})", done.returncode, 0)
    complaints = [line for line in done.stderr.splitlines()
                  if not (growing and "indexed size != stream file size" in line or
                          lossy and "discarded" in line)]
    if complaints:
        fail(f"babeltrace2 complains: {complaints[:3]}")
    return done.stdout.splitlines()


NAME = re.compile(r"^\[[^\]]*\] (?:\([^)]*\) )?(?:\S+ )?([A-Za-z_][\w:.-]*): \{")


def names(lines):
    """Count of events for each name in a text trace."""
    found = {}
    for line in lines:
        m = NAME.match(line)
        if m:
            found[m.group(1)] = found.get(m.group(1), 0) + 1
    return found
