#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""crashes WORK BUILD [NUMBER] - programs of several threads that crash while they emit events, inside of a
machine: by faults and by signals, half of them with ltt-crash in core_pattern. The handler receives whole cores, as
large in both halves; each snapshot has the last event of each thread, or the one before. FAILED lines
describe a failure.
"""
import collections
import json
import os
import random
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
NUMBER = int(sys.argv.pop(3)) if len(sys.argv) > 3 else 20
import control  # noqa: E402
from control import check, until  # noqa: E402

os.environ["HOME"] = "/root"  # as ltt-crash finds it: the kernel gives it no environment
del os.environ["LTT_HOME"]
PLACE = "/run/c"  # core_pattern is short
CORES = "/run/cores"
THREADS = 3
KERNEL = "/proc/sys/kernel"
FAULTS = {"write": signal.SIGSEGV, "abort": signal.SIGABRT, "trap": signal.SIGILL, "stack": signal.SIGSEGV}
SIGNALS = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGQUIT)
HEAD = 65536  # bytes of a core: its program headers are there
HANDLER = f"""#!/bin/sh
dd bs={HEAD} count=1 iflag=fullblock of={CORES}/$1.head 2>/dev/null
n=$(wc -c)
echo "$n $*" >{CORES}/$1.new
mv {CORES}/$1.new {CORES}/$1
"""


def put(name, text):
    with open(f"{KERNEL}/{name}", "w") as f:
        f.write(text)


def core(pid):
    """Bytes and words that the handler got; it has got all bytes that the core's own headers describe."""
    until(lambda: os.path.exists(f"{CORES}/{pid}"), f"the core of {pid}")
    with open(f"{CORES}/{pid}") as f:
        size, *words = f.read().split(" ")
    with open(f"{CORES}/{pid}.head", "rb") as f:
        head = f.read()
    os.unlink(f"{CORES}/{pid}.head")
    check(head[:4] == b"\x7fELF" and len(head) == HEAD, f"the core of {pid} has no head")
    first, = struct.unpack_from("<Q", head, 32)
    each, number = struct.unpack_from("<HH", head, 54)
    ends = [sum(struct.unpack_from("<Q", head, first + i * each + at)[0] for at in (8, 32)) for i in range(number)]
    check(max(ends) == HEAD + int(size), f"the core of {pid} has {HEAD + int(size)} bytes, its headers {max(ends)}")
    return HEAD + int(size), " ".join(words).rstrip("\n")


def counters(path, threads=THREADS):
    """{thread: (begun, returned)}"""
    found = {}
    with open(path, "rb") as f:
        data = f.read()
    for i in range(threads):
        begun, returned, thread = struct.unpack_from("<QQI", data, 64 + 128 * i)
        found[thread] = begun, returned
    return found


def crash(kind, base, threads=THREADS, payload=32):
    """A program without random addresses, whose threads have numbers from @base. Return: its pid, its counters, and how long the kernel took."""
    path = "/run/counters"
    if os.path.exists(path):
        os.unlink(path)
    argv = ["setarch", "-R", f"{PLACE}/rapp", "-a", "-t", threads, "-n", 0, "-r", 2000, "-c", path,
            "-b", base, "-z", payload]
    if kind in FAULTS:
        argv += ["-k", f"{kind}:{random.randrange(threads)}:{random.randrange(300, 1500)}"]
    app = subprocess.Popen([str(a) for a in argv], env=dict(os.environ, LTT_REGISTER_TIMEOUT="-1"))
    if kind not in FAULTS:
        until(lambda: os.path.exists(path) and os.path.getsize(path) and
              all(n for _, n in counters(path, threads).values()),
              "events")
        time.sleep(random.random() / 5)
        begin = time.monotonic()
        os.kill(app.pid, kind)
    else:
        begin = time.monotonic()
    status = app.wait(300)
    took = time.monotonic() - begin
    check(-status == FAULTS.get(kind, kind), f"{kind}: status {status}")
    return app.pid, counters(path, threads), took


def listed():
    return json.loads(control.run(f"{PLACE}/lttctl", "crash", "--json").stdout)["result"]["crashes"]


def check_snapshot(pid, kind, found, known):
    saved = until_saved(known)
    program = saved["program"]
    check(program["crash"]["pid"] == pid, f"another process: {saved}")
    check(program["signal"] == FAULTS.get(kind, kind), f"{kind}: another signal: {saved}")
    check(program["command"] == [f"{PLACE}/rapp"], f"another program: {saved}")
    last = collections.defaultdict(int)
    for line in control.run(f"{control.BUILD}/bin/lttctl", "view", saved["directory"]).stdout.splitlines():
        if event := re.search(r"thread = (\d+), seq = (\d+),", line):
            last[int(event[1])] = max(last[int(event[1])], int(event[2]))
    for thread, (begun, returned) in found.items():
        check(returned - 1 <= last[thread] < begun,
              f"{kind}: thread {thread}: its last event is {last[thread]}; {returned} calls returned")
    return saved


def until_saved(known):
    until(lambda: len(listed()) > known, f"crash {known + 1}")
    crashes = listed()
    check(len(crashes) == known + 1, f"{len(crashes)} crashes, not {known + 1}")
    return crashes[-1]


def set_up(pattern):
    os.chmod("/run", 0o755)
    os.makedirs(PLACE)
    os.makedirs(CORES)
    for name in "bin/lttctl", "bin/ltt-crash", "prog/rapp":
        shutil.copy(f"{control.BUILD}/{name}", PLACE)
    os.environ["LD_LIBRARY_PATH"] = f"{control.BUILD}/lib"
    with open(f"{PLACE}/handler", "w") as f:
        f.write(HANDLER)
    os.chmod(f"{PLACE}/handler", 0o755)
    put("core_pattern", pattern)
    control.run("lttctl", "create", "box", "--snapshot", "-o", "/run/box")
    control.run("lttctl", "enable-channel", "-u", "--subbuf-size=64k", "--num-subbuf=4", "chan")
    control.run("lttctl", "enable-event", "-u", "-c", "chan", "rapp:event")
    control.run("lttctl", "add-context", "-u", "-c", "chan", "-t", "vpid,vtid")
    control.run("lttctl", "start")


def install():
    before = open(f"{KERNEL}/core_pattern").read()
    control.run(f"{PLACE}/lttctl", "crash", "--install", "--keep=1000", "--at-most=1000/h")
    return before


def faulting_thread(saved):
    done = json.loads(control.run(f"{PLACE}/lttctl", "crash", saved["directory"], "--json").stdout)["result"]
    check(done["last_events"]["of_thread"], f"the thread is not known: {done}")
    check(done["crash"]["program"]["crash"]["tid"] != done["crash"]["program"]["crash"]["pid"],
          f"not the thread that crashed: {done}")


def to_a_file():
    """core_pattern names a file: as large as the kernel writes it."""
    os.makedirs("/run/files")
    import resource  # pylint: disable=import-outside-toplevel
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    sizes = []
    for helper in False, True:
        put("core_pattern", "/run/files/core.%e.%p")
        if helper:
            install()
        pid, _, _ = crash("abort", 0)
        path = f"/run/files/core.rapp.{pid}"
        until(lambda: os.path.exists(path), path)
        until(lambda: not control.pids("ltt-crash"), "the end of ltt-crash")
        sizes.append((os.path.getsize(path), os.stat(path).st_mode, os.stat(path).st_uid))
    check(sizes[0] == sizes[1], f"core files: {sizes}")
    control.run(f"{PLACE}/lttctl", "crash", "--uninstall")


def main():
    sizes = {False: collections.defaultdict(set), True: collections.defaultdict(set)}
    times = {False: [], True: []}
    known = 0
    try:
        set_up(f"|{PLACE}/handler %P %s %t %h")
        before = None
        kinds = [*FAULTS, *SIGNALS]
        for helper in False, True:
            if helper:
                before = install()
            for i in range(NUMBER):
                kind = kinds[i % len(kinds)]
                put("core_pipe_limit", "16" if i // len(kinds) % 2 else "0")
                pid, found, took = crash(kind, 1000 * (i + 1))
                size, words = core(pid)
                check(words.startswith(f"{pid} {int(FAULTS.get(kind, kind))} "), f"words: {words}")
                sizes[helper][kind].add(size)
                times[helper].append(took)
                if helper:
                    saved = check_snapshot(pid, kind, found, known)
                    known += 1
                    if kind in FAULTS and kind != "stack" and known < 9:
                        faulting_thread(saved)
        every = set().union(*sizes[True].values(), *sizes[False].values())  # a program may have one page more
        check(max(every) - min(every) <= 2 * os.sysconf("SC_PAGESIZE"), f"sizes of the cores: {sizes}")
        control.run(f"{PLACE}/lttctl", "crash", "--uninstall")
        after = open(f"{KERNEL}/core_pattern").read()
        check(after == before, f"core_pattern: {after!r}, not {before!r}")
        to_a_file()
        print(f"crashes: {known} of {NUMBER} saved; cores of {min(every)} to {max(every)} "
              f"bytes, whole, with and without ltt-crash; median time {statistics.median(times[True]):.3f} s, without "
              f"{statistics.median(times[False]):.3f} s", flush=True)
    except Exception as e:
        text = str(e) if isinstance(e, control.Failure) else traceback.format_exc()
        print(f"FAILED: crashes: {text}", flush=True)
        status = subprocess.run([f"{PLACE}/lttctl", "crash", "--status"], capture_output=True, text=True, check=False)
        print(status.stdout, status.stderr, flush=True)
    subprocess.run(["lttctl", "shutdown", "--force"], check=False, capture_output=True)


if __name__ == "__main__":
    main()
