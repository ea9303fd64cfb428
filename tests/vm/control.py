#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""control WORK BUILD [TEST...] - the daemons and lttctl with the kernel module, inside of
a machine. WORK holds the modules in kmod/ and emit/ltt_emit.ko, BUILD the programs. One line a
test; FAILED lines describe a failure.
"""
import bisect
import collections
import contextlib
import ctypes
import difflib
import errno
import fcntl
import glob
import grp
import itertools
import json
import mmap
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

WORK, BUILD = sys.argv[1:3]
os.environ["TOP"] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = "/dev/shm/home"
os.environ.update(PATH=f"{BUILD}/bin:{os.environ['PATH']}", BUILD=BUILD, LTT_HOME=HOME,
                  LTT_RUNDIR="/run/ltt", HOME=HOME)
sys.path.insert(0, f"{os.environ['TOP']}/tests/lib")
import counter  # noqa: E402
import ctf2  # noqa: E402
import guesttrace  # noqa: E402
import kmodcheck  # noqa: E402
import mi  # noqa: E402
import pages  # noqa: E402
import saved  # noqa: E402
import schema  # noqa: E402
UNLINK = "do_unlinkat" if " do_unlinkat\n" in open("/proc/kallsyms").read() else "filename_unlinkat"  # since 7.3
EMITTED = 2 * 4 * 1000  # CPUs, kinds of writers, of each
DAEMONS = ("ltt-sessiond", "ltt-consumerd", "ltt-keeperd")


class Failure(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Failure(text)


def run(*argv, status=0, **kw):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=300, **kw)
    if done.returncode != status and status is not None:
        raise Failure(f"{' '.join(map(str, argv))}: status {done.returncode}, not {status}\n"
                      f"{done.stdout[-1000:]}{done.stderr}")
    return done


def ctl(*argv, status=0, **kw):
    done = run("lttctl", *argv, "--json", status=status, **kw)
    answer = json.loads(done.stdout)
    schema.answer(answer)
    return answer


def until(condition, what, seconds=100):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, f"in vain: {what}")
        time.sleep(0.05)


def insmod(path, *arguments):
    run("busybox", "insmod", path, *arguments)


def load_module():
    """Modules that are not loaded: the tests of kills remove them."""
    for module in "ltt_instr", "ltt":
        if not os.path.exists(f"/sys/module/{module}"):
            insmod(f"{WORK}/kmod/{module}.ko")


def emit(count=1000):
    """A known number of power:cpu_frequency, which nothing else in here hits."""
    insmod(f"{WORK}/emit/ltt_emit.ko", f"count={count}")
    run("busybox", "rmmod", "ltt_emit")


def pids(name):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            comm = open(f"/proc/{pid}/comm").read().strip()
            state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if comm == name[:15] and state != "Z":
            found.append(int(pid))
    return found


def kill(*names):
    for name in names:
        for pid in pids(name):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(pids(n) for n in names if n == names[-1]) or len(names) == 1, "death")


def end_daemons():
    for pid in pids("ltt-sessiond"):
        os.kill(pid, signal.SIGTERM)
    until(lambda: not any(map(pids, DAEMONS)), "daemons to end")


def begin(name, *rules, channel=()):
    out = f"/dev/shm/{name}"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", name, "-o", out)
    if channel:
        ctl("enable-channel", "-k", "c", *channel)
    for rule in rules:
        ctl("enable-event", *rule)
    ctl("start")
    return out


def names(path):
    """Names of all events, in the order of their clocks, by a reader that is not ours."""
    done = run("babeltrace2", "--names", "none", "--no-delta", path)
    check(not done.stderr.replace("[warning]", "").strip() or "discarded" in done.stderr,
          done.stderr[:500])
    return re.findall(r"^\[[^]]*\] (?:\S+ )??(?:\(none\) )?([\w:]+): ", done.stdout, re.M)


def finish(name, out, emitted=0, lost=False):
    """Stop, compare the ledger with the emitted events and with the files."""
    ended = ctl("stop", status=6 if lost else 0)["result"]["sessions"][0]["totals"]
    run("lttctl", "verify", out, status=6 if lost else 0)
    if emitted:
        check(ended["recorded"] + ended["lost"] == emitted, f"{ended} of {emitted}")
        check(bool(ended["lost"]) == lost, f"lost {ended['lost']}")
    ctl("destroy", name)
    return ended


def test_record():
    out = begin("record", ("-k", "sched_switch,sched:sched_wakeup"))
    run("/bin/ls", "/")
    shown = ctl("status")["result"]
    check(shown["channels"][0]["domain"] == "kernel", shown)
    total = finish("record", out)
    seen = names(out)
    check(len(seen) == total["written"] > 0, f"{len(seen)} of {total}")
    check(set(seen) == {"sched_switch", "sched_wakeup"}, set(seen))


def test_list():
    ctl("create", "slip", "-o", "/dev/shm/slip")  # which starts the daemons, if no test before did
    points = ctl("list", "-k", "--fields")["result"]["points"]
    switch = [p for p in points if p["name"] == "sched_switch"]
    check(len(switch) == 1 and switch[0]["process"] == "sched", switch)
    check([f["name"] for f in switch[0]["field_list"]][:2] == ["prev_comm", "prev_pid"], switch)
    calls = ctl("list", "-k", "--syscall")["result"]["points"]
    check("syscall_entry_openat" in {p["name"] for p in calls}, f"{len(calls)} calls")
    ways = {p["name"]: p.get("way") for p in points}
    want = {"sched_switch": "native", "syscall_entry_openat": "syscall", "syscall_exit_openat": "syscall",
            "lttng_statedump_start": "state"}
    check({name: ways[name] for name in want} == want, {name: ways.get(name) for name in want})
    through = {name for name in ways if ways[name] == "perf"}
    check(through and {p["way"] for p in points} == {"native", "perf", "syscall", "state"}, f"{len(through)} by perf")
    text = run("lttctl", "list", "-k").stdout.splitlines()
    check("  sched_switch (native)" in text and "  syscall_entry_openat (syscall)" in text and
          sum(line.endswith(" (perf)") for line in text) == len(through), text[:20])
    wrong = ctl("enable-event", "-k", "sched_swich", status=1)["error"]["text"]
    check("did you mean 'sched_switch'?" in wrong, wrong)
    ctl("destroy", "slip")


def test_mi():
    """Documents of LTTng's machine interface have the kernel's points, rules and triggers."""
    mi.ask("create", "mi", "-o", "/dev/shm/mi")
    events = "domains/domain/events/event"
    listed = mi.ask("list", "-k", "--fields")
    check(listed.texts("domains/domain/type") == ["KERNEL"], listed.texts("domains/domain/type"))
    types = dict(zip(listed.texts(f"{events}/name"), listed.texts(f"{events}/type")))
    check((types["sched_switch"], types["syscall_entry_openat"]) == ("TRACEPOINT", "SYSCALL"), len(types))
    mi.ask("enable-channel", "-k", "c")
    mi.ask("enable-event", "-k", "sched_switch", "-c", "c")
    mi.ask("enable-event", "-k", "--syscall", "openat", "-c", "c")
    probe = mi.ask("enable-event", "-k", "--probe=do_exit", "p", "-c", "c")
    check(probe.text("events/event/attributes/probe_attributes/symbol_name") == "do_exit", probe.stderr)
    mi.ask("add-context", "-k", "-c", "c", "-t", "pid", "-t", "perf:cpu:cpu-clock")
    domain = "sessions/session/domains/domain"
    shown = mi.ask("list", "mi")
    check(shown.text(f"{domain}/buffer_type") == "GLOBAL", shown.stderr)
    rules = shown.texts(f"{domain}/channels/channel/events/event/type")
    check(sorted(rules) == ["PROBE", "SYSCALL", "SYSCALL", "TRACEPOINT"], rules)
    rule = "trigger/condition/condition_event_rule_matches/event_rule"
    added = mi.ask("add-trigger", "--name=k", "--condition=event-rule-matches", "--type=kernel:syscall:entry",
                   "--name=openat", "--action=notify")
    check(added.text(f"{rule}/event_rule_kernel_syscall/emission_site") == "entry", added.stderr)
    mi.ask("remove-trigger", "k")
    mi.ask("destroy", "mi")


def test_list_active():
    """Events of a session, and functions that a module has connected without one."""
    listed = lambda: ctl("list", "-k", "--active")["result"]  # noqa: E731
    if not os.path.ismount("/sys/kernel/debug"):
        check("can't be read" in run("lttctl", "list", "-k", "--active").stderr, "no note of debugfs")
        run("busybox", "mount", "-t", "debugfs", "none", "/sys/kernel/debug")
    check(listed()["points"] == listed()["probes"] == [], listed())
    insmod(f"{WORK}/kmod/examples/ltt_example_count.ko")
    out = begin("active", ("-k", "cpu_frequency"))
    points, probes = listed()["points"], listed()["probes"]
    check([(p["name"], p["active"]) for p in points] == [("cpu_frequency", 1)], points)
    check(("tracepoint", "sched_process_exec", 1, "on_exec [ltt_example_count]") in
          {(p["source"], p["name"], p["count"], p["function"]) for p in probes}, probes)
    check(ctl("list", "--active")["result"]["probes"] == probes, "both domains")
    text = run("lttctl", "list", "--active").stdout
    check("\n  tracepoint sched_process_exec: on_exec [ltt_example_count]\n" in text and
          "  cpu_frequency (native) recorded\n" in text, text)
    emit()
    finish("active", out, EMITTED)
    run("busybox", "rmmod", "ltt_example_count")
    check(listed()["points"] == listed()["probes"] == [], listed())


def test_exact():
    out = begin("exact", ("-k", "cpu_frequency"))
    emit()
    finish("exact", out, EMITTED)
    out = begin("tiny", ("-k", "-c", "c", "power:*", "-x", "cpu_idle*,power:ps*,p*_d*_*,clock_*"),
                channel=("--subbuf-size=4096", "--num-subbuf=2"))
    consumer = consumers()["kernel"]
    os.kill(consumer, signal.SIGSTOP)  # else it may be quick enough for all of it
    emit()
    os.kill(consumer, signal.SIGCONT)
    finish("tiny", out, EMITTED, lost=True)


def splices():
    """Whether the consumer has both ends of a pipe: it makes one for splice(), and closes it after a
    failure."""
    ends = []
    for pid in pids("ltt-consumerd"):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                ends.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return any(ends.count(end) == 2 and end.startswith("pipe:") for end in ends)


def spliced(name, out, size, relay=None):
    """@relay: the relay's process, which does not read for a while."""
    ctl("create", name, *(("--set-url=net://127.0.0.1:5390", "--spool=0") if relay else ("-o", out)))
    ctl("enable-channel", "-k", "c", "--output=splice", f"--subbuf-size={size}", "--num-subbuf=2")
    ctl("enable-event", "-k", "-c", "c", "cpu_frequency")
    ctl("start")
    emit()
    until(splices, f"{name}: a packet to be spliced")
    if relay:
        relay.send_signal(signal.SIGSTOP)
        emit()
        emit()
        relay.send_signal(signal.SIGCONT)
    else:
        kill("ltt-consumerd")
        emit()
        emit()
    until(splices, f"{name}: a packet to be spliced again")
    ended = json.loads(subprocess.run(["lttctl", "--json", "stop"], capture_output=True, text=True,
                                      check=False).stdout)["result"]["sessions"][0]["totals"]
    subprocess.run(["lttctl", "destroy", name], capture_output=True, check=False)
    path, = glob.glob(f"{out}/*/{name}-*") if relay else (out,)
    run("lttctl", "verify", path, status=6 if ended["lost"] else 0)
    check(ended["recorded"] + ended["lost"] == 3 * EMITTED, f"{ended} of {3 * EMITTED}")
    check(len(names(path)) == ended["recorded"] > 0, f"{len(names(path))} of {ended}")
    print(f"{name} of {size}: {ended['recorded']} recorded, {ended['lost']} lost and counted")


def test_splice():
    """The kernel's buffers by splice(), to files with a consumer that is killed, and to a relay."""
    run("busybox", "ip", "link", "set", "lo", "up")
    for size in "1M", "4k":
        shutil.rmtree("/dev/shm/spliced", ignore_errors=True)
        spliced("file", "/dev/shm/spliced", size)
    relay = subprocess.Popen(["ltt-relayd", "-o", "/dev/shm/relay", "-C", "tcp://127.0.0.1:5390",
                              "-L", "tcp://127.0.0.1:5391"])
    try:
        until(lambda: os.path.isdir("/dev/shm/relay"), "the relay")
        for name, size in ("large", "1M"), ("tiny", "4k"):
            spliced(name, "/dev/shm/relay", size, relay)
    finally:
        relay.terminate()
        relay.wait()


def check_alternation(out, nr):
    seen = [n for n in names(out) if n == "alternate:mark" or n.startswith("syscall_")]
    first = seen.index("alternate:mark")
    want = ["alternate:mark", "syscall_entry_getpgid", "syscall_exit_getpgid"] * nr
    check(seen[first:first + 3 * nr] == want, "kernel and application are out of order")


def clocks(out):
    """Declarations of the clocks in the metadata of all traces of a session, each once."""
    found = set()
    for path in glob.glob(f"{out}/**/metadata", recursive=True):
        text = run("babeltrace2", "-o", "ctf-metadata", os.path.dirname(path)).stdout
        found |= set(re.findall(r"^clock {.*?^};", text, re.M | re.S))
    return found


def test_both():
    """The order of one thread's events, across kernel and application, with either clock."""
    nr = 3000
    for clock, name in ("monotonic", "monotonic"), ("cycles", "tsc"):
        end_daemons()
        os.environ["LTT_CLOCK"] = clock
        out = begin("both", ("-k", "--syscall", "getpgid"), ("-u", "alternate:*"))
        del os.environ["LTT_CLOCK"]
        daemon = ctl("version")["result"]["daemon"]
        check(daemon["clock_why"] == f"LTT_CLOCK={clock}", daemon)
        run(f"{BUILD}/prog/alternate", nr, env={**os.environ, "LTT_REGISTER_TIMEOUT": "20000"})
        finish("both", out)
        check_alternation(out, nr)
        declared, = clocks(out)
        check(f'name = "{name}"' in declared, declared)
    end_daemons()


def test_counter_back():
    """The same after the cycle counter went back by 100 s, and before."""
    nr = 1000
    end_daemons()
    os.environ["LTT_CLOCK"] = "cycles"
    out = begin("back", ("-k", "--syscall", "getpgid"), ("-u", "alternate:*"))
    hz = ctl("version")["result"]["daemon"]["clock_hz"]
    alternate = f"{BUILD}/prog/alternate", nr
    env = {**os.environ, "LTT_REGISTER_TIMEOUT": "20000"}
    run(*alternate, env=env)
    ctl("enable-event", "-u", "another:*")  # the state is saved, with the last reading
    kill("ltt-sessiond")
    counter.put_ahead("/run/ltt/state", 100 * hz)
    until(lambda: ctl("status")["result"]["clock_change"], "the change of the clock")
    run(*alternate, env=env)
    ctl("enable-channel", "-k", "later")  # whose buffers go on from there, too
    ctl("enable-event", "-k", "-c", "later", "sched_switch")
    run(*alternate, env=env)
    del os.environ["LTT_CLOCK"]
    finish("back", out)
    check_alternation(out, 3 * nr)
    switches = [n for n in names(out) if n in ("alternate:mark", "sched_switch")]
    check(switches.index("sched_switch") >= 2 * nr, "a new buffer's events are out of order")
    end_daemons()


def time_of_module():
    """The kind of its clock, and its value."""
    insmod(f"{WORK}/kmod/examples/ltt_example_count.ko")
    run("busybox", "rmmod", "ltt_example_count")
    return tuple(map(int, re.findall(r"ltt_example_count: clock (\d) at ([1-9]\d+)$", run("dmesg").stdout, re.M)[-1]))


def check_clock_of_trace(kind):
    """A trace inside of the kernel has the module's clock."""
    before = time_of_module()
    insmod(f"{WORK}/kmod/examples/ltt_example_private.ko", "name=timed", "events=cpu_frequency")
    emit()
    with open("/sys/module/ltt_example_private/parameters/records", encoding="ascii") as f:
        times = [int(line.split()[0]) for line in f]
    run("busybox", "rmmod", "ltt_example_private")
    after = time_of_module()
    check(before[0] == after[0] == kind and times and before[1] < times[0] <= times[-1] < after[1],
          f"{before} {times[:1]} {times[-1:]} {after}")


def test_clock():
    """It is chosen when the module is loaded, or by the daemon that loads it; a channel that has the
    other one changes nothing."""
    for number, clock in enumerate(("monotonic", "cycles")):
        end_daemons()
        for module in "ltt", "ltt_instr":
            run("busybox", "rmmod", module)
        wrong = run("busybox", "insmod", f"{WORK}/kmod/ltt_instr.ko", "clock=sundial", status=None)
        check(wrong.returncode and not os.path.exists("/sys/module/ltt_instr"), wrong)
        insmod(f"{WORK}/kmod/ltt_instr.ko", f"clock={clock}")
        load_module()
        check_clock_of_trace(number)
        ctl("create", "none", "--no-output")
        daemon = ctl("version")["result"]["daemon"]
        check((daemon["clock_hz"] != 10**9) == number, daemon)
        end_daemons()
        os.environ["LTT_CLOCK"] = ("cycles", "monotonic")[number]
        out = begin("clocks", ("-k", "cpu_frequency"))
        del os.environ["LTT_CLOCK"]
        emit()
        check(time_of_module()[0] == number, f"{clock}, after a channel")
        finish("clocks", out, EMITTED)
        end_daemons()
        declared, = clocks(out)
        check(f'name = "{("tsc", "monotonic")[number]}"' in declared, declared)


def test_time_set():
    """The time of day is set while a session records: all its events have times of the clock as it was set
    last, also those of a daemon that takes over, and later traces, too."""
    day = 86400
    out = begin("set", ("-k", "cpu_frequency"))
    began = time.time()
    emit()
    for ahead in day, -3 * day, day:
        time.clock_settime(time.CLOCK_REALTIME, time.time() + ahead)
        began += ahead
        before = ctl("view", "--summary", out)["result"]
        until(lambda: abs(first_ns(out) / 1e9 - began) < 60, f"{before} to follow the clock, {began}")
        emit()
        kill("ltt-sessiond")
    ctl("regenerate", "metadata")
    emit()
    finish("set", out, 5 * EMITTED)
    times = [json.loads(line)["ns"] for line in run("lttctl", "view", "--json", out).stdout.splitlines()]
    check(began - 60 < int(times[0]) / 1e9 < int(times[-1]) / 1e9 < time.time(), f"{times[0]} {times[-1]} {began}")
    check("s back while it was recorded" in run("lttctl", "verify", out).stderr, "verify does not name it")
    time.clock_settime(time.CLOCK_REALTIME, time.time() + day)


def first_ns(out):
    return int(json.loads(run("lttctl", "view", "--json", "--limit=1", out).stdout)["ns"])


def test_one_command():
    """A program and its system calls; a program, and all that the kernel does meanwhile."""
    for out in "/dev/shm/recorded", "/dev/shm/whole":
        shutil.rmtree(out, ignore_errors=True)
    said = run("lttctl", "record", "-k", "-u", "-o", "/dev/shm/recorded", "-e", "alternate:*,syscall_*_getpgid",
               "--", f"{BUILD}/prog/alternate", 500).stderr
    check("1,500 events" in said and "/dev/shm/recorded" in said, said)
    check_alternation("/dev/shm/recorded", 500)
    said = run("lttctl", "record", "-k", "-o", "/dev/shm/whole", "--", "/bin/true").stderr
    check("/dev/shm/whole" in said, said)
    run("lttctl", "verify", "/dev/shm/whole")
    missing = {"sched_process_exec", "sched_switch", "syscall_entry_execve", "lttng_statedump_end"} - set(names("/dev/shm/whole"))
    check(not missing, f"{missing} missing: {said}")


def waits_for_cpus(out):
    """Number and sum, in ns, of the waits of threads from their wakeup or preemption to their switch."""
    since, nr, total = {}, 0, 0
    for line in run("lttctl", "view", "--json", out).stdout.splitlines():
        event = json.loads(line)
        ns, fields = int(event["ns"]), event.get("fields", {})
        if event["event"] == "sched_switch":
            since.pop(fields["prev_pid"], 0)
            if fields["prev_state"] in (0, 256) and fields["prev_pid"]:
                since[fields["prev_pid"]] = ns
            if (from_ns := since.pop(fields["next_pid"], None)) is not None and fields["next_pid"]:
                nr, total = nr + 1, total + ns - from_ns
        elif event["event"] in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
            since.setdefault(fields["pid"], ns)
    return nr, total


def test_latency():
    """A program that sleeps: its calls, how it passed them, and the waits for a CPU."""
    out = "/dev/shm/latent"
    shutil.rmtree(out, ignore_errors=True)
    run("lttctl", "record", "-k", "-a", "-o", out, "-e", "sched_switch,sched_waking,sched_wakeup*,sched_process_*,page_fault_*,syscall_*sleep*,syscall_entry_exit_group",
        "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done")
    found = ctl("latency", "clock_nanosleep", out)["result"]
    group = found["groups"][0]
    check(group["count"] >= 10 and 50e6 <= group["p50_ns"] < 100e6 and not group["lossy_spans"], group)
    for span in found["slowest"]:
        parts = span["running_ns"], span["runnable_ns"], span["asleep_ns"]
        check(sum(parts) == span["duration_ns"] and parts[2] > 0.9 * sum(parts) and
              span["asleep_in"] == "clock_nanosleep" and span["asleep_in_ns"] == parts[2], span)
    found = ctl("latency", "run-queue", "--top=1000", out)["result"]
    total = sum(group["total_ns"] for group in found["groups"])
    check((found["spans"], total) == waits_for_cpus(out), f"{found['spans']} waits, {total} ns: not {waits_for_cpus(out)}")
    check(found["spans"] > 20, found["spans"])

    def rows(text):
        return ctl("query", text, out)["result"]["rows"]

    counts = collections.Counter(names(out))
    check(rows("SELECT count(*), sum(dur) FROM sched WHERE state = 'runnable'") == [list(waits_for_cpus(out))], "runnable")
    (nr, least), = rows("SELECT count(*), min(dur) FROM sched WHERE state = 'blocked' AND reason = 'clock_nanosleep' AND dur > 40000000")
    check(nr >= 10, (nr, least))
    (over,), = rows("SELECT count(*) FROM sched a JOIN sched b ON a.tid = b.tid AND b.ts > a.ts AND b.ts < a.ts + a.dur")
    check(over == 0, f"{over} states of a thread are in another one")
    (nr,), = rows("SELECT count(*) FROM processes p JOIN processes sh ON sh.pid = p.ppid WHERE p.name = 'sleep' AND sh.name = 'sh' "
                  "AND p.exit_code = 0 AND p.end > p.begin AND p.events > 0")
    check(nr >= 10, f"{nr} processes: {rows('SELECT * FROM processes')}")
    faults = dict(rows("SELECT mode, count(*) FROM faults GROUP BY mode"))
    check(faults.get("user", 0) == counts["page_fault_user"] > 10 and faults.get("kernel", 0) == counts["page_fault_kernel"], f"{faults} of {counts}")
    (bad,), = rows("SELECT count(*) FROM faults WHERE tid IS NULL OR access IS NULL OR address IS NULL")
    check(bad == 0, f"{bad} page faults lack a value")


def test_why():
    """Requests with planted causes: the path finds each, in the program, its server and its child."""
    out = "/dev/shm/why"
    shutil.rmtree(out, ignore_errors=True)
    run("lttctl", "record", "-k", "-u", "-a", "-o", out, "-e",
        "web_*,sched_switch,sched_waking,sched_wakeup,sched_wakeup_new,syscall_entry_*,syscall_exit_*,"
        "irq_handler_*,softirq_entry,softirq_exit,hrtimer_expire_*", "--", f"{BUILD}/prog/planted")
    found = ctl("why", "--top=10", "--group-by=kind", "web_request_begin", "web_request_end", out)["result"]
    planted = {  # kind, thread, call, the thread that had the CPU, the call in which it was awaited
        "lock": [("asleep", "holder", "clock_nanosleep", None, "futex")],
        "timer": [("asleep", "worker", "clock_nanosleep", None, None)],
        "alone": [("running", "worker", None, None, None)],
        "stolen": [("runnable", "worker", None, "hog", None), ("running", "worker", None, None, None)],
        "rpc": [("asleep", "server", "clock_nanosleep", None, "read"), ("running", "server", None, None, "read")],
        "child": [("running", "sh", None, None, "wait4")],
    }
    check({s["group"] for s in found["slowest"]} == set(planted), found)
    for span in found["slowest"]:
        check(not span["is_cut"] and span["explained_ns"] == sum(c["cause_ns"] for c in span["causes"]) == span["duration_ns"], span)
        causes = {(c["kind"], c["in_thread"]["name"], c.get("call"), c.get("cpu_had", {}).get("name"), c.get("waited_in")):
                  c["cause_ns"] for c in span["causes"]}
        share = [causes.get(cause, 0) / span["duration_ns"] for cause in planted[span["group"]]]
        check(sum(share) > 0.5 and min(share) > 0.02, f"{span['group']}: {share} of {causes}")


def folded(*argv):
    """{stack: value} of `flame`."""
    lines = run("lttctl", "flame", "--folded", *argv).stdout.splitlines()
    return {tuple(stack.split(";")): int(value) for stack, value in (line.rsplit(" ", 1) for line in lines)}


def check_spin(stacks):
    """The parts of tests/prog/spin.c, with their callers. libc's read() has no frame, so its caller is missing."""
    total = sum(stacks.values())
    for callers, part in ((("spin_all", "spin_long"), 3 / 6), (("spin_all", "spin_short"), 1 / 6), (("spin_all", "read"), 2 / 6)):
        of = {stack: value for stack, value in stacks.items() if " ".join(callers) in " ".join(stack)}
        check(0.6 * part < sum(of.values()) / total < 1.4 * part, f"{callers}: {sum(of.values())} of {total}: {stacks}")
        check(all(stack[0] == "spin" and "main" in stack for stack in of), of)
    calls = [stack[stack.index("read") + 1:] for stack in stacks if "read" in stack]
    check(any("ksys_read" in call or "vfs_read" in call for call in calls), f"nothing of the kernel: {calls}")


def test_samples():
    """Where a program works, in it and in the kernel: of one that is started, and of one that runs; no pattern of all
    events takes samples."""
    out = "/dev/shm/samples"
    shutil.rmtree(out, ignore_errors=True)
    begin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    run("lttctl", "record", "--sample=997", "-o", out, "--", f"{BUILD}/prog/spin", 10)
    lasted_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - begin_ns
    seen = collections.Counter(names(out))
    check(set(seen) == {"cpu_sample_997hz", "vm_map_exec"}, seen)
    check(400 < seen["cpu_sample_997hz"] < 2.2 * 997 * lasted_ns / 1e9, f"{seen} in {lasted_ns} ns")
    check_spin(folded(out))
    program = subprocess.Popen([f"{BUILD}/prog/spin", "1000"])
    shutil.rmtree(out)
    run("lttctl", "record", "--sample=997", "--for=2s", "-o", out, "-p", program.pid)
    program.kill()
    program.wait()
    check_spin(folded(out))
    shutil.rmtree(out)
    run("lttctl", "record", "-k", "-e", "sched_*,cpu_*", "-o", out, "--", f"{BUILD}/prog/spin", 3)
    check({name for name in names(out) if name.startswith("cpu_")} <= {"cpu_idle", "cpu_frequency"}, "samples that are not wanted")
    check("99, 997 or 4999" in run("lttctl", "record", "--sample=100", "true", status=1).stderr, "a rate")


def test_samples_killed():
    """Daemons and the recorder are killed while samples are taken. Without daemons the next ones go on; the session of a
    killed recorder is there to be destroyed; the trace is read, and the module is free afterwards."""
    out, everything = "/dev/shm/samples", ("lttctl", *DAEMONS)
    for victims in ("ltt-consumerd",), ("ltt-sessiond",), ("ltt-sessiond", "ltt-consumerd"), ("lttctl",), everything:
        shutil.rmtree(out, ignore_errors=True)
        recorder = subprocess.Popen(["lttctl", "record", "--sample=997", "--name=sampled", "-o", out, "--", f"{BUILD}/prog/spin", "20"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: '"recorded": ' in run("lttctl", "--json", "status", "sampled", status=None).stdout and
              ctl("status", "sampled", status=None)["result"]["totals"]["recorded"] > 200, "samples")
        kill(*victims)
        killed = -signal.SIGKILL if "lttctl" in victims else 0
        check(recorder.wait(200) == killed, (victims, recorder.returncode))
        until(lambda: not pids("spin"), "the program to end")
        left = [s["name"] for s in ctl("list", status=None)["result"]["sessions"]]
        check(left == (["sampled"] if killed else []), (victims, left))
        lost = 6 if victims == everything else 0
        if killed:
            ctl("destroy", "sampled", status=lost)
        run("lttctl", "verify", out, status=lost)
        seen = collections.Counter(names(out))
        check(seen["cpu_sample_997hz"] > 200 and seen["vm_map_exec"], (victims, seen))
    end_daemons()
    run("busybox", "rmmod", "ltt")
    load_module()


def test_record_running():
    """Processes that run already: the kernel's events of theirs alone; or of the whole machine."""
    for out in "/dev/shm/of-one", "/dev/shm/of-all":
        shutil.rmtree(out, ignore_errors=True)
    running = subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; done"])
    try:
        run("lttctl", "record", "-k", "-p", running.pid, "--for=1s", "-o", "/dev/shm/of-one",
            "-e", "sched_process_fork,sched_process_exec")
        run("lttctl", "record", "-k", "-a", "--for=1s", "-o", "/dev/shm/of-all", "-e", "sched_process_fork")
    finally:
        running.kill()
        running.wait()
    run("lttctl", "verify", "/dev/shm/of-one")
    run("lttctl", "verify", "/dev/shm/of-all")
    parents = {values["parent_pid"] for name, _, values in read_fields("/dev/shm/of-one")
               if name == "sched_process_fork"}
    check(parents == {running.pid}, f"forks of {parents}, not of {running.pid} alone")
    parents = {values["parent_pid"] for name, _, values in read_fields("/dev/shm/of-all")}
    check(running.pid in parents, f"the machine's forks: {parents}")


def test_record_sizes():
    """Buffers for a burst, of the kernel's events, too."""
    run("lttctl", "record", "-k", "--name=sizes", "-o", "/dev/shm/sizes", "-e", "sched_switch", "--",
        "sh", "-c", "lttctl --json status sizes >/dev/shm/sizes.json")
    with open("/dev/shm/sizes.json") as f:
        channel, = json.load(f)["result"]["channels"]
    size = channel["subbuf_size"] * channel["num_subbuf"]
    check(channel["domain"] == "kernel" and 4 << 20 < size <= 64 << 20, f"{size} bytes for each CPU: {channel}")


def test_memory_group():
    """As tests/e2e/memory-group.test has it, with groups of version 2."""
    home = "/dev/shm/group"
    for name in "run", "tmp", "home":
        os.makedirs(f"{home}/{name}")
    run("mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup")
    try:
        with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as f:
            f.write("+memory")
        done = run(f"{os.environ['TOP']}/tests/e2e/memory-group.test", cwd=home, env={
            **os.environ, "BUILD": BUILD, "LTT_TEST_DIR": home, "TMPDIR": f"{home}/tmp",
            "LTT_RUNDIR": f"{home}/run", "LTT_HOME": f"{home}/home", "LTT_TEST_SLOW": "4",
            "PYTHONPATH": f"{os.environ['TOP']}/tests/lib", "LD_LIBRARY_PATH": f"{BUILD}/lib"})
        check("skipped" not in done.stdout, done.stdout)
    finally:
        run("umount", "/sys/fs/cgroup")


def test_live():
    """Both at a relay and at a stock viewer, which sees the stored packets, as they are stored."""
    run("busybox", "ip", "link", "set", "lo", "up")
    ctl("create", "live", "--live=200ms")
    try:
        ctl("enable-event", "-k", "--syscall", "getpgid")
        ctl("enable-event", "-u", "alternate:*")
        ctl("start")
        listed = run("lttctl", "view", "--live", "net://localhost").stdout
        url = re.search(r"net://localhost(:\d+)?/host/\S+/live ", listed)
        check(url, listed)
        with open("/dev/shm/seen", "w") as seen:
            viewer = subprocess.Popen(["babeltrace2", "-i", "lttng-live", url[0].strip()],
                                      stdout=seen, stderr=subprocess.STDOUT)
        until(lambda: "1 client" in run("lttctl", "view", "--live", "net://localhost").stdout,
              "a viewer")
        run(f"{BUILD}/prog/alternate", 300, env={**os.environ, "LTT_REGISTER_TIMEOUT": "20000"})
        ctl("stop")
        ctl("destroy", "live")
        check(viewer.wait(300) == 0, "the viewer failed")
        stored, = glob.glob(f"{HOME}/ltt-traces/*/live-*")
        run("lttctl", "verify", stored)
        stored = run("babeltrace2", stored).stdout
        check(stored.count("alternate:mark") == 300 and "syscall_exit_getpgid" in stored, stored)
        with open("/dev/shm/seen") as seen:
            check(seen.read() == stored, "the viewer has seen other lines than are stored")
    finally:
        for pid in pids("ltt-relayd"):
            os.kill(pid, signal.SIGTERM)
    until(lambda: not pids("ltt-relayd"), "the relay to end")


def test_many():
    """Some two hundred events at once; all of them take an emulated machine a minute."""
    out = begin("many", *(("-k", rule) for rule in MANY))
    run("/bin/ls", "/sys/kernel")
    finish("many", out)
    kinds = set(names(out))
    check(len(kinds) > 20, f"few kinds of events: {kinds}")


def test_by_perf():
    """An event without a probe of ours, for a daemon that has dropped its rights."""
    out = begin("perf", ("-k", "kmem:rss_stat"))
    run("/bin/ls", "/")
    finish("perf", out)
    check(set(names(out)) == {"rss_stat"}, "no event by perf")


def hit(count, uid=0):
    """Call getpriority(9, 9) @count times. Return the contexts that the program printed of
    itself: {context: value}."""
    said = run(f"{WORK}/hit", count, uid).stdout
    return dict(line.split(" ", 1) for line in said.splitlines())


# Those that LTTng has for the kernel, besides counters.
KERNEL_CONTEXTS = set("""pid procname prio nice vpid tid vtid ppid vppid hostname cpu_id interruptible preemptible
    need_reschedule migratable callstack-kernel callstack-user cgroup_ns ipc_ns mnt_ns net_ns pid_ns time_ns user_ns
    uts_ns uid euid suid gid egid sgid vuid veuid vsuid vgid vegid vsgid""".split())


def test_preemptible():
    """Whether the kernel could switch to another task at the event, by kinds of events."""
    shutil.copy(f"{WORK}/hit", "/dev/shm/hit-here")
    out = "/dev/shm/preemptible"
    ctl("create", "preemptible", "-o", out)
    ctl("add-context", "-k", "-t", "preemptible", "-t", "procname")
    for rule in (("--syscall", "getpriority"), ("sched_switch,hrtimer_expire_entry",),
                 ("--userspace-probe=/dev/shm/hit-here:call_often", "user")):
        ctl("enable-event", "-k", *rule)
    ctl("start")
    run("/dev/shm/hit-here", 200)
    ctl("stop")
    ctl("destroy", "preemptible")
    events = read_fields(out)
    found = collections.Counter((name, e["preemptible"]) for name, _, e in events
                                if e["procname"] == "hit-here" or name in ("sched_switch", "hrtimer_expire_entry"))
    for name, value in (("syscall_entry_getpriority", 1), ("syscall_exit_getpriority", 1), ("user", 1),
                        ("sched_switch", 0), ("hrtimer_expire_entry", 0)):
        check(found[name, value] and not found[name, 1 - value], f"{name}: {found}")


def test_contexts():
    types = [t["name"] for t in ctl("add-context", "-k", "--list")["result"]["types"]]
    missing = KERNEL_CONTEXTS - set(types)
    check(not missing and {"cgroup_id", "perf:cpu:page-faults"} < set(types), f"{missing}: {types}")
    out = "/dev/shm/contexts"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "contexts", "-o", out)
    wrong = ctl("add-context", "-k", "-t", "procnam", status=1)["error"]["text"]
    check("did you mean 'procname'?" in wrong, wrong)
    wrong = ctl("add-context", "-k", "-t", "perf:cpu:L1-icache-prefetch-misses", status=1)["error"]["text"]
    check("this machine has no counter" in wrong, wrong)
    ctl("enable-channel", "-k", "bare")
    ctl("enable-event", "-k", "-c", "bare", "sched_process_exec")
    ctl("enable-channel", "-k", "c")
    ctl("add-context", "-k", "-c", "c", *(word for t in types for word in ("-t", t)))
    ctl("enable-event", "-k", "-c", "c", "--syscall", "getpriority")
    ctl("start")
    said = [hit(500, 4711)]
    kill("ltt-sessiond")
    shown = {c["name"]: c["contexts"] for c in ctl("status")["result"]["channels"]}
    check(shown == {"bare": [], "c": types}, shown)
    ctl("add-context", "-k", "-c", "c", "-t", "pid", status=4)
    ctl("enable-channel", "-k", "-s", "contexts", "late")
    ctl("add-context", "-k", "-c", "late", "-t", "tid")
    ctl("enable-event", "-k", "-c", "late", "sched_process_fork")
    ctl("enable-event", "-k", "-c", "bare", "sched_process_exit")
    said.append(hit(500, 4711))
    finish("contexts", out)
    read = run("babeltrace2", "--no-delta", out)
    check(re.search(r"sched_process_fork: .*\{ tid = \d+ \}", read.stdout), "no context that was added while recording")
    for own in said:
        mine = [line for line in read.stdout.splitlines()
                if f"pid = {own['pid']}, tid" in line and "getpriority: " in line]
        check(len(mine) == 1000, f"{len(mine)} of 1000 events")
        for name in types:
            value, name = own.get(name, "?"), re.sub("[^a-z0-9]", "_", name)
            fits = re.compile(rf'[ {{]{name} = "?{re.escape(value)}"?[, ]'
                              if value != "?" and "callstack" not in name else rf"[ {{]{name} = ")
            check(all(map(fits.search, mine)), f"{name} is not {value}: {mine[0]}")


# The channel has `pid` from the beginning.
LATE_CONTEXTS = (("procname", "perf:cpu:page-faults"), ("tid", "hostname", "cgroup_id"))


def check_contexts(events, pid, count, added):
    """@added: names of the contexts that each of the process's events has, besides `pid`."""
    mine = [e for e in events if e["context"].get("pid") == pid]
    check(len(mine) == count, f"{len(mine)} of {count} events of {pid}")
    sets = {(e["event"], tuple(n for n in e["context"] if n[0] != "_")) for e in mine}
    want = ("pid", *(re.sub("[^a-z0-9]", "_", name) for name in added))
    check({names for _, names in sets} == {want}, f"not {want}: {sets}")


def test_late_contexts():
    """Contexts that are added while a channel records, of all kinds of events, also by another daemon: each
    event has those that there were, and none is missing."""
    mount_debugfs()
    out, per, added, phases = "/dev/shm/later", 200, [], []
    ctl("create", "later", "-o", out)
    ctl("enable-channel", "-k", "c", "--num-subbuf=4", "--subbuf-size=4M", "--switch-timer=3600000000")
    ctl("add-context", "-k", "-c", "c", "-t", "pid")
    for rule in (("--syscall", "getpriority"), ("kmem:rss_stat,power:cpu_frequency", "--sample=1/1"),
                 ("--function=__x64_sys_getpriority", "f"), ("--probe=__x64_sys_getpriority", "p")):
        ctl("enable-event", "-k", "-c", "c", *rule)
    ctl("start")
    for names in ((), *LATE_CONTEXTS):
        if names:
            ctl("add-context", "-k", "-c", "c", *(word for name in names for word in ("-t", name)))
            added.extend(names)
        phases.append((int(hit(per)["pid"]), tuple(added)))
        kill("ltt-sessiond")
        shown = ctl("status", status=None)["result"]["channels"][0]["contexts"]  # (the consumer may be slow)
        check(shown == ["pid", *added], f"{shown}: {added}")
        phases.append((int(hit(per)["pid"]), tuple(added)))
    late = ctl("add-context", "-k", "-c", "c", "-t", "pid", "-t", "callstack-user", status=1)["error"]["text"]
    check("stacks ('callstack-user')" in late and "`lttctl enable-channel -k -s later NAME`" in late, late)
    ctl("stop")
    ctl("start")
    phases.append((int(hit(per)["pid"]), tuple(added)))
    busy = subprocess.Popen([f"{WORK}/hit", "4000"], stdout=subprocess.PIPE, text=True)
    busy.stdout.readline()
    ctl("add-context", "-k", "-c", "c", "-t", "nice", "-t", "vpid")
    check(busy.poll() is None, "the program ended before the contexts were there")
    busy.communicate()
    ctl("disable-event", "-k", "-c", "c", "-a")
    have = text_of("later")
    total = finish("later", out)
    check(not total["lost"], total)
    check_same(have, view_of(out))
    events = [json.loads(line) for line in run("lttctl", "view", "--json", out).stdout.splitlines()]
    hits = [e for e in events if "getpriority" in e["event"] or e["event"] in ("f_entry", "f_exit", "p")]
    for pid, contexts in phases:
        check_contexts(hits, pid, 5 * per, contexts)
    calls = [e for e in hits if e["context"]["pid"] == busy.pid and e["event"].startswith("syscall_")]
    with_both = ["vpid" in e["context"] for e in calls]
    check(8000 <= len(calls) <= 8004 and 0 < sum(with_both) < len(calls), f"{sum(with_both)} of {len(calls)}")
    check(sorted(with_both[:100] + with_both[-100:]) == with_both[:100] + with_both[-100:], "contexts came and went")
    seen = re.findall(r"getpriority: \{ cpu_id = \d+ \}, \{ pid = \d+ \}(, \{ procname = )?",
                      run("babeltrace2", "--no-delta", out).stdout)
    check(len(seen) == sum(e["event"].startswith("syscall_") for e in hits) and set(seen) == {"", ", { procname = "},
          f"{len(seen)} calls by babeltrace2: {set(seen)}")


def test_places():
    """Kprobes and functions: a known number of hits, also of those in other hands."""
    place = "__x64_sys_getpriority"
    out = "/dev/shm/places"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "places", "-o", out)
    for bad, sentence in (("no_such_symbol", "no such symbol"), ("kprobe_dispatcher", "can't place a probe"),
                          (f"{place}+1", "beginning of an instruction"), ("0x1000", "can't place a probe"),
                          (f"{place}+0x100000", f"{place}+0x100000': {place} has ")):
        why = ctl("enable-event", "-k", f"--probe={bad}", "bad", status=1)["error"]["text"]
        check(sentence in why, why)
    ctl("enable-event", "-k", f"--probe={place}", "called")
    ctl("enable-event", "-k", f"--function={place}", "getprio")
    again = ctl("enable-event", "-k", "--probe=do_exit", "getprio_exit", status=1)["error"]["text"]
    check("has an event of that name" in again, again)
    ctl("start")
    hit(200)
    check(recorded() == 600, f"{recorded()} of 600")
    kill("ltt-sessiond")
    hit(200)
    rules = {r["pattern"]: (r["kind"], r.get("location"), r["enabled"])
             for r in ctl("status")["result"]["channels"][0]["rules"]}
    check(rules == {"called": ("probe", place, True), "getprio": ("function", place, True)}, rules)
    check(recorded() == 1200, f"{recorded()} of 1200 after a daemon's death")
    # another place under the same name, which is the same event in the trace
    ctl("disable-event", "-k", "called,getprio")
    ctl("enable-event", "-k", "--probe=__x64_sys_getpgid", "called")
    kill("ltt-sessiond")
    ctl("status")
    hit(200)
    check(recorded() == 1200, "disabled events are recorded")
    for _ in range(50):
        os.getpgid(0)
    check(recorded() == 1250, f"{recorded()} of 1250 after the second death")
    finish("places", out)
    seen = names(out)
    check({n: seen.count(n) for n in set(seen)} ==
          {"called": 450, "getprio_entry": 400, "getprio_exit": 400}, seen[:10])


def waiting():
    return [(r["name"], r["why"]) for c in ctl("status")["result"]["channels"] for r in c.get("refusals", [])]


def test_modules_come():
    """Places in a module, which wait for it and are recorded each time that it comes."""
    out, emit, cpus = "/dev/shm/come", f"{WORK}/emit/ltt_emit.ko", os.cpu_count()
    said = "module ltt_emit is not loaded; it is recorded from when it is"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "come", "-o", out)
    bad = ctl("enable-event", "-k", "--probe=ltt/emit:task", "bad", status=1)["error"]["text"]
    check("is not a place in the kernel" in bad, bad)
    ctl("enable-event", "-k", "--function=ltt-emit:task", "work")
    ctl("enable-event", "-k", "--probe=ltt_emit:task+0", "began")
    ctl("start", status=4)
    check(sorted(waiting()) == [("began", said), ("work", said)], waiting())
    insmod(emit, "count=1000")
    check(waiting() == [], waiting())
    bad = ctl("enable-event", "-k", "--probe=ltt_emit:no_such_symbol", "bad", status=1)["error"]["text"]
    check("module ltt_emit has no such function" in bad, bad)
    check(recorded() == 3 * cpus, f"{recorded()} of {3 * cpus} of the module that came")
    # found among loaded modules, these follow its module as well
    ctl("enable-event", "-k", "--probe=task", "bare")
    ctl("enable-event", "-k", "--function=task", "calls")
    run("busybox", "rmmod", "ltt_emit")
    check(sorted(w[0] for w in waiting()) == ["bare", "began", "calls", "work"], waiting())
    for i in range(3):
        if i == 1:
            kill("ltt-sessiond")
        insmod(emit, "count=1000")
        run("busybox", "rmmod", "ltt_emit")
    check(recorded() == (3 + 3 * 6) * cpus, f"{recorded()} of {21 * cpus} of the module that came back")
    finish("come", out)
    seen = names(out)
    check({n: seen.count(n) / cpus for n in set(seen)} ==
          {"began": 4, "work_entry": 4, "work_exit": 4, "bare": 3, "calls_entry": 3, "calls_exit": 3}, seen[:10])


def test_modules_killed():
    """A module with places comes and goes while daemons are killed and rules switched: all is counted, and
    nothing is left behind."""
    out, count = "/dev/shm/killed", 100
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "killed", "-o", out)
    for channel, *rules in (("exact", ("cpu_frequency",)), ("places", ("--function=ltt_emit:task", "work"),
                                                            ("--probe=ltt_emit:task+0", "began"))):
        ctl("enable-channel", "-k", channel, "--subbuf-size=1M", "--num-subbuf=8")
        for rule in rules:
            ctl("enable-event", "-k", "-c", channel, *rule)
    ctl("start", status=4)
    ended, turns = threading.Event(), []

    def come_and_go():
        while not ended.is_set():
            insmod(f"{WORK}/emit/ltt_emit.ko", f"count={count}")
            run("busybox", "rmmod", "ltt_emit")
            turns.append(count * 2 * 4)

    churn = threading.Thread(target=come_and_go)
    churn.start()
    try:
        for turn in range(4):
            kill(("ltt-sessiond", "ltt-consumerd")[turn % 2])
            check(run("busybox", "rmmod", "ltt", status=None).returncode, "the module was removed while it records")
            ctl(("disable-event", "enable-event")[turn % 2], "-k", "-c", "places", "work", status=None)
            ctl("status", status=None)
    finally:
        ended.set()
        churn.join()
    channels = {c["name"]: c["totals"] for c in ctl("status")["result"]["channels"]}
    check(channels["exact"]["recorded"] == sum(turns) and not channels["exact"]["lost"], f"{channels} of {turns}")
    finish("killed", out)
    check(collections.Counter(names(out))["cpu_frequency"] == sum(turns), turns)
    end_daemons()
    run("busybox", "rmmod", "ltt")
    if not os.path.ismount("/sys/kernel/debug"):
        run("busybox", "mount", "-t", "debugfs", "none", "/sys/kernel/debug")
    with open("/sys/kernel/debug/kprobes/list", encoding="utf-8") as f:
        left = f.read()
    with open("/sys/kernel/tracing/enabled_functions", encoding="utf-8") as f:
        left += f.read()
    check(not left, left)


def test_fetch():
    """Arguments and return values are those that the caller printed; also after a daemon's death."""
    out = "/dev/shm/fetch"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "fetch", "-o", out)
    why = ctl("enable-event", "-k", f"--probe={UNLINK}", "--fetch=fd=$arg7", "x", status=1)["error"]["text"]
    check("can't place a probe at" in why, why)
    # struct filename begins with a pointer to the name, behind it one to the program's
    ctl("enable-event", "-k", f"--function={UNLINK}", "--fetch=dir=$arg1:s32",
        "--fetch=name=+0(+0($arg2)):string user=+u0(+8($arg2)):string", "--fetch=err=$retval:s32 $comm", "rm")
    # the same by the names of its parameters, and of the fields that they point to
    why = ctl("enable-event", "-k", f"--function={UNLINK}", "--fetch=nam", "x", status=1)["error"]["text"]
    check("it has dfd, name" in why, why)
    ctl("enable-event", "-k", f"--function={UNLINK}", "--fetch=dfd name->name:string",
        "--fetch=user=name->uptr:ustring name->refcnt.counter", "byname")
    ctl("start")
    for i in range(2):
        for n in range(20):
            run("busybox", "unlink", f"/no/such/file-{i}-{n}", status=1)
        if i == 0:
            kill("ltt-sessiond")
            ctl("status")
    finish("fetch", out)
    read = run("babeltrace2", "--no-delta", out).stdout
    entries = re.findall(r'rm_entry: .*dir = (-?\d+), name = "([^"]*)", user = "([^"]*)", arg5 = "busybox" }', read)
    mine = [e for e in entries if "/no/such" in e[1]]
    check(mine == [("-100", f"/no/such/file-{i}-{n}") + (f"/no/such/file-{i}-{n}",)
                   for i in range(2) for n in range(20)], read[:2000])
    named = re.findall(r'byname_entry: .*dfd = (-?\d+), counter = [1-9]\d*, name = "([^"]*)", user = "([^"]*)" }', read)
    check([e for e in named if "/no/such" in e[1]] == mine, f"{named[:3]}: {read[:2000]}")
    check(len(re.findall(r"rm_exit: .*ret = -?\d+, err = -2 }", read)) >= 40, read[:2000])


def test_programs():
    """USDT probes and functions of a program and of a library: as often as they are passed,
    with arguments, also after a daemon's death; and nothing is left behind."""
    out, file = "/dev/shm/programs", "/dev/shm/usdt"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copy(f"{WORK}/usdt", file)
    before = os.environ["PATH"]
    os.environ["PATH"] += ":/dev/shm"
    ctl("create", "programs", "-o", out)
    for bad, sentence in ((f"{file}:no_such", "has no function"), (f"sdt:{file}:shop:x", "has no USDT"),
                          ("/dev/shm:x", "is not a regular file"), ("no-such-file:x", "no program")):
        why = ctl("enable-event", "-k", f"--userspace-probe={bad}", "bad", status=1)["error"]["text"]
        check(sentence in why, why)
    ctl("enable-event", "-k", "--userspace-probe=sdt:usdt:shop:sold", "sold")
    ctl("enable-event", "-k", f"--userspace-probe={file}:shop_sell",
        "--fetch=nr=$arg1:u32 what=+0($arg2):string $comm", "sell")
    ctl("enable-event", "-k", f"--userspace-probe=return:{file}:shop_sell", "--fetch=twice=$retval:u32", "soldfor")
    ctl("enable-event", "-k", "--userspace-probe=libc.so.6:getppid", "parent")
    check(heard(file, 10) == 0, "a tracer is attached before the start")
    ctl("start")
    check(heard(file, 90) == 90, "no tracer is attached")
    kill("ltt-sessiond")
    rules = {r["pattern"]: (r["kind"], r["location"]) for r in ctl("status")["result"]["channels"][0]["rules"]}
    check(rules["sold"] == ("userspace-probe", "sdt:usdt:shop:sold") and len(rules) == 4, rules)
    check(heard(file, 30) == 30, "no tracer is attached after the daemon's death")
    # started again it is searched again, by its path
    ctl("stop")
    until(lambda: heard(file, 10) == 0, "the tracer to be detached")  # a stop does not wait for it
    kill("ltt-sessiond")
    ctl("start")
    check(heard(file, 30) == 30, "no tracer is attached after another start")
    ctl("stop")
    shutil.copy(file, file + ".new")
    os.rename(file + ".new", file)
    started = ctl("start")["result"]["sessions"][0]
    check(not started.get("refusals"), started)
    check(heard(file, 30) == 30, "no tracer is attached to the new file")
    finish("programs", out)
    os.environ["PATH"] = before
    read = run("babeltrace2", "--no-delta", out).stdout
    what = "a name of which nothing has been read before"
    want, sells, returns = [], [], []
    for count in 90, 30, 30, 30:
        for nr in range(count):
            sells.append((str(nr), what, "usdt"))
            want.append((str(nr), str(-nr), str(-1 - nr % 4)))
            if nr % 3 == 0:
                want.append((str(nr), "-7", "-9"))
            returns.append((str(2 * nr), str(2 * nr)))
    have = re.findall(r'sold: .*arg1 = (\d+), arg2 = \d+, arg3 = (-?\d+), arg4 = (-?\d+)', read)
    check(have == want, f"{len(have)} of {len(want)}: {have[:6]}")
    have = re.findall(r'sell: .*nr = (\d+), what = "([^"]*)", arg3 = "([^"]*)"', read)
    check(have == sells, f"{len(have)} of {len(sells)}: {have[:3]}")
    have = re.findall(r'soldfor: .*ret = (-?\d+), twice = (\d+)', read)
    check(have == returns, f"{len(have)} of {len(returns)}: {have[:3]}")


def test_replaced():
    """A program is replaced again and again while it is recorded: the process that runs the first file and those
    of each new one are recorded, by the same events; also after the daemon's death. Replaced by a program without
    the place, or removed, that is reported, until it is back. Files that nothing runs are let go."""
    file, megabytes, rules, total = "/dev/shm/shop", 8, ("sold", "sell", "rooted"), 0

    def replace(source=f"{WORK}/usdt"):
        shutil.copy(source, file + ".new")
        os.truncate(file + ".new", megabytes << 20)
        os.rename(file + ".new", file)

    def passes(count, program=None):
        nonlocal total
        if program:
            program.stdin.write(f"{count}\n")
            program.stdin.flush()
        heard_of = int(program.stdout.readline()) if program else heard(file, count)
        check(heard_of == count, f"{heard_of} of {count}, in {'the first' if program else 'a new'} file")
        total += count

    def shown():
        channel = ctl("list", "replaced")["result"]["channels"][0]
        return {r["pattern"]: r for r in channel["rules"]}, channel.get("refusals", [])

    def followed():
        inode = os.stat(file).st_ino
        until(lambda: {r["file_inode"] for r in shown()[0].values()} == {inode} and not shown()[1], "the new file", 20)

    def refused(sentence):
        until(lambda: len(shown()[1]) == 3 and all(sentence in r["why"] for r in shown()[1]), sentence, 20)

    replace()
    first = subprocess.Popen([file, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    out = begin("replaced", *(("-k", f"--userspace-probe={place}", name) for name, place in
                              zip(rules, (f"sdt:{file}:shop:sold", f"elf:{file}:shop_sell", f"/proc/self/root{file}:shop_sell".replace("self", str(first.pid))))))
    before = shown()[0]["sold"]
    passes(30, first)
    for _ in range(3):
        replace()
        followed()
        passes(30)
        passes(30, first)
    earlier = f"{before['file_device']}:{before['file_inode']}"
    check(earlier in shown()[0]["sold"]["earlier_files"].split(","), shown())
    check(earlier in run("lttctl", "list", "replaced").stdout, "earlier files are not listed")
    used = shutil.disk_usage("/dev/shm").used
    began = time.monotonic()
    for _ in range(1000):
        replace()
    print(f"control: replaced 1,000 times in {time.monotonic() - began:.1f} s")
    followed()
    passes(30)
    passes(30, first)
    kept = (shutil.disk_usage("/dev/shm").used - used) >> 20
    check(kept < 2 * megabytes, f"{kept} MiB more are in use")
    kill("ltt-sessiond")
    followed()
    passes(30)
    passes(30, first)
    replace()
    followed()
    passes(30)
    passes(30, first)
    replace("/bin/true")
    until(lambda: len(shown()[1]) == 3, "the program without the place", 20)
    check(all("has no" in r["why"] and "new file is not recorded" in r["why"] for r in shown()[1]), shown()[1])
    passes(30, first)
    kill("ltt-sessiond")
    until(lambda: len(shown()[1]) == 3, "the program without the place, by another daemon", 20)
    passes(30, first)
    ctl("stop")
    first.stdin.write("9\n")
    first.stdin.flush()
    check(int(first.stdout.readline()) == 0, "a tracer is attached after the stop")
    check(len(ctl("start", status=4)["result"]["sessions"][0]["refusals"]) == 3, "not refused")
    replace()
    followed()
    passes(30)
    os.unlink(file)
    refused("No such file")
    os.mkfifo(file)
    refused("not a regular file")
    os.unlink(file)
    replace()
    followed()
    passes(30)
    finish("replaced", out)
    first.communicate()
    names_ = collections.Counter(re.findall(r" (sold|sell|rooted): ", run("babeltrace2", "--no-delta", out).stdout))
    check(names_["sell"] == names_["rooted"] == total and names_["sold"] == total // 3 * 4, f"{names_} of {total}")


def test_other_root():
    """A program below the root of another process, by an absolute link in it; also after the daemon's
    death. The file is listed by device and inode; the host's file of that path is another one."""
    root = "/dev/shm/rootfs"
    for folder in "usr", "proc", "app":
        os.makedirs(f"{root}/{folder}")
    for folder in "usr", "proc":
        run("busybox", "mount", "--bind" if folder == "usr" else "-t", *(("/usr",) if folder == "usr" else ("proc", "proc")), f"{root}/{folder}")
    for link in "lib", "lib64":
        os.symlink(f"usr/{link}", f"{root}/{link}")
    shutil.copy(f"{WORK}/hit", f"{root}/app/hit")
    os.symlink("/app/hit", f"{root}/app/now")
    sleeper = subprocess.Popen(["chroot", root, "/usr/bin/sleep", "1000"])
    path = f"/proc/{sleeper.pid}/root/app/now"
    until(lambda: os.path.exists(path.replace("now", "hit")), "the other root")
    out = begin("otherroot", ("-k", f"--userspace-probe={path}:call_with_page", "paged"))
    rule = ctl("list", "otherroot")["result"]["channels"][0]["rules"][0]
    have = os.stat(f"{root}/app/hit")
    check((rule["file_device"], rule["file_inode"]) == (f"{os.major(have.st_dev)}:{os.minor(have.st_dev)}", have.st_ino), rule)
    check(f"inode {have.st_ino})" in run("lttctl", "list", "otherroot").stdout, "list")
    run("chroot", root, "/app/hit", "30")
    kill("ltt-sessiond")
    ctl("status")
    run("chroot", root, "/app/hit", "20")
    hit(10)
    ctl("disable-event", "-k", "paged")
    kill("ltt-sessiond")
    ctl("enable-event", "-k", f"--userspace-probe={path}:call_with_page", "paged")
    run("chroot", root, "/app/hit", "5")
    check(recorded() == 55, f"{recorded()} of 55")
    sleeper.kill()
    sleeper.wait()
    finish("otherroot", out)
    for folder in "usr", "proc":
        run("busybox", "umount", f"{root}/{folder}")


def test_points():
    """A tracepoint and a marker of libltt by their SDT notes: the kernel's events and the program's are
    both exact, in one session and apart; the semaphores are the kernel's."""
    out, names_of = "/dev/shm/points", {"world": "hello:world", "marker": "hello:marker"}
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "points", "-o", out)
    ctl("enable-event", "-u", "hello*")
    for name, place in names_of.items():
        program = f"{BUILD}/prog/hello" + ("_marker" if name == "marker" else "")
        ctl("enable-event", "-k", f"--userspace-probe=sdt:{program}:{place}", name)
    for start, count in ("start", 40), ("stop", 30), ("start", 20):
        ctl(start)
        for program in "hello", "hello_marker":
            run(f"{BUILD}/prog/{program}", count, env={**os.environ, "LTT_REGISTER_TIMEOUT": "20000"})
    finish("points", out)
    read = run("babeltrace2", "--no-delta", out).stdout
    want = [(str(i), "hello") for count in (40, 20) for i in range(count)]
    for user, kernel in ("hello:world", "world"), ("hello_marker", "marker"):
        have = re.findall(rf' {user}: .*number = (\d+), text = "(\w+)"', read)
        check(have == want, f"{user}: {len(have)} of {len(want)}: {have[:3]}")
        have = [number for number in re.findall(rf" {kernel}: .*arg1 = (\d+), arg2 = \d+", read)]
        check(have == [number for number, _ in want], f"{kernel}: {len(have)} of {len(want)}: {have[:3]}")


# --- filters: a session beside another one, which records the same events without a filter

WORKER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for i in range(5):
    libc.syscall(140, ctypes.c_long(0), ctypes.c_long(i))  # getpriority, of another name
open("/proc/self/comm", "w").write("worker")
for i in range(60):
    libc.syscall(140, ctypes.c_long(0), ctypes.c_long(i))  # getpriority
    libc.lseek(-1, ctypes.c_long(i - 30), 0)
    for name in (f"/dev/shm/filter{i % 7}", f"/no/such/filter{i}"):
        fd = libc.open(name.encode(), os.O_RDWR | (os.O_CREAT if i % 2 else 0), 0o600)
        if fd >= 0:
            libc.close(fd)
    libc.open(ctypes.c_void_p(8), 0)  # a name that cannot be read
    libc.unlink(f"/no/such/filter{i}".encode())
"""
# (arguments of enable-event; expression, of events of the worker alone; the same in Python)
FILTERED = (
    (("cpu_frequency",), "state % 3 == 0 && cpu_id in (0, 4, 5)",
     lambda e: e["state"] % 3 == 0 and e["cpu_id"] in (0, 4, 5)),
    (("kmem:rss_stat",), '$ctx.procname == "worker" && member == 1 && size > 400k',
     lambda e: e["procname"] == "worker" and e["member"] == 1 and e["size"] > 400 << 10),
    (("sched:sched_process_exec",), 'filename == "*/busybox" && pid > 0',
     lambda e: e["filename"].endswith("/busybox")),
    (("syscall_entry_lseek",), 'offset >= -3 && offset < 5 && fd == 0xffffffff && $ctx.procname == "work*"',
     lambda e: -3 <= e["offset"] < 5 and e["fd"] == 0xffffffff and e["procname"].startswith("work")),
    (("syscall_entry_open*", "-x", "syscall_entry_open_*"),
     'filename =~ "filter3" || filename == "(fault)" && $ctx.procname == "worker"',
     lambda e: "filter3" in e["filename"] or e["filename"] == "(fault)" and e["procname"] == "worker"),
    (("syscall_exit_openat",), 'ret == -2 && $ctx.procname == "worker"',
     lambda e: e["ret"] == -2 and e["procname"] == "worker"),
    (("--probe=__x64_sys_getpriority", "prio"), '$ctx.procname == "worker" && ip != 0',
     lambda e: e["procname"] == "worker"),
    ((f"--function={UNLINK}", "--fetch=name=+0(+0($arg2)):string", "rm"),
     'name == "*filter?1" || name == "*filter*5"',
     lambda e: "filter" in e.get("name", "") and e["name"].endswith("5")),
    (("--function=__x64_sys_getpriority", "fn"), 'ret > 15 && $ctx.procname == "worker"',
     lambda e: e.get("ret", 0) > 15 and e["procname"] == "worker"),
    (("--userspace-probe=/dev/shm/traced:work", "--fetch=nr=$arg1:u64", "user"), "nr % 10 == 3",
     lambda e: e["nr"] % 10 == 3),
    (("example:job",), "len(owner) == 8 && id % 4 == 1",
     lambda e: e["owner"] == "somebody" and e["id"] % 4 == 1),
    (("marker:example_step",), "$ctx.uid == 0 && step % 5 == 2", lambda e: e["step"] % 5 == 2),
)


def read_fields(path, *reader):
    """[(name, fields in text, {field or context: value})], by babeltrace2 or another reader."""
    found = []
    for line in run(*(reader or ("babeltrace2", "--no-delta")), path).stdout.splitlines():
        # [time] (+time) host name: { packet's }, { contexts }, { fields }
        parts = re.match(r"\[[^]]*\] (?:\(\+\S+\) )?(?:\S+ )??([\w:]+): (.*)", line)
        pairs = dict(re.findall(r"(\w+) = (\"(?:[^\"\\]|\\.)*\"|-?\w+)", parts.group(2)))
        values = {k: v[1:-1] if v.startswith('"') else int(v, 0) for k, v in pairs.items()
                  if v.startswith('"') or re.match(r"-?\d", v)}
        # (of two probes where a function returns, one has the other's address as its caller)
        fields = re.sub(r"parent_ip = \w+, ", "", parts.group(2).rsplit("{", 1)[-1])
        found.append((parts.group(1), fields, values))
    return found


def write(path, text):
    with open(path, "w") as f:
        f.write(str(text))


def work_of_all_kinds():
    run(sys.executable, "-c", WORKER)
    emit()
    for _ in range(3):
        run("busybox", "true")
        run("/bin/true")
    run("/dev/shm/traced", 100)
    write("/sys/module/ltt_example_provider/parameters/jobs", 40)
    write("/sys/module/ltt_example_marker/parameters/steps", 40)


def filtered_session(name, rules):
    out = f"/dev/shm/{name}"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", name, "-o", out)
    ctl("enable-channel", "-k", "-s", name, "--num-subbuf=8", "--subbuf-size=2M", "c")
    if name == "whole":
        ctl("add-context", "-k", "-s", name, "-c", "c", "-t", "procname", "-t", "uid")
    for arguments in rules:
        ctl("enable-event", "-k", "-s", name, "-c", "c", *arguments)
    return out


def test_filters():
    """For each kind of event: exactly those are recorded for which its expression holds."""
    examples = ("ltt_example_provider", "ltt_example_marker")
    shutil.copy(f"{WORK}/traced", "/dev/shm/traced")
    for example in examples:
        insmod(f"{WORK}/kmod/examples/{example}.ko")
    whole = filtered_session("whole", [c[0] for c in FILTERED])
    some = filtered_session("some", [c[0] + ("--filter", c[1]) for c in FILTERED])
    rules = {r["pattern"]: r.get("filter") for r in ctl("list", "some")["result"]["channels"][0]["rules"]}
    check(list(rules.values()) == [c[1] for c in FILTERED], rules)
    ctl("start", "whole")
    ctl("start", "some")
    work_of_all_kinds()
    for name in "some", "whole":
        ended = ctl("stop", name)["result"]["sessions"][0]["totals"]
        check(ended["lost"] == 0, f"{name}: {ended}")
        ctl("destroy", name)
    everything, kept = read_fields(whole), read_fields(some)
    for arguments, expression, holds in FILTERED:
        name = arguments[-1] if arguments[0].startswith("--") else arguments[0].split(":")[-1]
        mine = re.compile({"syscall_entry_open*": "syscall_entry_open(at2?)?", "rm": "rm_entry|rm_exit",
                           "fn": "fn_entry|fn_exit", "-x": "-"}.get(
                               arguments[0] if len(arguments) > 2 and arguments[1] == "-x" else name, name) + "$")
        want = sorted(e[:2] for e in everything if mine.match(e[0]) and holds(e[2]))
        have = sorted(e[:2] for e in kept if mine.match(e[0]))
        others = sum(1 for e in everything if mine.match(e[0])) - len(want)
        check(want and others > 0, f"{arguments}: {len(want)} accepted, {others} not")
        check(have == want, f"{arguments} {expression}: {len(have)}, not {len(want)}: "
              f"{sorted(set(have) ^ set(want))[:4]}")
        print(f"control: filters: {' '.join(arguments)}: {len(have)} of {len(want) + others}", flush=True)
    for example in examples:
        run("busybox", "rmmod", example)


SAMPLED = {"one_in": ("power:cpu_frequency", "--sample=1/10"), "of_value": ("power:cpu_frequency", "--sample=1/4", "--by=state"),
           "limit": ("power:cpu_frequency", "--first=100"), "pace": ("power:cpu_frequency", "--rate=50/s"),
           "half": ("power:cpu_frequency", "--filter", "state < 500", "--sample=1/5")}


def test_sampling():
    """Beside a session with all events: those that are sampled are some of them, and those that are recorded, lost and not
    sampled are all that were emitted, though the daemons are killed and a sampling is changed."""
    out = {name: filtered_session(name, [rule]) for name, rule in {"all": ("power:cpu_frequency",), **SAMPLED}.items()}
    for name in out:
        ctl("start", name)
    began = time.monotonic()
    emit()
    kill("ltt-consumerd")
    emit()
    kill("ltt-sessiond")
    ctl("enable-event", "-k", "-s", "one_in", "-c", "c", "power:cpu_frequency", "--sample=1/5")
    emit()
    totals = {name: ctl("stop", name)["result"]["sessions"][0]["totals"] for name in out}
    seconds = time.monotonic() - began
    for name in out:
        run("lttctl", "verify", out[name])
        ctl("destroy", name)
    events = {name: collections.Counter((e[2]["cpu_id"], e[2]["state"]) for e in read_fields(out[name])) for name in out}
    for name, total in totals.items():
        emitted = (3 if name != "half" else 1.5) * EMITTED
        taken = total["recorded"] + total["lost"]
        print(f"control: sampling: {name}: {taken} of {emitted}", flush=True)
        check(taken + total["not_sampled"] == emitted, f"{name}: {total} of {emitted}")
        check(total["lost"] == 0 and sum(events[name].values()) == taken, f"{name}: {total}")
        check(events[name] <= events["all"], f"{name}: {(events[name] - events['all'])}")
        check(name == "all" or f"not sampled: " in open(f"{out[name]}/kernel/metadata", errors="replace").read(), name)
    near = {"one_in": 2 * EMITTED / 10 + EMITTED / 5, "of_value": 3 * EMITTED / 4, "half": 1.5 * EMITTED / 5}
    for name, want in near.items():
        check(abs(sum(events[name].values()) - want) < want * 0.15, f"{name}: {totals[name]}, not {want}")
    check(totals["limit"]["recorded"] == 100, totals["limit"])
    check(50 <= totals["pace"]["recorded"] <= 50 * (seconds + 1), f"{totals['pace']} in {seconds} s")
    states = {state for _, state in events["of_value"]}
    check(events["of_value"] == {e: n for e, n in events["all"].items() if e[1] in states}, "some of a value")
    check("/* sampled: 0 1 1/5 */" in open(f"{out['one_in']}/kernel/metadata", errors="replace").read(), "1/5")


COUNTED = (("--count", "--by=cpu_id", "power:cpu_frequency"), ("--count", "--by=state", "power:cpu_frequency"),
           ("--histogram=state", "--by=cpu_id", "power:cpu_frequency"),
           ("--count", "--by=cpu_id", "--filter=state < 300", "cpu_frequency"),
           ("--count", "--filter=state >= 300 && cpu_id == 2", "cpu_frequency"),
           ("--histogram=state", "--filter=state < 10", "power:cpu_frequency"), ("--count", "power:cpu_frequency"),
           ("--count", "--by=filename", "sched_process_exec"), ("--count", "--by=comm", "sched_process_exit"),
           ("--histogram=prio", "--by=comm", "--filter=comm == \"busybox\"", "sched:sched_process_*"))


def counted_rows(name, status=0):
    """{(event, histogram, key): row}, in the order of the rules where these are equal."""
    found = collections.defaultdict(list)
    for row in ctl("stats", name, status=status)["result"]["counted"]:
        row["by_key"] = {tuple(v["value"] for v in k["key"]): k for k in row.get("keys", ())}
        check(len(row["by_key"]) == len(row.get("keys", ())), f"a key twice: {row}")
        found[row["event"], row.get("field"), ",".join(row.get("keyed_by", ()))].append(row)
    return found


def check_counted(rows, events):
    """@events: {(cpu_id, state): number} of the session beside."""
    def by(position, of=lambda event: True):
        sums = collections.Counter()
        for event, n in events.items():
            if of(event):
                sums[event[position],] += n
        return dict(sums)

    def counts(row):
        return {key: k["count"] for key, k in row["by_key"].items()}

    event = "power:cpu_frequency"
    all_of, few = rows[event, None, "cpu_id"]
    check(counts(all_of) == by(0), f"{counts(all_of)}, not {by(0)}")
    check(counts(few) == by(0, lambda e: e[1] < 300), f"filter: {counts(few)}")
    states, = rows[event, None, "state"]
    check(counts(states) == by(1) and len(by(1)) == EMITTED / 4 / os.cpu_count(), f"{len(counts(states))} states")
    total = sum(events.values())
    histogram, = rows[event, "state", "cpu_id"]
    check(counts(histogram) == by(0), f"histogram: {counts(histogram)}")
    for (cpu,), key in histogram["by_key"].items():
        check(key["sum"] == sum(state * n for (c, state), n in events.items() if c == cpu), f"sum of {cpu}")
        check(sum(b["count"] for b in key["buckets"]) == key["count"], f"buckets of {cpu}")
    small, = rows[event, "state", ""]
    want = {e: n for e, n in events.items() if e[1] < 10}
    check((small["count"], small["sum"]) == (sum(want.values()), sum(e[1] * n for e, n in want.items())), small)
    some, whole = sorted(rows[event, None, ""], key=lambda row: row["count"])
    check(whole["count"] == total, f"{whole} of {total}")
    check(some["count"] == sum(n for e, n in events.items() if e[1] >= 300 and e[0] == 2), some)
    for group in rows.values():
        check(not any(row.get("missed") for row in group), group)


def check_pairs(pairs, events):
    """More keys than the table has room for: the rest is counted as overflow."""
    counts = {key: k["count"] for key, k in pairs["by_key"].items()}
    check(len(events) > 4096 and 4000 < len(counts) <= 4096, f"{len(counts)} keys of {len(events)}")
    check(all(events[key] >= n for key, n in counts.items()), "pairs")
    check(sum(counts.values()) + pairs["overflow"] == pairs["count"] == sum(events.values()), pairs["overflow"])


def test_counted_keys():
    """Beside a session with all events: counts by keys, with filters and histograms are those of its events, from NMIs too,
    though the daemons are killed; a new session daemon begins at 0. Keys that are texts."""
    shutil.copy("/bin/true", "/dev/shm/own-name")
    out = filtered_session("beside", [("power:cpu_frequency",), ("sched_process_exec",)])
    ctl("create", "counts", "-o", "/dev/shm/counts")
    for rule in COUNTED:
        ctl("enable-event", "-k", "-s", "counts", *rule)
        if rule == COUNTED[0]:
            ctl("start", "counts")
    wrong = run("lttctl", "enable-event", "-k", "-s", "counts", "--count", "--by=stat", "power:cpu_frequency", status=1).stderr
    check("no integer or text field 'stat'; did you mean 'state'?" in wrong, wrong)
    ctl("create", "pairs", "-o", "/dev/shm/pairs")
    ctl("enable-event", "-k", "-s", "pairs", "--count", "--by=cpu_id,state", "power:cpu_frequency")
    ctl("start", "beside")
    ctl("start", "pairs")
    for nr in range(2):
        emit()
        if not nr:
            ctl("stop", "pairs")
            pairs, = counted_rows("pairs")["power:cpu_frequency", None, "cpu_id,state"]
            ctl("destroy", "pairs")
        for _ in range(7):
            run("/dev/shm/own-name")
        rows = counted_rows("counts")
        if not nr:
            kill("ltt-consumerd")
            first = rows
    for row in rows["sched:sched_process_exec", None, "filename"] + rows["sched:sched_process_exit", None, "comm"]:
        name = "/dev/shm/own-name" if row["keyed_by"] == ["filename"] else "own-name"
        check(row["by_key"][name,]["count"] == 14, f"{name}: {row}")
    exits = [row for (event, field, _), group in rows.items() for row in group if field == "prio" and "exit" in event]
    check([set(row["by_key"]) for row in exits] == [{("busybox",)}], exits)
    ctl("stop", "counts")
    text = run("lttctl", "stats", "counts").stdout
    check(re.search(r"^ */dev/shm/own-name +14$", text, re.M), text)
    after = counted_rows("counts")
    power = {k for k in after if k[0] == "power:cpu_frequency"}
    check({k: after[k] for k in power} == {k: [{**row, "counting": False} for row in rows[k]] for k in power}, "after the stop")
    ctl("start", "counts")
    kill("ltt-sessiond")
    until(lambda: '"event": "power:cpu_frequency"' in run("lttctl", "stats", "counts", "--json", status=None).stdout,
          "the counters of the new daemon")
    emit()
    again = counted_rows("counts", 6)
    check(all(row["at_least"] for group in again.values() for row in group), "the counts before")
    ctl("stop", "beside")
    run("lttctl", "verify", out)
    ctl("destroy", "beside")
    ctl("destroy", "counts")
    events = [(e[2]["cpu_id"], e[2]["state"]) for e in read_fields(out) if e[0] == "cpu_frequency"]
    check(len(events) == 3 * EMITTED, f"{len(events)} of 3 * {EMITTED}")
    check_pairs(pairs, collections.Counter({e: n // 3 for e, n in collections.Counter(events).items()}))
    for rows, times in (first, 1), (rows, 2), (again, 1):
        check_counted(rows, {e: n * times // 3 for e, n in collections.Counter(events).items()})
        print(f"control: counted_keys: {sum(map(len, rows.values()))} rows, {times} * {EMITTED} events", flush=True)


CALLER = """
import ctypes, sys, time
libc = ctypes.CDLL(None)
open("/proc/self/comm", "w").write("caller")
end = time.monotonic() + float(sys.argv[1])
n = 0
while time.monotonic() < end:
    libc.lseek(-1, ctypes.c_long(n), 77)
    n += 1
print(n)
"""


def test_filter_changes():
    """Filters that are changed and removed while calls are made: none that each of them accepts is
    missing; they are or-ed; and they stay over a daemon's death."""
    mine = "whence == 77 && "
    out = filtered_session("change", [("syscall_entry_lseek", "--filter", mine + "offset % 2 == 0")])
    ctl("enable-event", "-k", "-c", "c", "syscall_entry_lsee*", "--filter", mine + "offset == 1")
    ctl("start")
    caller = subprocess.Popen([sys.executable, "-c", CALLER, "12"], stdout=subprocess.PIPE, text=True)
    rule = ("enable-event", "-k", "-c", "c", "syscall_entry_lseek", "--filter")
    for i in range(5):
        ctl(*rule, f"{mine}(offset % 2 == 0 || offset % 5 == {i})")
    kill("ltt-sessiond")
    rules = {r["pattern"]: r.get("filter") for r in ctl("status")["result"]["channels"][0]["rules"]}
    check(rules == {"syscall_entry_lseek": mine + "(offset % 2 == 0 || offset % 5 == 4)",
                    "syscall_entry_lsee*": mine + "offset == 1"}, rules)
    ctl(*rule, mine + "offset % 2 == 0")
    made = int(caller.communicate()[0])
    ctl("disable-event", "-k", "syscall_entry_lsee*")
    ctl("enable-event", "-k", "-c", "c", "syscall_entry_lseek")
    libc = ctypes.CDLL(None)
    for _ in range(100):
        libc.lseek(-1, ctypes.c_long(4711), 77)
    never = ctl("enable-event", "-k", "-c", "c", "cpu_frequency", "--filter", "stat == 1", status=1)["error"]["text"]
    check("did you mean 'state'?" in never, never)
    never = ctl("enable-event", "-k", "-c", "c", "cpu_frequency", "--filter", "state == 1.5", status=1)["error"]["text"]
    check("no floating point" in never, never)
    shown = ctl("filter", "-k", "--check", "prev_tid == 1", "--event", "sched:sched_switch", status=4)["result"]["verdicts"]
    check(len(shown) == 1 and "prev_pid" in shown[0]["why"], shown)
    shown = ctl("filter", "-k", "--check", '$ctx.cgroup_id > 1 && prev_comm == "x"',
                "--event", "sched_switch")["result"]["verdicts"]
    check(len(shown) == 1 and shown[0]["can_hold"], shown)
    finish("change", out)
    calls = [e[2]["offset"] for e in read_fields(out)
             if e[0] == "syscall_entry_lseek" and e[2]["whence"] == 77]
    check(calls[-100:] == 100 * [4711], f"the filter remains: {calls[-100:]}")
    calls = calls[:-100]
    check([n for n in calls if n % 2 == 0] == list(range(0, made, 2)),
          f"{len(calls)} of {made} calls, {calls[:20]} ... {calls[-5:]}")
    check(1 in calls and len(calls) > made / 2 + 1, f"{len(calls)} of {made}")


def kernel_functions():
    """Sorted (address, name, module) of /proc/kallsyms, and the names of each address."""
    rows, at = [], collections.defaultdict(set)
    with open("/proc/kallsyms", encoding="ascii") as f:
        for line in f:
            address, kind, name, *module = line.split()
            if int(address, 16) >> 63:
                rows.append((int(address, 16), kind))
                at[int(address, 16)].add((name, module[0][1:-1] if module else None))
    return sorted(rows), at


def check_kernel_names(path, rows, at):
    """Each name is that of /proc/kallsyms; return the fields, and the functions of modules."""
    fields, in_modules = set(), set()
    for line in run("lttctl", "view", "--json", "--symbols", "--limit=100", "--trace-path", path).stdout.splitlines():
        for symbol in json.loads(line).get("symbols", []):
            name, module, offset = symbol["function"], symbol.get("module"), int(symbol["offset"])
            check((name, module) in at[int(symbol["address"]) - offset], symbol)
            end = bisect.bisect_right(rows, (int(symbol["address"]) - offset, "~"))
            check(end == len(rows) or offset <= rows[end][0] - rows[end - 1][0], symbol)
            fields.add(symbol["field"])
            in_modules |= {name} if module else set()
    return fields, in_modules


def test_symbols():
    """Addresses of the kernel have the names of /proc/kallsyms: of functions, callers, call stacks and
    timers; in archives, and after the daemons' death. The functions of a module that comes while a
    session records are added. Hidden addresses have none."""
    path, file = "/proc/sys/kernel/kptr_restrict", ".kallsyms.zst"
    out = "/dev/shm/symbols"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "symbols", "-o", out)
    ctl("enable-event", "-k", "--function=__x64_sys_getpriority", "called")
    ctl("enable-event", "-k", "hrtimer_start", "--first=50")
    ctl("add-context", "-k", "-t", "callstack-kernel")
    ctl("start")
    until(lambda: os.path.exists(f"{out}/kernel/{file}"), "the functions of the kernel")
    size = os.path.getsize(f"{out}/kernel/{file}")
    hit(20)
    ctl("rotate")
    archive = glob.glob(f"{out}/archives/*")[0]
    check(os.path.samefile(f"{archive}/kernel/{file}", f"{out}/kernel/{file}"), "two files")
    insmod(f"{WORK}/kmod/examples/ltt_example_provider.ko")
    until(lambda: "[ltt_example_provider]" in run("zstd", "-dc", f"{out}/kernel/{file}").stdout, "the module's functions")
    check("[ltt_example_provider]" not in run("zstd", "-dc", f"{archive}/kernel/{file}").stdout, "a changed archive")
    kill("ltt-consumerd", "ltt-sessiond")
    ctl("status")
    hit(20)
    rows, at = kernel_functions()
    finish("symbols", out)
    run("busybox", "rmmod", "ltt_example_provider")
    for part in archive, f"{out}/kernel":
        fields, in_modules = check_kernel_names(part, rows, at)
        check({"ip", "parent_ip", "callstack_kernel"} <= fields, fields)
        check("function" in fields or part != archive, fields)  # of the first timers
    end_daemons()
    with open(path, encoding="ascii") as f:
        before = f.read()
    write(path, "2")
    hidden = begin("hidden", ("-k", "--function=__x64_sys_getpriority", "called"))
    hit(20)
    until(lambda: os.path.exists(f"{hidden}/kernel/{file}"), "the file without functions")
    finish("hidden", hidden)
    end_daemons()
    write(path, before)
    done = run("lttctl", "view", "--symbols", "--trace-path", hidden)
    check("kptr_restrict" in done.stderr and "(ip:" not in done.stdout, done.stderr)
    lines = run("zstd", "-dc", f"{out}/kernel/{file}").stdout.count("\n")
    print(f"control: symbols: {lines} lines, {size} bytes; in modules: {sorted(in_modules)[:3]}")


def test_provider():
    """Events of a module that comes while a daemon runs and a session records."""
    module, jobs = f"{WORK}/kmod/examples/ltt_example_provider.ko", "/sys/module/ltt_example_provider/parameters/jobs"
    out = begin("provider", ("-k", "example:*"), ("-k", "cpu_frequency"))
    insmod(module)
    names_of = lambda: {p["name"] for p in ctl("list", "-k")["result"]["points"]}  # noqa: E731
    check({"job", "done"} < names_of(), "the module's events are not listed")
    ctl("enable-event", "-k", "example:job", "-c", "channel0")
    for count in 100, 50:
        with open(jobs, "w") as f:
            f.write(str(count))
        if count == 100:
            kill("ltt-sessiond")
            ctl("status")
            run("busybox", "rmmod", "ltt_example_provider")
            insmod(module)
    check(recorded() == 152, f"{recorded()} of 152")
    finish("provider", out)
    run("busybox", "rmmod", "ltt_example_provider")
    seen = names(out)
    check((seen.count("job"), seen.count("done")) == (150, 2), seen[:5])


def test_channel_of_module():
    """A module's events go to the channel that it has registered, also when it has gone."""
    module, jobs = f"{WORK}/kmod/examples/ltt_example_provider.ko", "/sys/module/ltt_example_provider/parameters/jobs"
    insmod(module)
    check("example_jobs: example:*, 8 sub-buffers of 64 KiB" in run("lttctl", "list", "-k").stdout, "list -k")
    out = begin("preset", ("-k", "example:j*"), ("-k", "cpu_frequency"), ("-k", "done"), ("-k", "cpu_idle", "-c", "own"))
    channels = lambda: {c["name"]: c for c in ctl("list", "preset")["result"]["channels"]}  # noqa: E731
    rules = lambda: {n: [r["pattern"] for r in c["rules"]] for n, c in channels().items()}  # noqa: E731
    check(rules() == {"example_jobs": ["example:j*", "done"], "channel0": ["cpu_frequency"], "own": ["cpu_idle"]}, rules())
    like = [(c["preset"], c["subbuf_size"], c["num_subbuf"]) for c in channels().values()]
    check(like == [(True, 65536, 8), (False, 1 << 20, 4), (False, 1 << 20, 4)], like)
    with open(jobs, "w") as f:
        f.write("100")
    kill("ltt-sessiond")
    ctl("status")
    run("busybox", "rmmod", "ltt_example_provider")
    check("example_jobs" not in run("lttctl", "list", "-k").stdout, "a channel without an owner")
    insmod(module)
    ctl("disable-event", "-k", "done")
    with open(jobs, "w") as f:
        f.write("50")
    finish("preset", out)
    run("busybox", "rmmod", "ltt_example_provider")
    seen = names(out)
    check((seen.count("job"), seen.count("done")) == (150, 1), seen[:5])
    check(glob.glob(f"{out}/**/example_jobs_[0-9]", recursive=True), glob.glob(f"{out}/**", recursive=True))


DEBUGFS = "/sys/kernel/debug"


def text_of(name):
    """The lines of a trace as the module prints them."""
    with open(f"{DEBUGFS}/ltt/{name}/text", "rb") as f:
        return f.read().decode(errors="surrogateescape").splitlines(keepends=True)


def view_of(out):
    """The same as the viewer prints them from the files."""
    done = subprocess.run(["lttctl", "view", "-t", out, "--statedump", "--clock-gmt"], capture_output=True,
                          timeout=300, check=True)
    return done.stdout.decode(errors="surrogateescape").splitlines(keepends=True)


LABEL = r'(?:"[^"]*"|<unknown>|0x[0-9A-F]+|[0-9]+)'
LABELLED = re.compile(rf"\( {LABEL}(?:(?: \||,) {LABEL})* : container = (\S+) \)")


def is_without_labels(have, want):
    """Whether lines are equal but for names of values, and the base of these."""
    pattern, numbers, at = "", [], 0
    for match in LABELLED.finditer(want):
        pattern += re.escape(want[at:match.start()]) + r"(-?\w+)"
        numbers.append(int(match[1], 0))
        at = match.end()
    got = numbers and re.fullmatch(pattern + re.escape(want[at:]), have)
    return got and all(int(a, 0) - b in (0, -1 << 16, -1 << 32, -1 << 64) for a, b in zip(got.groups(), numbers))


def check_same(have, want):
    if have != want and len(have) == len(want):
        have = [w if h == w or is_without_labels(h, w) else h for h, w in zip(have, want)]
    differ = "".join(itertools.islice(difflib.unified_diff(want, have, "view", "text", n=1), 20))
    check(have == want and have, f"{len(have)} of {len(want)} lines:\n{differ[:4000]}")


def texts_session(name, *options, contexts=()):
    """A session whose consumer takes nothing before the end."""
    out = f"/dev/shm/{name}"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", name, "-o", out, *options)
    for channel in "c", "d":
        ctl("enable-channel", "-k", "-s", name, "--num-subbuf=4", "--subbuf-size=4M",
            "--switch-timer=3600000000", channel)
    if contexts:
        ctl("add-context", "-k", "-s", name, "-c", "c", *(word for t in contexts for word in ("-t", t)))
    return out


def test_text():
    """The module's text of a session is the viewer's, for all kinds of events and contexts."""
    mount_debugfs()
    for example in "ltt_example_provider", "ltt_example_marker":
        insmod(f"{WORK}/kmod/examples/{example}.ko")
    shutil.copy(f"{WORK}/traced", "/dev/shm/traced")
    types = [t["name"] for t in ctl("add-context", "-k", "--list")["result"]["types"]]
    out = texts_session("texts", contexts=types)
    for rule in (("-c", "c", "sched:*,power:*,example_*,jobs_*,example:*,marker:*"), ("-c", "d", "kmem:*,timer:*,net:*,irq:*,task:*"),
                 ("-c", "c", "--syscall", "*"), ("-c", "d", "lttng_statedump_*"),
                 ("-c", "c", f"--function={UNLINK}", "--fetch=dir=$arg1:s32 mask=$arg1:x16",
                  "--fetch=name=+0(+0($arg2)):string $comm err=$retval", "rm"),
                 ("-c", "d", "--probe=vfs_read", "--fetch=$arg3:u8", "read"),
                 ("-c", "d", "--userspace-probe=/dev/shm/traced:work", "--fetch=$arg1", "traced")):
        ctl("enable-event", "-k", "-s", "texts", *rule)
    ctl("start", "texts")
    work_of_all_kinds()
    run("busybox", "touch", "/dev/shm/\t\"\\\x7f\u202e\u00e9\udcff.txt")
    run("busybox", "unlink", "/dev/shm/\t\"\\\x7f\u202e\u00e9\udcff.txt")
    ctl("disable-event", "-k", "-s", "texts", "-c", "c", "-a")
    ctl("disable-event", "-k", "-s", "texts", "-c", "d", "-a")
    have = text_of("texts")
    finish("texts", out)
    check(not os.path.exists(f"{DEBUGFS}/ltt/texts"), "the folder is left")
    check_same(have, view_of(out))
    for example in "ltt_example_provider", "ltt_example_marker":
        run("busybox", "rmmod", example)
    kinds = set(re.findall(r"^\[.*?\] .*? (\w+): \{ cpu_id", "".join(have), re.M))
    print(f"control: text: {len(have)} lines, {sum(map(len, have))} characters, {len(kinds)} kinds of events")


def follow(name, done, ret):
    """Read the text again and again, behind its end, until the trace has ended."""
    with open(f"{DEBUGFS}/ltt/{name}/text", "rb", buffering=0) as f:
        while True:
            ended = done.is_set()
            while part := f.read(7777):
                ret.append(part)
            if ended:
                return
            time.sleep(0.01)


def test_text_live():
    """The text of a trace that is being recorded, by several readers: whole lines, in order, of
    events that are in the files, too; the consumer loses nothing. A reader goes on where the
    trace is destroyed meanwhile."""
    mount_debugfs()
    out = texts_session("live", contexts=("procname", "pid", "tid"))
    ctl("enable-event", "-k", "-s", "live", "-c", "c", "sched:*,power:*")
    ctl("enable-event", "-k", "-s", "live", "-c", "d", "--syscall", "*")
    ctl("start", "live")
    done, parts = threading.Event(), [[], []]
    threads = [threading.Thread(target=follow, args=("live", done, ret)) for ret in parts]
    for thread in threads:
        thread.start()
    for _ in range(3):
        emit()
        text_of("live")
    killed = subprocess.Popen(["cat", f"{DEBUGFS}/ltt/live/text"], stdout=subprocess.PIPE)
    late = open(f"{DEBUGFS}/ltt/live/text", "rb")  # noqa: SIM115
    late.read(100)
    killed.stdout.read(100)
    killed.kill()
    killed.wait()
    for channel in "c", "d":
        ctl("disable-event", "-k", "-s", "live", "-c", channel, "-a")
    done.set()
    for thread in threads:
        thread.join()
    whole = text_of("live")
    total = finish("live", out)
    check(not total["lost"] and total["recorded"] == total["written"], total)
    rest = late.read()
    late.close()
    check(rest.endswith(b"\n") and rest.count(b"\n") > 100, f"{len(rest)} bytes after the end of the trace")
    want = view_of(out)
    check_same(whole, want)
    for ret in parts:
        check_same(b"".join(ret).decode(errors="surrogateescape").splitlines(keepends=True), whole)
    print(f"control: text_live: {len(want)} lines")


class Requests:
    """A channel of the module without a daemon (abi/ltt_kmod.h). @trace: name, id and channel."""

    CONS, STATE = 4096, 2056  # the first ring's, and its member (abi/ltt_ring.h)

    def __init__(self, device, trace, overwrites=0, subbufs=(8, 65536), size=64, host=b""):
        name, number, channel = trace
        described = ctypes.create_string_buffer(struct.pack(
            "=II16sQq128s128s128s", 424, 0, number.to_bytes(16, "little"), 0, 0, name, channel, host), 424)
        request = bytearray(struct.pack("=IIIIQQQiiIIQ", size, overwrites, subbufs[0], 0, subbufs[1], 0, 0, -1, -1, 0, 0,
                                        ctypes.addressof(described))[:size])
        self.fd = self.ioctl(device, 4, request)
        self.ctl_bytes, self.data, self.ctl, self.rings = struct.unpack_from("=QiiI", request, 32)

    @staticmethod
    def ioctl(fd, number, request):
        return fcntl.ioctl(fd, 3 << 30 | len(request) << 16 | 0xf2 << 8 | number, request, True)

    def enable(self, number, event):
        self.ioctl(self.fd, 5, bytearray(struct.pack("=II128sIIQ", 152, number, event, 0, 0, 0)))

    def probe(self, number, symbol, name, fields):
        """@fields: kind, bits and name of each."""
        described = [struct.pack("=IIIIIIBBBBB3x96s96s", 224, 0, 0, 0, 0, 1, kind, bits, 0, 16, 0, field, b"")
                     for kind, bits, field in fields]
        array = ctypes.create_string_buffer(b"".join(described), 224 * len(fields))
        described = ctypes.create_string_buffer(
            struct.pack("=IIQ128s", 144, len(fields), ctypes.addressof(array), name), 144)
        self.ioctl(self.fd, 7, bytearray(struct.pack("=IIIIQQ128sQQQ", 184, number, 0, 0, 0, 0, symbol, 0, 0,
                                                     ctypes.addressof(described))))

    def switch(self, state):
        with mmap.mmap(self.ctl, self.ctl_bytes) as ctl:
            for ring in range(self.rings):
                struct.pack_into("=I", ctl, self.CONS + 4096 * ring + self.STATE, state)

    def close(self):
        for fd in self.fd, self.data, self.ctl:
            os.close(fd)


def refused(call, *error):
    try:
        call()
    except OSError as e:
        check(e.errno in error, f"{e}")
        return
    raise Failure("the request was not refused")


def text_folders():
    return set(os.listdir(f"{DEBUGFS}/ltt")) - {"active", "available", "control", "ltt-view", "stats"}


def mount_debugfs():
    if not os.path.ismount(DEBUGFS):
        run("busybox", "mount", "-t", "debugfs", "none", DEBUGFS)


def test_text_requests():
    """Names of traces that are no file names, or have one owner already; requests that are refused."""
    mount_debugfs()
    device = os.open("/dev/ltt", os.O_RDWR)
    check(text_folders() == set(), text_folders())
    odd = {b"a/../b": "a_.._b", b".": "_", b"..": "_.", b"active": "active-2", b"stats": "stats-2", b"control": "control-2", b"x y\n": "x_y_", b"same": "same",
           "\u00f6".encode() * 63: "\u00f6" * 63, b"z" * 127: "z" * 127}
    channels = [Requests(device, (name, i, b"c")) for i, name in enumerate(odd)]
    channels += [Requests(device, (b"same", 100 + i, b"c")) for i in range(2)]
    check(text_folders() == set(odd.values()) | {"same-2", "same-3"}, text_folders())
    for bad in (b"", 1, b"c"), (b"y" * 128, 1, b"c"), (b"y", 1, b"c" * 128):
        refused(lambda bad=bad: Requests(device, bad), errno.EINVAL)
    older = Requests(device, (b"older", 200, b"c"), size=56)
    refused(lambda: older.probe(1, UNLINK.encode(), b"two", [(1, 64, b"ip"), (1, 64, b"more")]), errno.EINVAL)
    refused(lambda: older.probe(1, UNLINK.encode(), b"narrow", [(1, 32, b"ip")]), errno.EINVAL)
    refused(lambda: older.probe(1, UNLINK.encode(), b"kind", [(3, 0, b"ip")]), errno.EINVAL)
    refused(lambda: older.probe(1, UNLINK.encode(), b"", [(1, 64, b"ip")]), errno.EINVAL)
    refused(lambda: older.probe(1, b"no_such_function", b"name", [(1, 64, b"ip")]), errno.ENOENT)
    for _ in range(3):
        older.probe(1, UNLINK.encode(), b"name", [(1, 64, b"ip")])
        older.ioctl(older.fd, 6, bytearray(struct.pack("=II128sIIQ", 152, 1, b"", 0, 0, 0)))
    second = Requests(device, (b"another name", 0, b"b"))
    check(text_folders() == set(odd.values()) | {"same-2", "same-3"}, text_folders())
    check(text_of("a_.._b") == [], "a text of nothing")
    mode = os.stat(f"{DEBUGFS}/ltt/a_.._b/text").st_mode
    check(mode & 0o777 == 0o400, oct(mode))
    for channel in channels:
        channel.close()
    check(text_folders() == {"a_.._b"}, text_folders())
    second.close()
    older.close()
    check(text_folders() == set(), text_folders())
    os.close(device)


def say(path, line):
    """One write() of a line. Return: its errno, or 0."""
    fd = os.open(path, os.O_WRONLY)
    try:
        done = os.write(fd, line)
        check(done == line.index(b"\n") + 1, f"{done} bytes of {line[:100]}")
        return 0
    except OSError as e:
        return e.errno
    finally:
        os.close(fd)


def said(path, *lines):
    for line in lines:
        check(not (error := say(path, line.encode() + b"\n")), f"{path}: {line}: {os.strerror(error)}")


def counts_of(name):
    """Of a trace in stats: records and losses of its channel, and of each rule."""
    with open(f"{DEBUGFS}/ltt/stats", encoding="utf-8") as f:
        text = f.read()
    number, *counts = re.search(rf"^channel (\d+) {name}/\S+ recorded (\d+) lost (\d+)$", text, re.M).groups()
    rules = re.findall(rf"^rule {number} (\S+) recorded (\d+) lost (\d+)$", text, re.M)
    return tuple(map(int, counts)), {rule: (int(n), int(lost)) for rule, n, lost in rules}


def complaints():
    return re.findall(r"ltt: control: .*", run("dmesg").stdout)


BAD_LINES = (
    (b"garbage\n", errno.EINVAL), (b"\n", errno.EINVAL), (b"create a\0b\n", errno.EINVAL),
    (b"create a", errno.EINVAL), (bytes(range(11, 256)) + b"\n", errno.EINVAL), (b"x" * 65536, errno.E2BIG),
    (b"create " + b"y" * 65536 + b"\n", errno.E2BIG), (b"create " + b"y" * 64 + b"\n", errno.EINVAL),
    (b"create a b\n", errno.EINVAL), (b"create a subbuf-size=5\n", errno.EINVAL),
    (b"create a num-subbuf=\n", errno.EINVAL), (b"create ../a\n", errno.EINVAL),
    (b"create a subbuf-size=1G num-subbuf=64\n", errno.ENOMEM), (b"start\n", errno.EINVAL),
    (b"start a b c d e f g h\n", errno.EINVAL), (b"destroy none\n", errno.ENOENT),
    (b"enable shell no:such\n", errno.ENOENT), (b"create shell\n", errno.EEXIST), (b"stop owned\n", errno.EPERM))


def two_writers(path, end):
    """Commands that meet those of another task for the same trace."""
    while time.monotonic() < end:
        for command in b"create", b"start", b"stop", b"destroy":
            error = say(path, command + b" both\n")
            check(error in (0, errno.EEXIST, errno.ENOENT), f"{command}: {error}")


def test_control_file():
    """A trace is made and controlled by lines of text, stats has its counts; bad lines do no harm."""
    mount_debugfs()
    control, before = f"{DEBUGFS}/ltt/control", len(complaints())
    modes = [os.stat(f"{DEBUGFS}/ltt/{name}").st_mode & 0o777 for name in ("control", "stats")]
    check(modes == [0o200, 0o400], modes)
    for path in control, "/dev/ltt":
        said(path, "create shell", "enable shell cpu_frequenc?", "start shell")
        emit()
        said(path, "stop shell", "disable shell power:cpu_frequency")
        check(len(text_of("shell")) == EMITTED and counts_of("shell") == ((EMITTED, 0), {}), counts_of("shell"))
        run("busybox", "rmmod", "ltt", status=1)
        said(path, "destroy shell")
        check(not text_folders(), text_folders())
    said(control, "create stats discard subbuf-size=4K num-subbuf=2", "enable stats power:cpu_frequency", "start stats")
    emit()
    whole, rules = counts_of("stats-2")
    check(sum(whole) == EMITTED and all(whole) and rules == {"power:cpu_frequency": whole}, f"{whole} {rules}")
    said("/dev/ltt", "destroy stats", "create shell")
    insmod(f"{WORK}/kmod/examples/ltt_example_private.ko", "name=owned")
    check(len(complaints()) == before, complaints())
    for line, error in BAD_LINES:
        for path in control, "/dev/ltt":
            check((got := say(path, line)) == error, f"{line[:80]}: {got}")
    check(len(complaints()) == before + 2 * len(BAD_LINES), complaints())
    check(text_folders() == {"shell", "owned"}, text_folders())
    run("busybox", "rmmod", "ltt_example_private")
    with open("/dev/shm/commands", "w", encoding="ascii") as f:
        f.write("destroy shell\ncreate shell\nenable shell sched_switch\ndestroy shell\n")
    run("sh", "-c", f"cat /dev/shm/commands >{control}")
    writers = [threading.Thread(target=two_writers, args=(path, time.monotonic() + 1)) for path in (control, "/dev/ltt")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    say(control, b"destroy both\n")
    check(not text_folders(), text_folders())
    out = begin("counted", ("-k", "cpu_frequency"))
    until(lambda: emit() or counts_of("counted")[0] != (0, 0), "the first records")
    whole, rules = counts_of("counted")
    check(rules == {"power:cpu_frequency": whole} and not whole[1], f"{whole} {rules}")
    finish("counted", out, whole[0])


def test_text_forms():
    """All forms of headers, host and clock of the kernel; an open file outlives its trace, and
    the module of its events; the tracer stays as long."""
    mount_debugfs()
    end_daemons()
    insmod(f"{WORK}/kmod/examples/ltt_example_provider.ko")
    device = os.open("/dev/ltt", os.O_RDWR)
    a, b = (Requests(device, (b"forms", 7, name)) for name in (b"a", b"b"))
    for number, event in (29, b"sched:sched_process_exec"), (30, b"sched:sched_process_exit"), (65535, b"power:cpu_frequency"):
        a.enable(number, event)
    b.enable(65536, b"example:job")
    b.probe(0xffffffff, UNLINK.encode(), b"remove it", [(1, 64, b"where from")])
    for channel in a, b:
        channel.switch(1)
    run("/bin/true")
    emit()
    write("/sys/module/ltt_example_provider/parameters/jobs", 40)
    run("busybox", "unlink", "/no/such", status=1)
    for channel in a, b:
        channel.switch(0)
    whole = text_of("forms")
    open_text = open(f"{DEBUGFS}/ltt/forms/text", "rb")  # noqa: SIM115
    for channel in a, b:
        channel.close()
    os.close(device)
    run("busybox", "rmmod", "ltt_example_provider")
    check(not os.path.exists(f"{DEBUGFS}/ltt/forms"), "the folder is left")
    run("busybox", "rmmod", "ltt", status=1)
    lines = open_text.read().decode().splitlines(keepends=True)
    check_same(lines, whole)
    open_text.close()
    run("busybox", "rmmod", "ltt")
    load_module()
    host = os.uname().nodename
    kinds = collections.Counter(re.match(rf"\[[\d:.]+\] \S+ {re.escape(host)} (.*?): {{ cpu_id", line)[1] for line in lines)
    check(kinds["cpu_frequency"] == EMITTED and kinds["job"] == 40 and kinds["remove it"] >= 1 and
          kinds["sched_process_exec"] and kinds["sched_process_exit"], kinds)
    check("{ where_from = 0xFFFFFFFF" in "".join(lines), "no probe")
    hour, minute, second = map(int, re.match(r"\[(\d+):(\d+):(\d+)", lines[-1]).groups())
    passed = (time.time() - (hour * 60 + minute) * 60 - second) % 86400
    check(passed < 100, f"{passed} s ago: {lines[-1]}")


def test_text_overwritten():
    """Records that were overwritten are left out, all others are whole: for each writer the last
    ones, without a gap."""
    mount_debugfs()
    device = os.open("/dev/ltt", os.O_RDWR)
    channel = Requests(device, (b"flown", 1, b"c"), overwrites=1, subbufs=(4, 4096))
    channel.enable(1, b"power:cpu_frequency")
    channel.enable(2, b"sched:sched_switch")
    channel.switch(1)
    fine = re.compile(r"\[(\d\d:\d\d:\d\d\.\d{9})\] .*: \{ cpu_id = \d+ \}, \{ .* \}\n$")
    done, reads = threading.Event(), []

    def read_on():
        while not done.is_set():
            matches = [fine.match(line) for line in text_of("flown")]
            times = [m and m[1] for m in matches]
            reads.append(len(times) if None not in times and times == sorted(times) else -1)

    threads = [threading.Thread(target=read_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        emit()
    done.set()
    for thread in threads:
        thread.join()
    check(min(reads) >= 0 and len(reads) > 10, f"torn lines or wrong order: {reads}")
    channel.switch(0)
    last = collections.defaultdict(list)
    for line in text_of("flown"):
        if m := re.search(r" cpu_frequency: .* state = (\d+), cpu_id = (\d+) ", line):
            last[int(m[2])].append(int(m[1]))
    check(len(last) >= 4 and sum(map(len, last.values())) > 400, last)
    for writer, states in last.items():
        check(states == list(range(1000 - len(states), 1000)), f"{writer}: {states}")
    channel.close()
    os.close(device)
    print(f"control: text_overwritten: {sum(map(len, last.values()))} lines, {len(reads)} reads before of up to {max(reads)}")


def write_pages(sizes):
    for size in sizes:
        write("/sys/module/ltt_example_provider/parameters/page", size)


def page_of(size):
    """The fields of example:page, as babeltrace2 has them."""
    data = ", ".join(f"[{i}] = 0x{i % 256:X}" for i in range(size))
    text = str(size) if size else ""
    return (f' size = {size}, _data_length = {size}, data = [{f" {data}" if size else ""} ], of = "a page", '
            f'_size_text_length = {len(text)}, size_text = "{text}" }}')


def test_bytes():
    """Fields of bytes, of each length; those that are too long are counted as lost; their filters."""
    module = f"{WORK}/kmod/examples/ltt_example_provider.ko"
    insmod(module)
    sizes, too_long = (0, 1, 5, 4000, 60000), (65535, 65536, 1 << 20)
    whole = filtered_session("whole", [("example:page",)])
    some = filtered_session("some", [("example:page", "--filter", 'size_text == "4*"')])
    page, = (p for p in ctl("list", "-k", "--fields")["result"]["points"] if p["name"] == "page")
    check([f["type"] for f in page["field_list"]] == ["integer", "sequence of integers", "string", "string"], page)
    for argument, why in ("--filter=data == 1", "'data' is an array"), ("--histogram=data", "no integer field 'data'"):
        said = ctl("enable-event", "-k", "-s", "some", "-c", "d", argument, "example:page", status=1)["error"]["text"]
        check(why in said, said)
    for name in "some", "whole":
        ctl("start", name)
    write_pages(sizes + too_long)
    run("busybox", "rmmod", "ltt_example_provider")
    run("busybox", "insmod", module, "mistake=7", status=22)
    for name, lost in ("some", 2), ("whole", 3):  # the filter is applied to the shortest of them
        ended = ctl("stop", name, status=6)["result"]["sessions"][0]["totals"]
        check(ended["lost_by_cause"]["too_large"] == ended["lost"] == lost, f"{name}: {ended}")
        ctl("destroy", name)
    check([f[1] for f in read_fields(some)] == [page_of(4000)], read_fields(some))
    found = [f[1] for f in read_fields(whole)]
    check(found == [page_of(size) for size in sizes], [f[:200] for f in found])
    shown = run("lttctl", "view", whole).stdout.splitlines()
    check([line.endswith(f"{{{page_of(size)}") for line, size in zip(shown, sizes)] == 5 * [True], shown[2])


TRACEFS = "/sys/kernel/tracing"


def tracefs(**values):
    """Write files of tracefs in this order; __ stands for a slash."""
    for name, value in values.items():
        write(f"{TRACEFS}/{name.replace('__', '/')}", value)


@contextlib.contextmanager
def ftrace_as_client(name):
    """A session of all that ftrace exports; afterwards ftrace is as it was, and the module has gone."""
    if not os.path.ismount(TRACEFS):
        run("busybox", "mount", "-t", "tracefs", "tracefs", TRACEFS)
    insmod(f"{WORK}/kmod/examples/ltt_example_ftrace.ko")
    tracefs(tracing_on=0, buffer_size_kb=8192, trace="")
    try:
        yield begin(name, ("-k", "ftrace:*"))
    finally:
        tracefs(tracing_on=0, events__enable=0, current_tracer="nop", set_ftrace_filter="", kprobe_events="",
                buffer_size_kb=1024, trace="")
        tracefs(tracing_on=1)
        run("busybox", "rmmod", "ltt_example_ftrace")


class PerfCounter:
    """A perf event, counted on all CPUs; only the numbers of a tracepoint's id are used."""

    def __init__(self, number):
        attr = ctypes.create_string_buffer(struct.pack("=IIQ", 2, 64, number), 64)
        call = ctypes.CDLL(None, use_errno=True).syscall
        self.fds = [call(298, ctypes.byref(attr), -1, cpu, -1, 0) for cpu in range(os.cpu_count())]
        check(min(self.fds) >= 0, os.strerror(ctypes.get_errno()))

    def count(self):
        return sum(struct.unpack("=Q", os.read(fd, 8))[0] for fd in self.fds)

    def close(self):
        for fd in self.fds:
            os.close(fd)


JOB_FIELDS = """	field:u32 id;	offset:8;	size:4;	signed:0;
	field:s64 left;	offset:12;	size:8;	signed:1;
	field:u8 priority;	offset:20;	size:1;	signed:0;
	field:__data_loc char[] what;	offset:21;	size:4;	signed:1;
	field:__data_loc char[] owner;	offset:25;	size:4;	signed:1;
"""


def switch_events(done, system):
    """Switch a system of ftrace's events, which may come and go, and list all, again and again."""
    while not done.is_set():
        for value in "1", "0":
            with contextlib.suppress(OSError), open(f"{TRACEFS}/events/{system}/enable", "w", encoding="ascii") as f:
                f.write(value)
            with open(f"{TRACEFS}/available_events", encoding="ascii") as f:
                check(f.read().endswith("\n"), "available_events")


def test_traced():
    """ftrace and perf have the events of a provider while it is registered; listeners stay theirs."""
    if not os.path.ismount(TRACEFS):
        run("busybox", "mount", "-t", "tracefs", "tracefs", TRACEFS)
    mount_debugfs()
    folder, other = f"{TRACEFS}/events/ltt", f"{TRACEFS}/instances/other"
    parameters = "/sys/module/ltt_example_provider/parameters"
    provider = f"{WORK}/kmod/examples/ltt_example_provider.ko"
    insmod(provider)
    with open(f"{folder}/example_job/format", encoding="ascii") as f:
        text = f.read()
    check(JOB_FIELDS in text and '"id=%llu left=%lld' in text and "__get_str(owner)" in text, text)
    with open(f"{DEBUGFS}/ltt/available", encoding="utf-8") as f:
        check(len(re.findall(r"^.*\b(?:example_)?job$", f.read(), re.M)) == 1, "the event is listed twice")
    write(f"{parameters}/jobs", "5")  # nothing listens
    tracefs(trace="", events__ltt__enable=1, events__ltt__example_job__filter="id != 1")
    write(f"{parameters}/jobs", "3")
    write(f"{parameters}/page", "5")
    write(f"{parameters}/page", "50000")  # larger than a record of ftrace
    with open(f"{TRACEFS}/trace", encoding="utf-8") as f:
        lines = re.findall(r"^ .*: (example_\w+: .*)$", f.read(), re.M)
    check(lines == ["example_job: id=0 left=0 priority=0 what=printing owner=(null)",
                    "example_job: id=2 left=-10 priority=2 what=printing owner=(null)", "example_done: jobs=3",
                    "example_page: size=5 data=0001020304 of=a page size_text=5"], lines)
    run("busybox", "rmmod", "ltt_example_provider")
    check(not os.path.exists(folder), "the events are left")
    insmod(provider)
    with open(f"{folder}/example_job/id", encoding="ascii") as f:
        counter = PerfCounter(int(f.read()))
    write(f"{parameters}/jobs", "3")
    run("busybox", "rmmod", "ltt_example_provider")
    run("busybox", "rmmod", "ltt", status=1)
    insmod(provider)
    write(f"{parameters}/jobs", "4")
    check(counter.count() == 7, counter.count())
    os.mkdir(other)
    write(f"{other}/events/ltt/example_done/enable", "1")
    run("busybox", "rmmod", "ltt_example_provider")
    check(sorted(n for n in os.listdir(folder) if "_" in n) == ["example_done", "example_job"], os.listdir(folder))
    counter.close()
    write(f"{other}/events/ltt/example_done/enable", "0")
    until(lambda: not os.path.exists(folder), "events without a listener to go")
    os.rmdir(other)
    done = threading.Event()
    switches = [threading.Thread(target=switch_events, args=(done, system)) for system in ("ltt", "signal")]
    for thread in switches:
        thread.start()
    for _ in range(8):
        insmod(provider)
        write(f"{parameters}/jobs", "20")
        run("busybox", "rmmod", "ltt_example_provider")
    done.set()
    for thread in switches:
        thread.join()
    check(not os.path.exists(folder), "the events are left")
    if any(map(pids, DAEMONS)):  # of a test before, with the device open
        end_daemons()
    for module in "ltt", "ltt_instr":
        run("busybox", "rmmod", module)
    load_module()


def ftrace_names():
    """{id: SYSTEM:NAME}, but of events that users define"""
    found = {}
    for path in glob.glob(f"{TRACEFS}/events/*/*/id"):
        system, name = path.split("/")[-3:-1]
        with open(path) as f:
            found[int(f.read())] = "(unknown)" if system == "kprobes" else f"{system}:{name}"
    return found


def ftrace_records(cpu, ids):
    """The records in ftrace's buffer of a CPU, as client_records() has them."""
    found = []
    fd = os.open(f"{TRACEFS}/per_cpu/cpu{cpu}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError), os.fdopen(fd, "rb", buffering=0) as f:
        while page := f.read(4096):
            for data in kmodcheck.ftrace_page_events(page):
                kind, flags, count, pid = struct.unpack_from("=HBBi", data)
                common = {"flags": flags, "preempt_count": count, "pid": pid}
                if kind == 1:
                    ip, parent = struct.unpack_from("QQ", data, 8)
                    found.append(("function", {**common, "ip": ip, "parent_ip": parent}))
                elif kind == 5:
                    text = data[16:].split(b"\0")[0].decode().removesuffix("\n")
                    found.append(("print", {**common, "ip": struct.unpack_from("Q", data, 8)[0], "text": text}))
                elif kind in ids:
                    found.append(("event", {**common, "type": kind, "name": ids[kind], "record": data}))
    return found


def client_records(path):
    """{CPU: [(event, {field: value})]} of a session of ltt_example_ftrace. (babeltrace2 prints an empty
    text as that of an earlier event.)"""
    found = {}
    for name, fields, values in read_fields(path, "lttctl", "view", "-t"):
        cpu = values.pop("cpu_id")
        if name == "event":
            values["record"] = bytes(int(b, 16) for b in re.findall(r"\[\d+\] = (\w+)", fields))
        for length in "_record_length", "_text_length":
            values.pop(length, None)
        if "text" in values:
            values["text"] = values["text"].encode().decode("unicode_escape")
        found.setdefault(cpu, []).append((name, values))
    return found


def by_context(records):
    """Apart: those of tasks, softirqs, interrupts. ftrace has the order of their begin, a client that
    of their end, so an interrupt within a record turns two round."""
    return {flags: [r for r in records if r[1]["flags"] & 0x58 == flags] for flags in (0, 0x10, 8, 0x18, 0x40)}


def same_records(ours, theirs, cpu):
    check(len(ours) == len(theirs), f"CPU {cpu}: {len(ours)} records, ftrace has {len(theirs)}")
    turned = sum(a != b for a, b in zip(ours, theirs))
    mine, others = by_context(ours), by_context(theirs)
    for flags, records in others.items():
        for i, (a, b) in enumerate(zip(mine[flags], records)):
            check(a == b, f"CPU {cpu}, context {flags:#x}, record {i} of {len(records)}: {a}, ftrace has {b}")
        check(len(mine[flags]) == len(records), f"CPU {cpu}, context {flags:#x}")
    return turned


def ftrace_work():
    """Events of the kernel, a module that comes, and a user; functions; markers."""
    insmod(f"{WORK}/kmod/examples/ltt_example_marker.ko")
    tracefs(kprobe_events=f"p:gone {UNLINK}", events__kprobes__enable=1, events__ltt_example__enable=1,
            events__sched__enable=1, events__kmem__kmem_cache_free__enable=1, events__irq__enable=1,
            set_ftrace_filter=f"vfs_read\nvfs_write\n{UNLINK}\n", current_tracer="function", tracing_on=1)
    write("/sys/module/ltt_example_marker/parameters/steps", 100)
    for text in "a", "frame 12\n", "\n", "two\nlines", "x" * 1000, *(f"marker {i}" for i in range(200)):
        tracefs(trace_marker=text)
    tracefs(trace_marker_raw="none is exported")
    for i in range(100):
        write("/dev/shm/gone", i)
        os.remove("/dev/shm/gone")
    for _ in range(5):
        run("/bin/true")
    tracefs(tracing_on=0)


def test_ftrace():
    """ftrace as a client: all records of its own buffer, in their order on each CPU."""
    with ftrace_as_client("ftrace") as out:
        ftrace_work()
        ids = ftrace_names()
        check(ctl("list", "ftrace")["result"]["channels"][0]["name"] == "ftrace", "the channel of the module")
        theirs = {cpu: ftrace_records(cpu, ids) for cpu in range(os.cpu_count())}
        tracefs(events__enable=0)
        run("busybox", "rmmod", "ltt_example_marker")  # (which empties ftrace's buffers)
        finish("ftrace", out)
    ours = client_records(out)
    check(sum(map(len, ours.values())) == len(names(out)), "records without a CPU")
    turned = sum(same_records(ours[cpu], theirs[cpu], cpu) for cpu in theirs)
    counts = {}
    for name, values in sum(ours.values(), []):
        kind = values.get("name", name)
        counts[kind] = counts.get(kind, 0) + 1
    print(f"control: ftrace: {sum(counts.values())} records as in ftrace, {turned} turned round by interrupts: {counts}")
    check(counts["print"] == 205 and counts["(unknown)"] >= 100 and counts["ltt_example:ltt_example_step"] == 100 and
          counts["function"] > 300, counts)


def ftrace_written():
    """Records that ftrace wrote into its buffers, those overwritten included."""
    written = 0
    for path in glob.glob(f"{TRACEFS}/per_cpu/cpu*/stats"):
        with open(path) as f:
            written += sum(int(n) for n in re.findall(r"^(?:entries|overrun|read events): (\d+)", f.read(), re.M))
    return written


def test_ftrace_functions():
    """All functions of the kernel, those that recording calls, too: each call is recorded or counted
    as lost; and the module goes while they are traced."""
    module = f"{WORK}/kmod/examples/ltt_example_ftrace.ko"
    with ftrace_as_client("functions") as out:
        tracefs(current_tracer="function", events__sched__enable=1, events__irq__enable=1, tracing_on=1)
        for _ in range(5):
            run("/bin/true")
            tracefs(trace_marker="functions")
        tracefs(tracing_on=0)
        with open("/sys/module/ltt_example_ftrace/parameters/lost") as f:
            lost = int(f.read())
        done = subprocess.run(["lttctl", "--json", "stop"], capture_output=True, text=True, check=False)
        ended = json.loads(done.stdout)["result"]["sessions"][0]["totals"]
        print(f"control: ftrace_functions: {ended['recorded']} recorded, lost {ended['lost_by_cause']}")
        check(ended["recorded"] + ended["lost"] == ftrace_written(), f"{ended}, ftrace has {ftrace_written()}")
        check(ended["lost_by_cause"]["buffer_busy"] == lost and ended["recorded"] > 100000, f"{ended}, {lost} lost by the module")
        run("lttctl", "verify", out, status=6 if ended["lost"] else 0)
        ctl("start")
        tracefs(tracing_on=1)
        for _ in range(3):
            run("busybox", "rmmod", "ltt_example_ftrace")
            insmod(module)
        tracefs(tracing_on=0)
        done = subprocess.run(["lttctl", "destroy", "functions"], check=False)
        check(done.returncode in (0, 6), f"destroy: {done.returncode}")


def heard(program, count):
    return int(run(program, count).stdout)


def counted():
    """{(event, field): result of stats}"""
    return {(c["event"], c.get("field")): c for c in ctl("stats", status=None)["result"]["counted"]}


def sizes(histogram):
    return [(b["first"], b["last"], b["count"]) for b in histogram["buckets"]]


def test_stats():
    """Each event of the tracked processes is counted, by size; across stops and a daemon's death."""
    event, call = "power:cpu_frequency", "syscall_entry_getpriority"
    ctl("create", "stats", "-o", "/dev/shm/stats")
    check(counted() == {}, "something is counted")
    for bad, sentence in (("stat", "did you mean 'state'"), ("nonsense", "has no integer field")):
        why = ctl("enable-event", "-k", f"--histogram={bad}", event, status=1)["error"]["text"]
        check(sentence in why, why)
    check("this kernel has no event" in ctl("enable-event", "-k", "--count", "nonsense", status=1)["error"]["text"], "")
    ctl("enable-event", "-k", "--count", "cpu_freq*y,sched_switch")
    ctl("enable-event", "-k", "--histogram=cpu_id", event)
    ctl("enable-event", "-k", "--histogram=state", event)
    ctl("enable-event", "-k", "--count", "--syscall", "getpriority")
    rules = {(r["kind"], r["pattern"], r.get("location")): r["nr_points"]
             for r in ctl("status")["result"]["channels"][0]["rules"]}
    check(rules.get(("histogram", event, "state")) == 1 and rules.get(("count", call, None)) == 1, rules)
    ctl("start")
    emit()
    seen = counted()
    check(seen[event, None]["count"] == EMITTED and seen["sched:sched_switch", None]["count"] > 0, seen)
    check({c["domain"] for c in seen.values()} == {"kernel"}, seen)
    by_cpu, by_state = seen[event, "cpu_id"], seen[event, "state"]
    # each of four writers on two CPUs: it counts to 1000; its id is 4 * CPU + number
    check(sizes(by_cpu) == [(0, 0, 1000), (1, 1, 1000), (2, 3, 2000), (4, 7, 4000)], by_cpu)
    check(sizes(by_state) == [(0, 0, 8)] + [(2 ** k, 2 ** (k + 1) - 1, 8 * (min(2 ** (k + 1), 1000) - 2 ** k))
                                            for k in range(10)], by_state)
    check((by_cpu["sum"], by_state["sum"], by_state["count"]) == (28000, 8 * 499500, EMITTED), by_cpu)
    check(by_state["missed"] == by_state["negative"] == 0, by_state)
    ctl("track", "-k", "--uid=4711")
    hit(500, 4711)
    hit(100)
    check(counted()[call, None]["count"] == 500, counted())
    ctl("untrack", "-k", "--uid", "--all")
    ctl("track", "-k", "--uid", "--all")
    ctl("stop")
    until(lambda: not any(c["counting"] for c in counted().values()), "counting to end")
    emit()
    check(counted()[event, None]["count"] == EMITTED, "counted while stopped")
    ctl("start")
    emit()
    ctl("disable-event", "-k", "cpu_freq*y")
    until(lambda: not counted()[event, None]["counting"], "one rule to end")
    emit()
    check(counted()[event, None]["count"] == 2 * EMITTED, counted())
    check(counted()[event, "cpu_id"]["sum"] == 3 * 28000, counted())
    kill("ltt-sessiond")
    ctl("status")
    until(lambda: (event, "cpu_id") in counted() and counted()[event, "cpu_id"]["counting"], "it to be counted again")
    emit()
    check(counted()[event, "cpu_id"]["count"] == EMITTED, counted())
    text = run("lttctl", "stats", status=6).stdout
    check("cpu_id, 3 on average" in text and "at least" in text, text)
    check(ctl("status")["result"]["totals"]["recorded"] == 0, "it was recorded")
    ctl("destroy", "stats")


def watched(path):
    """`lttctl watch` from now on. Return: reads its notifications so far."""
    watch = subprocess.Popen(["lttctl", "watch", "--json"], stdout=open(path, "w"))
    time.sleep(1)

    def read():
        time.sleep(1)
        return [json.loads(line) for line in open(path) if line.endswith("\n")]
    read.process = watch
    return read


def kernel_triggers():
    """By name. Each firing was delivered or suppressed."""
    found = {t["trigger"]: t for t in ctl("list-triggers")["result"]["triggers"]}
    for t in found.values():
        check(t["fired"] == t["delivered"] + t["suppressed"], t)
    return found


def fired(name, number):
    """Wait for so many firings; there are not more."""
    until(lambda: kernel_triggers()[name]["fired"] >= number, f"{number} firings of {name}")
    found = kernel_triggers()[name]
    check(found["fired"] == number, f"{found}, not {number}")
    return found


def test_triggers():
    """Events of the kernel fire: filters, captures, actions, policies, counts, system calls; bad requests."""
    event = "power:cpu_frequency"
    for bad, sentence in ((("nonsense",), "this kernel has no event 'nonsense'"),
                          (("sched_swich",), "did you mean 'sched_switch'?"),
                          ((event, "--filter", "nonsense == 1"), "nonsense"),
                          ((event, "--filter", "state =="), "column"),
                          ((event, "--capture", "stat"), "did you mean 'state'"),
                          (("sched_switch..sched_switch by prev > 5ms",), "no integer or text field 'prev'"),
                          (("sched_switch..nonsense > 5ms",), "this kernel has no event 'nonsense'")):
        why = ctl("on", "-k", *bad, status=None)["error"]["text"]
        check(sentence in why, f"{bad}: {why}")
    notes = watched("/dev/shm/notes")
    ctl("on", "-k", event, "-n", "some", "--filter", "state == 7 && cpu_id < 4", "--capture", "state,cpu_id",
        "--notify", "--exec", 'echo "$LTT_TRIGGER" >>/dev/shm/ran')
    emit()
    fired("some", 4)
    seen = [n for n in notes() if n["trigger"] == "some" and n["notification"] == "fired"]
    check(sorted(n["captured"]["cpu_id"] for n in seen) == [0, 1, 2, 3] and
          {(n["captured"]["state"], n["event"]) for n in seen} == {(7, "cpu_frequency")}, seen)
    ran = kernel_triggers()["some"]["actions"][0]
    until(lambda: open("/dev/shm/ran").read().split() == ["some"] * ran["ran"], f"commands: {ran}")
    check(ran["ran"] + ran["joined"] == 4, ran)
    ctl("on", "-k", event, "-n", "all")
    ctl("on", "-k", "cpu_frequenc*y", "-n", "limited", "--at-most", "3/h")
    ctl("on", "-k", f"{event} > 100/s", "-n", "rate")
    ctl("on", "-k", f"{event} silent for 2s", "-n", "silence")
    ctl("add-trigger", "-n", "once", "--condition=event-rule-matches", "--type=kernel", f"--name={event}",
        "--action=notify", "--rate-policy=once-after:5")
    shown = kernel_triggers()
    check({(t["matching"], t["domain"], t.get("problem")) for t in shown.values()} == {(1, "kernel", None)}, shown)
    emit()
    check(fired("all", EMITTED)["delivered"] == EMITTED, "some were suppressed")
    check(fired("limited", EMITTED)["delivered"] == 3, "a limit")
    check(fired("once", EMITTED)["delivered"] == 1, "a policy")
    until(lambda: kernel_triggers()["rate"]["fired"] == 1, "a rate")
    until(lambda: kernel_triggers()["silence"]["fired"] > 0, "silence")
    ctl("remove-trigger", *kernel_triggers())
    emit()
    check("There are no triggers" in run("lttctl", "list-triggers").stdout, "a trigger")

    ctl("on", "-k", "syscall_entry_openat", "-n", "call", "--filter", 'filename == "/no/such/file"', "--capture",
        "filename,flags,mode")
    for _ in range(3):
        with contextlib.suppress(OSError):
            os.open("/no/such/file", os.O_RDONLY)
        with contextlib.suppress(OSError):
            os.open("/no/other/file", os.O_RDONLY)
    fired("call", 3)
    seen = [n for n in notes() if n["trigger"] == "call"]
    check(len(seen) == 3 and all(n["captured"]["filename"] == "/no/such/file" and n["pid"] == os.getpid()
                                 for n in seen), seen)
    kill("ltt-sessiond")
    check(run("busybox", "rmmod", "ltt", status=None).returncode != 0, "ltt.ko was unloaded while a trigger has events")
    ctl("remove-trigger", "call")
    for sides, number in ((":entry", 5), (":exit", 5), ("", 10)):
        ctl("add-trigger", "-n", "calls", "--condition=event-rule-matches", f"--type=syscall{sides}",
            "--name=getpriority", "--action=notify")
        hit(5)
        fired("calls", number)
        ctl("remove-trigger", "calls")
    text = run("lttctl", "on", "-k", "cpu_idle > 1000000/s", "-n", "text").stdout
    check("of the kernel" in text + run("lttctl", "list-triggers").stdout, text)
    ctl("remove-trigger", "text")
    notes.process.terminate()
    notes.process.wait()
    end_daemons()
    run("busybox", "rmmod", "ltt")


def waiting(program="pairs"):
    """A program that waits, and that the session daemon knows."""
    before = run("lttctl", "list", "-u").stdout.count("pairs:begin")
    app = subprocess.Popen([f"{BUILD}/prog/{program}", "1", "10", "20", "0", "wait"], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL)
    until(lambda: run("lttctl", "list", "-u").stdout.count("pairs:begin") > before, "the program")
    return app


def test_triggers_modules():
    """Patterns fire for events of a module that comes later, also when it comes again."""
    module, jobs = f"{WORK}/kmod/examples/ltt_example_provider.ko", "/sys/module/ltt_example_provider/parameters/jobs"
    ctl("on", "-k", "example:*", "-n", "all")
    why = ctl("on", "-k", "example:page", status=1)["error"]["text"]
    check("use the pattern 'example:page*'" in why, why)
    ctl("on", "-k", "example:page*", "-n", "named")  # as the message has it
    ctl("on", "-k", "*ample:jo* > 1000000/s", "-n", "rate")
    check("waits for its event" in kernel_triggers()["all"]["problem"], kernel_triggers())
    for turn in range(1, 4):
        insmod(module)
        time.sleep(0.5)  # the event of the module arrives
        with open(jobs, "w") as f:
            f.write("100")
        until(lambda: kernel_triggers()["all"]["fired"] >= 101 * turn, f"{101 * turn} firings: {kernel_triggers()['all']}")
        check(kernel_triggers()["all"]["fired"] == 101 * turn and kernel_triggers()["all"]["matching"] == 3, kernel_triggers())
        check(kernel_triggers()["named"]["matching"] == 1 and not kernel_triggers()["named"]["fired"], kernel_triggers())
        if turn == 2:
            kill("ltt-sessiond")
            ctl("status")
        run("busybox", "rmmod", "ltt_example_provider")
    ctl("remove-trigger", *kernel_triggers())


def test_triggers_captures():
    """Elements of arrays and sequences, and contexts; also of a daemon that takes over, and of places."""
    parameters = "/sys/module/ltt_example_provider/parameters"
    insmod(f"{WORK}/kmod/examples/ltt_example_provider.ko")
    for bad, sentence in (("$ctx.procnam", "did you mean 'procname'?"), ("$ctx.callstack-kernel", "no stacks"),
                          ("size[1]", "no array or sequence field 'size'"), ("$app.web:id", "contexts of applications"),
                          ("data[", "a capture is FIELD"), ("$ctx.perf:cpu:cycles", "no counters")):
        why = ctl("on", "-k", "example:page", "--capture", bad, status=None)["error"]["text"]
        check(sentence in why, f"{bad}: {why}")
    notes = watched("/dev/shm/notes")
    contexts = "$ctx.pid,$ctx.tid,$ctx.procname,$ctx.uid,$ctx.hostname,$ctx.nice"
    ctl("on", "-k", "example:page", "-n", "page", "--capture", f"size,data[0],data[5],data[255],data[300],{contexts}")
    ctl("on", "-k", "example:done", "-n", "alone", "--capture", "$ctx.pid")
    ctl("on", "-k", "example:page..example:done > 1ns", "-n", "pair", "--capture", "jobs,$ctx.procname")
    ctl("on", "-k", "sched_switch", "-n", "switch", "--filter", f"prev_pid == {os.getpid()}", "--capture",
        "prev_comm[0],prev_comm[15],prev_comm[16]")
    ctl("on", "-k", "--probe=ksys_sync", "-n", "place", "--capture=$ctx.pid,ip", "synced")
    for turn in 1, 2:
        for name, text in ("page", "300"), ("jobs", "2"):
            with open(f"{parameters}/{name}", "w") as f:
                f.write(text)
        os.sync()
        fired("page", turn), fired("pair", turn), fired("alone", turn), fired("place", turn)
        if turn == 1:
            kill("ltt-sessiond")
            ctl("status")
            until(lambda: kernel_triggers()["page"]["matching"] == 1, "the triggers")
    seen = collections.defaultdict(list)
    for note in notes():
        if note["notification"] == "fired":
            seen[note["trigger"]].append(note["captured"])
    mine = {"$ctx.pid": os.getpid(), "$ctx.tid": os.getpid(), "$ctx.procname": "python3", "$ctx.uid": 0,
            "$ctx.hostname": os.uname().nodename, "$ctx.nice": os.getpriority(os.PRIO_PROCESS, 0)}
    for captured in seen["page"]:
        known = {name: value for name, value in captured.items() if value is not None}
        check(known == {"size": 300, "data[0]": 0, "data[5]": 5, "data[255]": 255, **mine}, captured)
    check(seen["alone"] and all(c == {"$ctx.pid": os.getpid()} for c in seen["alone"]), seen["alone"])
    check(seen["pair"] and all(c == {"jobs": 2, "$ctx.procname": "python3"} for c in seen["pair"]), seen["pair"])
    check(seen["place"] and all(c["$ctx.pid"] == os.getpid() and c["ip"] for c in seen["place"]), seen["place"])
    check(seen["switch"] and all({n: v for n, v in c.items() if v is not None} == {"prev_comm[0]": ord("p"), "prev_comm[15]": 0}
                                 for c in seen["switch"]), seen["switch"])
    ctl("remove-trigger", *kernel_triggers())
    run("busybox", "rmmod", "ltt_example_provider")
    notes.process.terminate()
    notes.process.wait()
    end_daemons()


def test_triggers_ends():
    """Programs that a signal ends, also where the kernel does not have the status of other processes."""
    notes = watched("/dev/shm/notes")
    first = waiting()
    ctl("on", "program pairs ends by SEGV", "-n", "crash")
    ctl("on", "program pairs ends by any", "-n", "any")
    ctl("on", "program other ends by any", "-n", "other")
    all_triggers = lambda: {t["trigger"]: t for t in ctl("list-triggers")["result"]["triggers"]}
    fired_all = lambda: [all_triggers()[name]["fired"] for name in ("crash", "any", "other")]
    check(all_triggers()["crash"]["matching"] == 1, all_triggers())
    for _ in range(50):  # of other programs
        subprocess.run(["sh", "-c", "kill -SEGV $$"], check=False)
    first.send_signal(signal.SIGSEGV)
    first.wait()
    until(lambda: fired_all() == [1, 1, 0], "the first end")
    seen = [n for n in notes() if n["trigger"] == "crash"]
    check([(n["pid"], n["process"], n["event"], n["value"]) for n in seen] == [(first.pid, "pairs", "SEGV", 11)], seen)
    by_itself = waiting()
    by_itself.communicate(b"\n")
    second = waiting()
    kill("ltt-sessiond")
    until(lambda: all_triggers()["any"]["matching"] == 1, "the program to connect again")
    second.kill()
    second.wait()
    until(lambda: fired_all() == [1, 2, 0], "the end by KILL")
    time.sleep(1.5)
    check(fired_all() == [1, 2, 0], fired_all())
    netlink = lambda: open("/proc/net/netlink").read().count(" 11 ")
    mine = netlink()
    ctl("remove-trigger", "crash", "any", "other")
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 15):
        check(netlink() == mine - 1, f"{mine} sockets for process events before, {netlink()} after")
    notes.process.terminate()
    notes.process.wait()
    end_daemons()


def test_triggers_places():
    """Places in the kernel and in programs fire, with their values; also for a daemon that takes over."""
    for bad, sentence in ((("--probe=nonsense", "n"), "has no such symbol"), (("--fetch=%ax", "n"), "at a place"),
                          (("--probe=ksys_sync+999999", "n"), "has"), (("--function=nonsense", "n"), "no such symbol"),
                          (("--userspace-probe=/bin/none:main", "n"), "/bin/none"),
                          (("--probe=ksys_sync", "--capture=pi", "n"), "did you mean 'ip'"),
                          (("--probe=ksys_sync", "--filter", "nonsense == 1", "n"), "nonsense")):
        why = ctl("on", "-k", *bad, status=None)["error"]["text"]
        check(sentence in why, f"{bad}: {why}")
    notes = watched("/dev/shm/notes")
    ctl("on", "-k", "--probe=ksys_sync", "--fetch=comm=$comm:string", "--capture=comm,ip", "-n", "probe", "synced")
    ctl("on", "-k", "--function=ksys_sync", "--filter", "ip != 0", "-n", "function", "sync")
    ctl("on", "-k", f"--userspace-probe={WORK}/hit:main", "-n", "program", "started")
    ctl("on", "-k", "--probe=ksys_sync", "-n", "rate", "synced > 1000000/s")
    ctl("add-trigger", "-n", "lttng", "--condition=event-rule-matches", "--type=kernel:kprobe", "--location=ksys_sync",
        "--event-name=other", "--action=notify")
    shown = kernel_triggers()
    check({n: (t["matching"], t.get("problem")) for n, t in shown.items()} ==
          {"probe": (1, None), "function": (2, None), "program": (1, None), "rate": (1, None), "lttng": (1, None)}, shown)
    check("synced at ksys_sync of the kernel" in run("lttctl", "list-triggers").stdout, "its text")
    for n in 1, 2:
        os.sync()
        hit(1)
        for name, number in ("probe", n), ("function", 2 * n), ("program", n), ("lttng", n):
            fired(name, number)
        if n == 1:
            kill("ltt-sessiond")
    seen = notes()
    check({n["captured"]["comm"] for n in seen if n["trigger"] == "probe"} == {"python3"} and
          {n["event"] for n in seen} == {"synced", "sync_entry", "sync_exit", "started", "other"}, seen)
    ctl("remove-trigger", *kernel_triggers())
    notes.process.terminate()
    notes.process.wait()


def test_triggers_pairs():
    """Pairs of events that take too long, by the task, by a number and by a text; also for a daemon that takes over."""
    event, sleep = "power:cpu_frequency", "clock_nanosleep"
    notes = watched("/dev/shm/notes")
    ctl("on", "-k", f"syscall_entry_{sleep}..syscall_exit_{sleep} > 3s", "-n", "task", "--capture=ret")
    ctl("on", "-k", f"syscall_entry_{sleep}..syscall_exit_{sleep} > 3s", "-n", "none", "--filter", "which_clock == 77")
    ctl("on", "-k", f"{event}..{event} by cpu_id > 3s", "-n", "number", "--capture=cpu_id")
    ctl("on", "-k", "sched_process_exec..sched_process_exec by filename > 3s", "-n", "text", "--filter",
        'filename == "/bin/true"', "--capture=filename")
    ctl("on", "-k", "sched_process_fork..sched_process_exec by child_pid > 1h", "-n", "other", status=1)
    check({t["matching"] for t in kernel_triggers().values()} == {2}, kernel_triggers())
    threads = [threading.Thread(target=time.sleep, args=(seconds,)) for seconds in (0.1, 4, 5)]
    for thread in threads:
        thread.start()
    emit()
    run("/bin/true")
    time.sleep(4)
    run("/bin/true")
    emit()
    for thread in threads:
        thread.join()
    until(lambda: kernel_triggers()["task"]["fired"] >= 3, "the threads that slept")
    fired("number", 8)
    fired("none", 0)
    fired("text", 1)
    seen = notes()
    slow = [n for n in seen if n["trigger"] == "task"]
    check(all(n["duration_ns"] > 3e9 and n["captured"]["ret"] == 0 for n in slow), slow)
    check(sorted(n["captured"]["cpu_id"] for n in seen if n["trigger"] == "number") == list(range(8)), seen)
    check({(t["evicted"], t["unread"]) for t in kernel_triggers().values()} == {(0, 0)}, kernel_triggers())
    kill("ltt-sessiond")
    time.sleep(4)
    emit()
    fired("number", 16)
    ctl("remove-trigger", *kernel_triggers())
    notes.process.terminate()
    notes.process.wait()


def test_triggers_storm():
    """A million firings, counted to the last; a trigger that is removed meanwhile, and the module stays."""
    event = "power:cpu_frequency"
    ctl("on", "-k", event, "-n", "storm", "--capture=state")
    ctl("on", "-k", event, "-n", "gone")
    began = time.monotonic()
    storm = threading.Thread(target=emit, args=(125000,))
    storm.start()
    until(lambda: kernel_triggers()["storm"]["fired"] > 1000, "the storm")
    ctl("remove-trigger", "gone")
    check(run("busybox", "rmmod", "ltt", status=None).returncode != 0, "ltt.ko was unloaded under fire")
    storm.join()
    found = fired("storm", 1000000)
    print(f"a million firings in {time.monotonic() - began:.1f} s, {found['unrecorded']} without a record")
    ctl("remove-trigger", "storm")


def test_triggers_killed():
    """The daemon is killed while events fire: each is counted once, also those while there was none."""
    event = "power:cpu_frequency"
    ctl("on", "-k", event, "-n", "killed", "--capture=state")
    ctl("on", "-k", event, "-n", "filtered", "--filter", "state < 10")
    storm = threading.Thread(target=emit, args=(20000,))
    storm.start()
    for n in range(5):
        until(lambda n=n: kernel_triggers()["killed"]["fired"] > 5000 * n, "the storm")
        kill("ltt-sessiond")
    storm.join()
    fired("killed", 8 * 20000)
    fired("filtered", 80)
    kill("ltt-sessiond")
    emit()
    fired("killed", 8 * 21000)
    fired("filtered", 160)
    ctl("remove-trigger", "killed")
    kill("ltt-sessiond")
    emit()
    fired("filtered", 240)
    time.sleep(1)  # until the counts are saved
    kill(*DAEMONS)
    ctl("status", status=None)
    until(lambda: kernel_triggers()["filtered"].get("problem") is None, "the trigger")
    emit()
    fired("filtered", 320)
    ctl("remove-trigger", "filtered")
    end_daemons()


def wakeups():
    """How often the session daemon wakes up in some seconds."""
    path = f"/proc/{pids('ltt-sessiond')[0]}/status"
    count = lambda: int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", open(path).read(), re.M)[1])  # noqa: E731
    time.sleep(1)
    before = count()
    time.sleep(4)
    return count() - before


def test_triggers_wake():
    """The daemon sleeps until an event fires, and then acts at once."""
    run("lttctl", "create", "idle")  # which starts the daemons
    watch = subprocess.Popen(["lttctl", "watch", "--json"], stdout=subprocess.PIPE, text=True)
    before = max(wakeups(), wakeups())
    ctl("on", "-k", "syscall_entry_getpriority", "-n", "wake")
    after = [wakeups(), wakeups()]
    check(min(after) <= before + 2, f"{after} wake-ups, not {before}, without an event; {kernel_triggers()}")
    took = []
    for _ in range(20):
        os.getpriority(os.PRIO_PROCESS, 0)
        note = json.loads(watch.stdout.readline())
        took.append((time.time_ns() - int(note["ns"])) / 1e6)
    print(f"event to notification: {min(took):.1f} to {max(took):.1f} ms, median {sorted(took)[10]:.1f} ms")
    check(min(took) < 10, took)
    watch.terminate()
    watch.wait()
    ctl("remove-trigger", "wake")
    ctl("destroy", "idle")


def test_state():
    """Recorded at the start, and on request."""
    out = begin("system", ("-k", "lttng_statedump_*"))
    for nr in 1, 2:
        until(lambda: run("lttctl", "view", "--statedump", out).stdout.count(" lttng_statedump_end:") == nr,
              "the end of the state", 90)
        if nr == 1:
            ctl("regenerate", "statedump")
    finish("system", out)
    read = run("babeltrace2", out).stdout
    check(len(re.findall(rf"statedump_process_state: .* pid = {os.getpid()},", read)) >= 2, "not our process")
    ctl("create", "none", "-o", "/dev/shm/none")
    ctl("enable-event", "-k", "cpu_frequency")
    ctl("start")
    why = ctl("regenerate", "statedump", status=1)["error"]["text"]
    check("records no state" in why, why)
    ctl("destroy", "none")


def test_changes():
    """A driver that requests an interrupt and releases it; an interface."""
    kernel_module("drivers/net/dummy")
    kernel_module("drivers/i2c/i2c-smbus")
    out = begin("changes", ("-k", "irq:irq_handler_*connect,net:net_interface_*"))
    kernel_module("drivers/i2c/busses/i2c-i801")
    run("busybox", "rmmod", "i2c_i801")
    for change in "dummy0 up", "dummy0 down", "dummy0 name other", "other up":
        run("busybox", "ip", "link", "set", *change.split())
    run("busybox", "rmmod", "dummy", "i2c_smbus")
    finish("changes", out)
    seen = re.findall(r" (irq_handler\w+|net_interface\w+): .* \}, \{ (.*) \}$",
                      run("lttctl", "view", "-t", out, "--statedump").stdout, re.M)
    handlers = [(name, fields) for name, fields in seen if "irq" in name]
    check([name for name, _ in handlers] == ["irq_handler_connect", "irq_handler_disconnect"], seen)
    check(re.fullmatch(r'irq = \d+, flags = \d+, address = 0x\w+, name = "i801_smbus", '
                       r'handler = "i801_isr \[i2c_i801\]"', handlers[0][1]), seen)
    check(handlers[0][1] == handlers[1][1], seen)
    changes = [(name, re.sub(r".* = ", "", fields)) for name, fields in seen if "net" in name]
    check(changes == [("net_interface_up", '"dummy0"'), ("net_interface_down", '"dummy0"'),
                      ("net_interface_rename", '"other"'), ("net_interface_up", '"other"'),
                      ("net_interface_down", '"other"')], changes)
    with open(f"{debugfs()}/kprobes/list") as f:
        check("request_threaded_irq" not in f.read(), "left behind")


def tracked():
    return {t["kind"]: t["ids"] for t in ctl("status")["result"]["trackers"]}


def recorded():
    return ctl("status")["result"]["totals"]["recorded"]


def test_track():
    """Only tracked processes are recorded, also after the daemon has died; and it can be changed."""
    out = "/dev/shm/track"
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "track", "-o", out)
    ctl("enable-event", "-k", "--syscall", "getpriority")
    check("tracks all ids" in ctl("untrack", "-k", "--uid=1", status=1)["error"]["text"], "all")
    ctl("track", "-k", "--uid=4711,4712")
    ctl("track", "-k", "--uid", "4711", status=4)
    ctl("start")
    for user, count in (0, 0), (4711, 400), (4712, 800), (0, 800):
        hit(200, user)
        check(recorded() == count, f"{recorded()} after user {user}, not {count}")
    kill("ltt-sessiond")
    check(tracked() == {"uid": [4711, 4712]}, tracked())
    hit(200)
    hit(200, 4711)
    check(recorded() == 1200, f"{recorded()} after a daemon's death")
    ctl("untrack", "-k", "--uid=4712")
    hit(200, 4712)
    check(recorded() == 1200, "events of an id that was untracked")
    ctl("untrack", "-k", "--uid=4711")
    hit(200, 4711)
    check(recorded() == 1200 and tracked() == {"uid": []}, "events are recorded though no user is tracked")
    child = subprocess.Popen(["sh", "-c", f"read x; exec {WORK}/hit 200"], stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL)
    ctl("track", "-k", "--uid", "--all")
    ctl("track", "-k", f"--pid={child.pid}")
    hit(200)
    child.communicate(b"go\n")
    check(recorded() == 1600, f"{recorded()}: not those of one process")
    ctl("track", "-k", "-p", "--all")
    check(tracked() == {}, tracked())
    hit(200)
    check(recorded() >= 2000, "not those of all")
    finish("track", out)


SUBJECTS = {"sched_switch": "next_pid", "sched_waking": "pid", "sched_wakeup": "pid", "sched_wakeup_new": "pid",
            "sched_process_fork": "child_pid"}


def family(out, of):
    """Threads that the program printed; those of its family, by the forks in the trace; calls of each; events
    of others that are not about one of them; and how many are about which."""
    expected = sorted(tuple(map(int, line.split())) for line in of)
    events = [(name, int(values["tid"]), values.get(SUBJECTS.get(name))) for name, _, values in read_fields(out)]
    tids = {expected[0][0]} | {about for name, _, about in events if name == "sched_process_fork"}
    calls = collections.Counter(tid for name, tid, _ in events if name == "syscall_entry_getpriority")
    about = collections.Counter((name, of) for name, _, of in events if of in tids)
    return expected, tids, calls, {e for e in events if not {e[1], e[2]} & tids}, about


def test_follow():
    """A program, its threads, children, orphans and other programs; nothing of one that runs beside it,
    which makes calls of the same kind; and the switches to its threads and wakeups of them."""
    nr, out = 300, "/dev/shm/follow"
    rules = "getpriority,sched_switch,sched_waking,sched_wakeup,sched_wakeup_new,sched_process_*"
    beside = subprocess.Popen(["sh", "-c", f"while :; do {WORK}/hit 50; done"], stdout=subprocess.DEVNULL)
    try:
        for daemon_dies in False, True:
            shutil.rmtree(out, ignore_errors=True)
            recorder = subprocess.Popen(["lttctl", "record", "-k", "-o", out, "-e", f"syscall_entry_{rules}", "--",
                                         "sh", "-c", f"echo; read go; exec {WORK}/family {nr}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
            recorder.stdout.readline()
            if daemon_dies:
                kill("ltt-sessiond")
            said, why = recorder.communicate("go\n")
            check(recorder.returncode == 0, why)
            expected, tids, calls, others, about = family(out, said.splitlines())
            threads = collections.Counter(tid for _, tid in expected)
            check(len(expected) == 8 and calls == {tid: nr * n for tid, n in threads.items()}, f"{expected}: {calls}")
            check(len(tids) == 9 and not others, f"family {tids}; events of others: {others}")
            for tid in set(threads) - {expected[0][0]}:
                check(about["sched_wakeup_new", tid] and about["sched_switch", tid], f"{tid}: {about}")
    finally:
        beside.kill()
        beside.wait()
    shutil.rmtree(out)
    run("lttctl", "record", "-k", "-a", "-o", out, "-e", "syscall_entry_getpriority", "--", "sh", "-c",
        f"sh -c 'setsid {WORK}/hit 20 >/dev/null'; true")
    check(len(names(out)) >= 20, "no events")


def test_follow_changes():
    """Processes that run already, with the children that they have; and that are followed no longer."""
    ctl("create", "changes", "-o", "/dev/shm/follow-changes")
    ctl("enable-event", "-k", "--syscall", "getpriority")
    ctl("start")
    shell = subprocess.Popen(["sh", "-c", f"(read a; {WORK}/hit 10; read b; {WORK}/hit 10; read c; {WORK}/hit 10); true"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def step():
        shell.stdin.write(b"go\n")
        shell.stdin.flush()
        until(lambda: b"vgid" in shell.stdout.readline(), "a hit")
        time.sleep(0.2)

    ctl("track", "-k", f"--follow={shell.pid}")
    ctl("track", "-k", f"--follow={shell.pid}", status=4)
    check("no process 4190000" in ctl("track", "-k", "--follow=4190000", status=1)["error"]["text"], "a process")
    check(tracked() == {"follow": [shell.pid]}, tracked())
    hit(10)
    step()
    check(recorded() == 20, recorded())
    kill("ltt-sessiond")
    step()
    check(recorded() == 40, f"{recorded()} after the daemon's death")
    ctl("untrack", "-k", f"--follow={shell.pid}")
    step()
    check(recorded() == 40, f"{recorded()} of a family that is not followed")
    shell.wait()
    ctl("track", "-k", "--follow", "--all")
    check(tracked() == {}, tracked())
    hit(10)
    check(recorded() == 60, f"{recorded()}, not all")
    ctl("destroy", "changes")


def threads_of(*daemons):
    return {int(tid) for daemon in daemons for pid in pids(daemon) for tid in os.listdir(f"/proc/{pid}/task")}


def record_daemons(out, *options):
    """(System calls, switches) of a session in which the session daemon and the consumer are killed, others start, and
    a relay that comes and goes; all their threads, and those of daemons that one of ours has started."""
    shutil.rmtree(out, ignore_errors=True)
    ctl("create", "own", "-o", out, *options)
    ctl("enable-event", "-k", "syscall_entry_*msg,syscall_entry_epoll*,syscall_entry_read,sched_switch")
    ctl("add-context", "-k", "-t", "tid", "-t", "procname")
    ctl("start")
    ours, started = set(), set()
    for victim in "", "ltt-sessiond", "ltt-consumerd":
        kill(*filter(None, [victim]))
        with open("/dev/shm/relay.log", "w") as log:
            relay = subprocess.Popen(["ltt-relayd", "-o", "/dev/shm/relay", "-C", "tcp://127.0.0.1:5390", "-L", "tcp://127.0.0.1:5391"],
                                     stderr=log)
        until(lambda: run("lttctl", "status", status=None).returncode == 0 and pids("ltt-consumerd"), "the daemons")
        started |= threads_of("ltt-consumerd", "ltt-keeperd")
        ours |= started | threads_of("ltt-sessiond", "ltt-relayd")
        relay.terminate()
        relay.wait()
    ctl("stop", status=None)  # a daemon that records itself may lose events
    ctl("destroy", "own", status=None)
    events = read_fields(out)
    return ([values for name, _, values in events if name.startswith("syscall")],
            [(values["prev_tid"] if "prev_tid" in values else values["prev_pid"],
              values["next_tid"] if "next_tid" in values else values["next_pid"]) for name, _, values in events if name == "sched_switch"], ours, started)


def test_own_daemons():
    """Nothing that only our own daemons do is recorded, unless that is requested; switches between them and
    others are."""
    for own in False, True:
        calls, switches, ours, started = record_daemons("/dev/shm/own", *["--own-daemons"] * own)
        by_us = collections.Counter(values["procname"] for values in calls if values["tid"] in ours)
        among_us = [switch for switch in switches if set(switch) <= started]  # others are ours once they are executed
        check(len(calls) > 50, f"{len(calls)} system calls")
        check(bool(by_us) == own, f"own daemons {own}: calls of {by_us}")
        check(own or not among_us, f"switches among our own: {among_us[:5]}")
        check(any(was in ours and then not in ours for was, then in switches) and
              any(was not in ours and then in ours for was, then in switches), f"no switches of {ours}: {switches[:9]}")


def test_argv():
    """The words by which programs were executed, to their 1024th byte; also of none and of a script."""
    out = begin("argv", ("-k", "sched_process_argv"))
    script = "/dev/shm/argv.sh"
    with open(script, "w") as f:
        f.write("#!/bin/sh\ntrue\n")
    os.chmod(script, 0o755)
    run("/bin/true", "two words", "", "x" * 3000)
    run(script, "of", "script")
    run("/bin/true", "last")
    finish("argv", out)
    argv = [values["argv"] for name, _, values in read_fields(out) if name == "sched_process_argv"]
    for words in ("/bin/true two words  " + "x" * 3000)[:1024], f"/bin/sh {script} of script", "/bin/true last":
        check(argv.count(words) == 1, f"'{words[:40]}': {argv}")


def test_cgroup():
    """Tasks of a group and of those below it, as they are when an event occurs; no others."""
    top = "/sys/fs/cgroup"
    if not os.path.ismount(top):
        run("busybox", "mount", "-t", "cgroup2", "none", top)
    for group in "a", "a/b", "c":
        os.makedirs(f"{top}/{group}", exist_ok=True)
    ctl("create", "cgroup", "-o", "/dev/shm/cgroup")
    ctl("enable-event", "-k", "--syscall", "getpriority")
    check("no cgroup" in ctl("track", "-k", "--cgroup=none", status=1)["error"]["text"], "none")
    check("not the folder of a cgroup" in ctl("track", "-k", "--cgroup=/proc", status=1)["error"]["text"], "/proc")
    ctl("track", "-k", f"--cgroup={top}/a")
    ctl("start")
    inode = os.stat(f"{top}/a").st_ino
    for group, count in ("c", 0), ("a", 20), ("a/b", 40), (".", 40):
        run("sh", "-c", f"echo $$ >{top}/{group}/cgroup.procs; exec {WORK}/hit 10")
        check(recorded() == count, f"{recorded()} after {group}, not {count}")
        if group == "a":
            kill("ltt-sessiond")
            check(tracked() == {"cgroup": [inode]}, tracked())
    # a process that moves
    run("sh", "-c", f"{WORK}/hit 10; echo $$ >{top}/a/b/cgroup.procs; {WORK}/hit 10; echo $$ >{top}/cgroup.procs; {WORK}/hit 10; true")
    check(recorded() == 60, f"{recorded()} of a process that moves")
    ctl("track", "-k", "--cgroup=c")
    ctl("untrack", "-k", "--cgroup=a")
    run("sh", "-c", f"echo $$ >{top}/c/cgroup.procs; exec {WORK}/hit 10")
    check(recorded() == 80, recorded())
    ctl("destroy", "cgroup")


def test_kill_consumer():
    out = begin("consumer", ("-k", "cpu_frequency"))
    emit()
    kill("ltt-consumerd")
    emit()
    until(lambda: pids("ltt-consumerd"), "another consumer")
    kill("ltt-consumerd")
    emit()
    finish("consumer", out, 3 * EMITTED)


def test_kill_sessiond():
    out = begin("sessiond", ("-k", "cpu_frequency"), ("-k", "sched_process_exec"))
    emit()
    kill("ltt-sessiond")
    emit()
    ctl("status")
    ctl("disable-event", "-k", "sched_process_exec")
    before = ctl("status")["result"]["totals"]["recorded"]
    run("/bin/true")
    kill("ltt-sessiond")
    kill("ltt-consumerd")
    emit()
    total = ctl("status")["result"]["totals"]["recorded"]
    check(total == before + EMITTED, f"{total} after {before}: disabled events are recorded")
    ctl("enable-event", "-k", "sched_process_fork")
    run("/bin/true")
    total = finish("sessiond", out)
    seen = names(out)
    check(seen.count("cpu_frequency") == 3 * EMITTED, seen.count("cpu_frequency"))
    check("sched_process_fork" in seen, "no event that was enabled after the takeover")


def snapshot(name):
    """`snapshot record`. Its events by name, and the answer, which has the sum and a common span."""
    result = ctl("snapshot", "record", "-s", name)["result"]
    run("lttctl", "verify", result["directory"])
    seen = collections.Counter(names(result["directory"]))
    check(sum(seen.values()) == result["recorded"] > 0, f"{seen} of {result}")
    spans = [(int(b["begin_ns"]), int(b["end_ns"])) for b in result["buffers"]]
    check((int(result["begin_ns"]), int(result["end_ns"])) == (max(b for b, _ in spans), min(e for _, e in spans)), result)
    return seen, result


def snapshot_totals(emitted):
    """Each event is in a snapshot, overwritten, or still in a buffer."""
    found = ctl("status")["result"]["totals"]
    check(found["recorded"] + found["lost"] == emitted, f"{found} of {emitted}")
    check(found["recorded"] == found["written"] + found["overwritten"] + found["cleared"] + found["waiting"], found)
    return found


def test_snapshot():
    """Of the kernel's buffers and those of applications, before and after the consumer is killed: the
    last events, while others are overwritten."""
    nr, out = 500, "/dev/shm/flight"
    env = {**os.environ, "LTT_REGISTER_TIMEOUT": "20000"}
    ctl("create", "flight", "--snapshot", "-o", out)
    for channel in ("-k", "c", "--subbuf-size=4k"), ("-u", "u", "--subbuf-size=256k"):
        ctl("enable-channel", *channel, "--overwrite", "--num-subbuf=4")
    ctl("enable-event", "-k", "-c", "c", "cpu_frequency")
    ctl("enable-event", "-u", "-c", "u", "alternate:*")
    ctl("start")
    run(f"{BUILD}/prog/alternate", nr, env=env)
    for i in range(1, 4):
        emit()
        seen, result = snapshot("flight")
        check(seen["alternate:mark"] == nr and 0 < seen["cpu_frequency"] < EMITTED, seen)
        check(result["recorded"] + result["overwritten"] == i * EMITTED + nr, f"{seen} of {result}")
        check(len({b["channel"] for b in result["buffers"]}) == 2, result)
        check(snapshot_totals(i * EMITTED + nr)["waiting"] == 0, f"an event that the snapshot {i} does not have")
        kill(*("ltt-sessiond", "ltt-consumerd")[i % 2:])
        until(lambda: subprocess.run(["lttctl", "status", "flight"], capture_output=True, check=False).returncode == 0,
              "another consumer")
    emit()
    held = ctl("status")["result"]["totals"]["waiting"]
    cleared = ctl("clear", "flight")["result"]["sessions"][0]["cleared"]
    check(cleared == held > 0 and snapshot_totals(4 * EMITTED + nr)["waiting"] == 0, f"{cleared} of {held}")
    emit()
    total = ctl("stop")["result"]["sessions"][0]["totals"]
    seen, result = snapshot("flight")
    check(seen["cpu_frequency"] > 0 and not seen["alternate:mark"], f"{total}: {seen}")
    check(snapshot_totals(5 * EMITTED + nr)["waiting"] == 0, f"{total}: {seen}")
    ctl("destroy", "flight")


def test_recorder():
    """Both halves: the events of a period, to the last; the default events of the kernel, and the cost of one; the
    daemons are killed, and a snapshot has the last events."""
    on = ctl("recorder", "on", "--no-boot", "--size=64k", "--kernel-events=cpu_frequency")["result"]
    check(on["has_kernel"] and on["size"] == 65536, on)
    for _ in range(2):
        status = subprocess.Popen(["lttctl", "--json", "recorder", "status"], stdout=subprocess.PIPE, text=True)
        time.sleep(0.3)
        emit(100)
        answer = json.loads(status.communicate(timeout=100)[0])
        schema.answer(answer)
        kernel = next(c for c in answer["result"]["channels"] if c["domain"] == "kernel")
        check(kernel["events"] == EMITTED // 10 and kernel["bytes"] > 8 * kernel["events"], kernel)
        check(kernel["reach_ns"] > 0 and kernel["memory"] >= 2 * 65536, kernel)
        kill("ltt-sessiond", "ltt-consumerd")
        until(lambda: subprocess.run(["lttctl", "status", "recorder"], capture_output=True, check=False).returncode == 0,
              "another consumer")
    emit()
    seen, result = snapshot("recorder")
    check(0 < seen["cpu_frequency"] < EMITTED and result["recorded"] + result["overwritten"] >= EMITTED, f"{seen} of {result}")
    check("another --kernel-events" in ctl("recorder", "on", "--kernel-events=sched_switch", status=1)["error"]["text"], "on twice")
    ctl("recorder", "off")
    check(ctl("recorder", "on", "--no-boot")["result"]["has_kernel"], "no kernel")
    work = subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"])
    status = ctl("recorder", "status")["result"]
    work.kill()
    work.wait()
    kernel = next(c for c in status["channels"] if c["domain"] == "kernel")
    check(kernel["events"] > 10 and 0 < kernel["event_ns"] < 10000000, kernel)
    print(f"control: recorder: {kernel}")
    seen, result = snapshot("recorder")
    check(seen["sched_switch"] and seen["sched_waking"] and not any(n.startswith("syscall") for n in seen), seen)
    ctl("recorder", "off")
    check("recorder" not in run("lttctl", "list").stdout, "it is not off")


OVERWRITTEN = "--overwrite", "--subbuf-size=4k", "--num-subbuf=4"  # emit() has three times as much for each CPU


def overwritten_totals(emitted, lost=False):
    """@lost: daemons and a relay that die at once may leave packets in flight that are overwritten: counted."""
    found = snapshot_totals(emitted)
    check(lost or not found["lost"], f"lost: {found}")
    return found


def check_overwritten(place, total):
    """All files below a directory, read by a reader that is not ours: the events that were written, of each
    writer in order."""
    seen = collections.Counter()
    for path in sorted(glob.glob(f"{place}/**/metadata", recursive=True)):
        path = os.path.dirname(path)
        verdict = json.loads(run("lttctl", "verify", "--json", path, status=None).stdout)["result"]["verdict"]
        check(verdict in ("sound", "lossy"), f"{path}: {verdict}")
        last = {}
        for line in run("babeltrace2", path).stdout.splitlines():
            seen[re.search(r"\] (?:\S+ )?(?:\(.*?\) )?(\w+(?::\w+)?): ", line)[1]] += 1
            if number := re.search(r"cpu_frequency: .*\bstate = (\d+), cpu_id = (\d+)", line):
                state, writer = map(int, number.groups())
                check(last.get(writer, -1) != state, f"{path}: event {state} of {writer} twice")
                last[writer] = state
    check(sum(seen.values()) == total["written"], f"{seen} of {total}")
    return seen


def overwrites(name, out, *options, discards=False):
    """Channels of the kernel and of applications in a session that writes its trace to @out, or to a relay
    (@options). The consumer is stopped, and killed, while the buffers go round. @discards: beside a channel of
    the kernel that does, so that the kernel's own consumer writes them."""
    ctl("create", name, *(options or ("-o", out)))
    if discards:
        ctl("enable-event", "-k", "--syscall", "getpriority")
        ctl("start")
        await_consumer("kernel")
    ctl("enable-channel", "-k", *OVERWRITTEN, "last")
    ctl("enable-channel", "-u", "--overwrite", "apps")
    ctl("enable-event", "-k", "-c", "last", "cpu_frequency")
    ctl("enable-event", "-u", "-c", "apps", "alternate:*")
    ctl("start", status=None)
    emit(20)
    alternate(50)
    emitted = 20 * EMITTED // 1000 + 50
    until(lambda: ctl("status")["result"]["totals"]["waiting"] == 0, "the consumer")
    total = overwritten_totals(emitted)
    check((total["written"], total["overwritten"]) == (emitted, 0), f"an idle consumer: {total}")
    consumer = consumers()["kernel" if discards else 0]
    os.kill(consumer, signal.SIGSTOP)
    emit()
    emitted += EMITTED
    os.kill(consumer, signal.SIGCONT)
    until(lambda: ctl("status")["result"]["totals"]["waiting"] == 0, "the consumer")
    total = overwritten_totals(emitted)
    check(total["overwritten"] > EMITTED // 4, f"a stopped consumer: {total}")
    ctl("rotate", name)
    if discards:
        refused = json.loads(run("lttctl", "--json", "snapshot", "record", "-s", name, status=None).stdout)
        check("all events of channel 'channel0'" in refused["error"]["text"], refused)
    elif "--spool=0" not in options:
        result = ctl("snapshot", "record", "-s", name, f"/dev/shm/{name}-snapshot")["result"]
        seen = collections.Counter(names(result["directory"]))
        check(seen["alternate:mark"] == 50 and seen["cpu_frequency"] > 100 and sum(seen.values()) == result["recorded"], result)
    for i, victims in enumerate((DAEMONS[:2], DAEMONS[1:2], DAEMONS[:1], DAEMONS[1:2])[:2 if options or discards else 4]):
        writer = threading.Thread(target=emit, daemon=True)
        writer.start()
        time.sleep(0.05 * i)
        kill(*victims)
        if i % 2:
            until(lambda: run("lttctl", "rotate" if i == 1 else "clear", name, status=None).returncode == 0, "a turn")
        writer.join()
        emitted += EMITTED
        until(lambda: run("lttctl", "status", name, status=None).returncode == 0 and consumers().get(0), "the daemons")
        overwritten_totals(emitted, lost=bool(options))
    emit()
    emitted += EMITTED
    total = json.loads(run("lttctl", "--json", "stop", name, status=None).stdout)["result"]["sessions"][0]["totals"]
    check(total["recorded"] + total["lost"] == emitted and (options or not total["lost"]), f"{total} of {emitted}")
    check(total["recorded"] == total["written"] + total["overwritten"] + total["cleared"], total)
    return total


def overwritten_state():
    """The state of the system, which is larger than the buffers, waits for a consumer that is late."""
    out = begin("state", ("-k", "-c", "c", "lttng_statedump_*"), channel=("--overwrite", "--subbuf-size=8k", "--num-subbuf=4"))

    def dumped():
        before = None
        while before != (before := ctl("status")["result"]["totals"]["recorded"]):
            time.sleep(1)
        return before

    first = dumped()
    consumer = consumers()[0]
    os.kill(consumer, signal.SIGSTOP)
    ctl("regenerate", "statedump")
    time.sleep(0.5)
    os.kill(consumer, signal.SIGCONT)
    check(dumped() > 1.5 * first, f"no second state after {first} events")
    total = ctl("stop")["result"]["sessions"][0]["totals"]
    ctl("destroy", "state")
    check((total["overwritten"], total["lost"]) == (0, 0) and total["bytes"] > 2 * 4 * 8 << 10, total)
    check(names(out).count("lttng_statedump_end") == 2, out)


def test_overwrite():
    """Channels of the kernel that overwrite in a session that writes its trace: see overwrites(). Locally, and at a
    relay with and without a spool."""
    overwritten_state()
    for name in "over", "beside":
        total = overwrites(name, f"/dev/shm/{name}", discards=name == "beside")
        check(("kernel" in consumers()) == (name == "beside"), f"{name}: {consumers()}")
        check(total["cleared"] > 0 or name == "beside", total)
        ctl("destroy", name)
        check_overwritten(f"/dev/shm/{name}", total)
    run("busybox", "ip", "link", "set", "lo", "up")
    relay = subprocess.Popen(["ltt-relayd", "-o", "/dev/shm/relay", "-C", "tcp://127.0.0.1:5390", "-L", "tcp://127.0.0.1:5391"])
    try:
        until(lambda: os.path.isdir("/dev/shm/relay"), "the relay")
        for name, spool in ("spooled", ()), ("direct", ("--spool=0",)):
            total = overwrites(name, None, "--set-url=net://127.0.0.1:5390", *spool)
            run("lttctl", "destroy", name, status=None)
            path, = glob.glob(f"/dev/shm/relay/*/{name}-*")
            check_overwritten(path, total)
    finally:
        relay.terminate()
        relay.wait()


def events_of(path):
    """Lines of the events, with their times, by a reader that is not ours; by the name of the event."""
    found = collections.defaultdict(list)
    for line in run("babeltrace2", "--no-delta", "--clock-seconds", path).stdout.splitlines():
        found[re.search(r"\] (?:\S+ )?(\w+(?::\w+)?): ", line)[1]].append(line)
    return found


def killed(nr):
    """The consumer is killed, or the session daemon too, in turn."""
    kill(*("ltt-sessiond", "ltt-consumerd")[nr % 2:])
    until(lambda: subprocess.run(["lttctl", "status"], capture_output=True, check=False).returncode in (0, 4, 6),
          "another daemon")


def test_snapshot_discard():
    """The first events of the kernel, the same in each snapshot; later ones are lost and counted. Daemons are
    killed, and a clear makes room."""
    ctl("create", "first", "--snapshot", "-o", "/dev/shm/first")
    ctl("enable-channel", "-k", "--discard", "c", "--subbuf-size=4k", "--num-subbuf=4")
    ctl("enable-event", "-k", "-c", "c", "cpu_frequency")
    ctl("enable-channel", "-k", "last", "--subbuf-size=4k", "--num-subbuf=4")
    ctl("enable-event", "-k", "-c", "last", "sched_process_exec")
    ctl("start")
    emit()
    first = None
    for i in range(1, 5):
        result = ctl("snapshot", "record", status=4)["result"]
        run("lttctl", "verify", result["directory"])
        seen = events_of(result["directory"])
        check(first in (None, seen["cpu_frequency"]), f"snapshot {i} has other events")
        first = seen["cpu_frequency"]
        parts = {name: [b for b in result["buffers"] if b["channel"] == name] for name in ("c", "last")}
        recorded, lost = (sum(b[part] for b in parts["c"]) for part in ("recorded", "lost"))
        check(len(first) == recorded > 1000 and recorded + lost == i * EMITTED, f"{len(first)} of {i}: {result}")
        check(len(seen["sched_process_exec"]) == sum(b["recorded"] for b in parts["last"]) > 0, result)
        killed(i)
        emit()
    cleared = ctl("clear", "first")["result"]["sessions"][0]["cleared"]
    emit()
    result = ctl("snapshot", "record", status=4)["result"]
    seen = events_of(result["directory"])["cpu_frequency"]
    check(len(seen) > 1000 and seen[0] > first[-1], f"after a clear of {cleared}: {len(seen)}")
    check(len(first) + len(seen) + sum(b["lost"] for b in result["buffers"]) == 6 * EMITTED, f"{result}")
    total = ctl("stop", status=6)["result"]["sessions"][0]["totals"]
    check(total["recorded"] == total["written"] + total["overwritten"] + total["cleared"] + total["waiting"], total)
    result = ctl("snapshot", "record", status=4)["result"]
    check(events_of(result["directory"])["cpu_frequency"] == seen, "a snapshot of the stopped session")
    ctl("destroy", "first")


def test_remember():
    """The state at the start, and chosen events, are in each snapshot however many others there are, and however
    daemons are killed; and beside each later trace of the kernel, and in its snapshots, with their times."""
    nr = EMITTED // 1000 * 20
    ctl("create", "always", "--no-output")
    for state in "start", "end", "module", "process_*":  # (babeltrace2 takes an empty text for the one before)
        ctl("enable-event", "-k", "--remember", f"lttng_statedump_{state}")
    ctl("enable-event", "-k", "--remember", "cpu_frequency", "-f", "state < 20")
    ctl("enable-event", "-u", "--remember", "alternate:*")
    ctl("enable-channel", "-k", "--overwrite", "last", "--subbuf-size=4k", "--num-subbuf=4")
    ctl("enable-event", "-k", "-c", "last", "cpu_frequency", "-f", "state >= 20")
    channel = next(c for c in ctl("list", "always")["result"]["channels"] if c["remember"] and c["domain"] == "kernel")
    check((channel["name"], channel["overwrite"]) == ("remembered", False) and
          channel["subbuf_size"] * channel["num_subbuf"] * os.cpu_count() == 256 << 10, channel)
    ctl("start")
    alternate(50)

    def taken(name):
        result = ctl("snapshot", "record", "-s", "always", f"/dev/shm/{name}")["result"]
        run("lttctl", "verify", result["directory"])
        check(len(names(result["directory"])) == result["recorded"], result)
        return result["directory"]

    def own(directory):  # without those of the overwritten channel
        lines = events_of(directory)
        return [line for name in sorted(lines) for line in lines[name]
                if name != "cpu_frequency" or int(re.search(r"\bstate = (\d+)", line)[1]) < 20]

    until(lambda: events_of(taken("at-first"))["lttng_statedump_end"], "the end of the state", 30)
    state = [line for line in own(taken("state")) if "statedump_" in line]
    marks = [line for line in own(taken("marks")) if "alternate:mark" in line]
    check(len(state) > 100 and len(marks) == 50, f"{len(state)} of the state, {marks}")
    for i in range(1, 4):
        emit()
        seen = own(taken(f"nr-{i}"))
        check([line for line in seen if "statedump_" in line] == state, f"the state in snapshot {i}")
        check(sum(" cpu_frequency: " in line for line in seen) == i * nr, f"events in snapshot {i}")
        killed(i)
    first = own(taken("all"))
    kernel = [line for line in first if "alternate:" not in line]
    # beside others: those of the domains that they record
    for name, rule, want in (("later", ("-k", "sched_process_exec"), kernel),
                             ("apps", ("-u", "alternate:*"), [line for line in first if "alternate:" in line]),
                             ("both", None, first)):
        out = begin(name, *([rule] if rule else [("-k", "sched_process_exec"), ("-u", "alternate:*")]))
        check(own(f"{out}/remembered-always") == want, f"what is beside {name}")
        run("/bin/true")
        if name == "later":
            killed(1)
            run("/bin/true")
        finish(name, out)
        check(names(out).count("cpu_frequency") == (3 * nr if name != "apps" else 0), f"of {name}")
    ctl("create", "snap", "--snapshot", "-o", "/dev/shm/snap")
    ctl("enable-event", "-k", "sched_process_exec")
    ctl("start")
    start = subprocess.Popen(["lttctl", "--json", "snapshot", "record"], stdout=subprocess.PIPE, text=True)
    kill("ltt-consumerd")
    result = json.loads(start.communicate()[0])["result"]
    check(result["remembered"] == len(kernel) and own(f"{result['directory']}/remembered-always") == kernel, f"{result}")
    ctl("destroy", "snap")
    ctl("clear", "always")
    check(own(taken("cleared")) == first, "after a clear")
    ctl("destroy", "always")
    # beyond the room there is a count
    ctl("create", "full", "--snapshot", "-o", "/dev/shm/full")
    ctl("enable-event", "-k", "--remember", "cpu_frequency")
    ctl("start")
    for i in range(1, 5):
        emit()
    result = ctl("snapshot", "record", status=4)["result"]
    check(result["recorded"] + result["lost"] == 4 * EMITTED and result["lost"] and result["bytes"] <= 257 << 10, result)
    check(len(names(result["directory"])) == result["recorded"] > 10000, result)
    ctl("stop", "full", status=6)
    ctl("destroy", "full")
    ctl("create", "whole", "-o", "/dev/shm/whole")
    why = ctl("enable-event", "-k", "--remember", "cpu_frequency", status=1)["error"]["text"]
    check("writes its events, and has to remember none" in why, why)
    ctl("destroy", "whole")


def test_snapshot_large():
    """64 MiB of the kernel's events. Of a session that is not for snapshots there are none."""
    ctl("create", "large", "--snapshot", "-o", "/dev/shm/large")
    ctl("enable-channel", "-k", "c", "--subbuf-size=4M", "--num-subbuf=8")
    ctl("enable-event", "-k", "-c", "c", "--syscall", "access")
    ctl("start")
    lost = lambda: ctl("status")["result"]["totals"]["overwritten"]  # noqa: E731
    for cpu in 0, 1:
        os.sched_setaffinity(0, {cpu})
        before = lost()
        while lost() == before:
            for _ in range(4000):
                os.access("/" + "x" * 4000, os.F_OK)
    os.sched_setaffinity(0, {0, 1})
    result = ctl("snapshot", "record", "-s", "large")["result"]
    check(result["bytes"] > 48 << 20, result)  # too many events for a test of each
    print(f"control: snapshot: {result['bytes'] >> 20} MiB copied in {result['copy_ns'] / 1e6:.1f} ms")
    ctl("destroy", "large")
    ctl("create", "plain", "-o", "/dev/shm/plain")
    ctl("enable-event", "-k", "cpu_frequency")
    refused = ctl("snapshot", "record", "-s", "plain", status=5)["error"]["text"]
    check("need a session for snapshots (create --snapshot)" in refused, refused)
    ctl("destroy", "plain")


def test_flight():
    """The kernel's last events of a program that fails."""
    done = run("lttctl", "record", "-k", "--flight=1M", "-e", "sched_process_exit", "-o", "/dev/shm/failed",
               "--", "sh", "-c", "true; /bin/true; exit 3", status=3)
    check("sched_process_exit" in done.stderr, done.stdout + done.stderr)
    done = run("lttctl", "record", "-k", "--flight=1M", "-o", "/dev/shm/fine", "--", "true")
    check(not glob.glob("/dev/shm/fine/*"), done.stdout)


def test_disable_kind():
    """disable-event -a with a kind disables the rules of this kind."""
    begin("kinds", ("-k", "sched_switch"), ("-k", "--syscall", "getpriority"),
          ("-k", "--probe=__x64_sys_getpriority", "probed"), ("-k", "--function=__x64_sys_getpriority", "called"))
    for kind, pattern in ("--probe", "probed"), ("--syscall", "getpriority"), ("--function", "called"):
        ctl("disable-event", "-k", kind, "-a")
        enabled = {r["pattern"]: r["enabled"] for r in ctl("status")["result"]["channels"][0]["rules"]}
        check(not any(on for name, on in enabled.items() if pattern in name) and enabled["sched_switch"], enabled)
    finish("kinds", "/dev/shm/kinds")


def test_disable_taken_over():
    """A new daemon disables events, whenever its consumer stops to answer."""
    out = begin("stuck", ("-k", "cpu_frequency"))
    consumer = consumers()["kernel"]
    for delay in range(3):
        ctl("enable-event", "-k", "sched_process_exec")
        kill("ltt-sessiond")
        starts = subprocess.Popen(["lttctl", "version"], stdout=subprocess.DEVNULL)
        until(lambda: pids("ltt-sessiond"), "a daemon")
        time.sleep(0.01 * delay)
        os.kill(consumer, signal.SIGSTOP)
        starts.wait()
        ctl("disable-event", "-k", "sched_process_exec")
        os.kill(consumer, signal.SIGCONT)
        before = ctl("status")["result"]["totals"]["recorded"]
        run("/bin/true")
        total = ctl("status")["result"]["totals"]["recorded"]
        check(total == before, f"{total} after {before}: a disabled event is recorded, {delay}")
    finish("stuck", out)


def test_kill_all():
    begin("dead", *(("-k", rule) for rule in MANY))
    for name in DAEMONS[::-1] + DAEMONS[::-1]:
        for pid in pids("ltt-sessiond") + pids(name):
            with contextlib.suppress(ProcessLookupError):  # it ended by itself meanwhile
                os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(pids, DAEMONS)), "death of all")
    # refused while anything is enabled; the last descriptors close when it suits the kernel
    until(lambda: subprocess.run(["busybox", "rmmod", "ltt"], capture_output=True).returncode == 0,
          "the module is still in use", 60)
    shutil.rmtree("/run/ltt", ignore_errors=True)


def findings(*argv, status):
    """The doctor's findings about the kernel: {about: (grade, text, command)}"""
    return {f["subject"]: (f["grade"], f["text"], f.get("repair", ""))
            for f in ctl("doctor", *argv, status=status)["result"]["findings"]}


def mend(finding):
    run("sh", "-c", finding[2])


def test_doctor():
    ctl("create", "ill", "-o", "/dev/shm/ill")
    found = findings("-k", status=1)
    check(found["kernel"][0] == "ok" and found["rules"][0] == "bad", found)
    ctl("enable-event", "-k", "nosuch*")
    ctl("enable-event", "-k", "--probe=__x64_sys_getpriority", "gp")
    ctl("disable-event", "-k", "gp")
    ctl("start")
    found = findings(status=1)
    check("matches no event of this kernel" in found["match"][1] or found["match"][0] == "bad", found)
    check("'gp' is disabled" in found["rule"][1], found)
    mend(found["rule"])
    ctl("track", "-k", "--pid=999999")
    found = findings(status=4)
    check("999999, which does not run" in found["tracker"][1], found)
    mend(found["tracker"])
    found = findings(status=1)
    check(found["tracker"][0] == "bad", found)
    mend(found["tracker"])
    hit(10)
    found = findings(status=4)
    check("tracker" not in found and "rule" not in found, found)
    check(recorded() == 10, recorded())
    ctl("destroy", "ill")


def test_no_module():
    """Not there; loaded while the daemon runs, which then records; and one that the daemon loads itself."""
    release = os.uname().release
    end_daemons()
    if os.path.exists("/dev/ltt"):
        run("busybox", "rmmod", "ltt")
        run("busybox", "rmmod", "ltt_instr")
    ctl("create", "no", "-o", "/dev/shm/no")
    why = ctl("enable-event", "-k", "-a", status=5)["error"]["text"]
    check(f"there is no module ltt for this kernel ({release})" in why, why)
    found = findings("-k", status=1)["kernel"]
    check(found[0] == "bad" and why in found[1] and "linux-headers" in found[2], found)  # none here
    daemon = pids("ltt-sessiond")
    hz = ctl("version")["result"]["daemon"]["clock_hz"]
    insmod(f"{WORK}/kmod/ltt_instr.ko", f"clock={'monotonic' if hz == 10**9 else 'cycles'}")
    load_module()
    ctl("enable-event", "-k", "sched_switch")
    ctl("start", "no")
    run("/bin/true")
    finish("no", "/dev/shm/no")
    check(names("/dev/shm/no") and pids("ltt-sessiond") == daemon, f"{daemon}")
    check(findings("-k", status=1)["kernel"][0] == "ok", "doctor")  # the session has gone
    end_daemons()
    run("busybox", "rmmod", "ltt")
    run("busybox", "rmmod", "ltt_instr")
    folder = f"/lib/modules/{release}"
    os.makedirs(folder, exist_ok=True)
    for module in "ltt", "ltt_instr":
        shutil.copy(f"{WORK}/kmod/{module}.ko", folder)
    for index in ("builtin", "order"):
        open(f"{folder}/modules.{index}", "a").close()
    run(shutil.which("depmod", path="/usr/sbin:/sbin") or "depmod")
    test_record()
    hz = ctl("version")["result"]["daemon"]["clock_hz"]
    with open("/sys/module/ltt_instr/parameters/clock") as f:
        check(f.read().strip() == ("monotonic" if hz == 10**9 else "cycles"), hz)
    end_daemons()


def test_viewer():
    """The module's own program shows the trace as lttctl does; only root reads it."""
    folder = "/sys/kernel/debug"
    if not os.path.ismount(folder):
        run("busybox", "mount", "-t", "debugfs", "debugfs", folder)
    program = f"{folder}/ltt/ltt-view"
    check(os.path.exists(program) == os.path.exists(f"{BUILD}/bin/ltt-view"), program)
    if not os.path.exists(program):
        return
    check(os.stat(program).st_mode & 0o777 == 0o400, "its mode")
    out = begin("viewer", ("-k", "sched_switch"))
    run("/bin/ls", "/")
    ctl("flush")
    check(names(out), "no events before the stop")
    finish("viewer", out)
    with open("/dev/shm/v", "wb") as copy, open(program, "rb") as source:
        shutil.copyfileobj(source, copy)
    os.chmod("/dev/shm/v", 0o755)
    for options in ([], ["--json"], ["--summary"]):
        shown = run("/dev/shm/v", *options, out)
        wanted = run("lttctl", "view", *options, "-t", out)
        check((shown.stdout, shown.stderr) == (wanted.stdout, wanted.stderr), f"other output: {options}")
        check(len(shown.stdout) > 100, shown.stdout)
    end_daemons()
    with open(program, "rb") as source:  # open while the module goes
        run("busybox", "rmmod", "ltt")
        try:
            source.read()
            raise Failure("the program of a module that is gone was read")
        except OSError:
            pass
    check(not os.path.exists(program), "it is still there")
    load_module()


def test_not_root():
    os.makedirs("/dev/shm/user", exist_ok=True)
    os.chmod("/dev/shm/user", 0o777)
    env = {**os.environ, "LTT_HOME": "/dev/shm/user", "HOME": "/dev/shm/user",
           "LTT_RUNDIR": "/dev/shm/user/run"}
    user = {"env": env, "user": 1000, "group": 1000, "extra_groups": [],
            "capture_output": True, "text": True, "timeout": 60}
    subprocess.run(["lttctl", "create", "mine", "-o", "/dev/shm/user/mine"], check=True, **user)
    done = subprocess.run(["lttctl", "enable-event", "-k", "-a", "--json"], **user)
    check(done.returncode == 5 and "only root's can trace the kernel" in done.stdout, done.stdout)
    done = subprocess.run(["lttctl", "doctor", "-k"], **user)
    check(done.returncode == 1 and "sudo lttctl doctor -k" in done.stdout, done.stdout)
    end_daemons()
    try:
        subprocess.run(["cat", "/dev/ltt"], user=1000, group=1000, check=True, capture_output=True)
        raise Failure("every user may open the device")
    except subprocess.CalledProcessError:
        pass


USER, GROUP = 4711, "nogroup"


def consumers():
    """Processes of the consumers, by user; that of the kernel is "kernel"."""
    found = {}
    for pid in pids("ltt-consumerd"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as f:
            if not (socket := re.search(r"/consumer(?:-(\w+))?\.sock", f.read())):
                continue  # it ends, and has no arguments any more
            of = socket[1] or "0"
            found[int(of) if of.isdigit() else of] = pid
    return found


def maps_rings(pid):
    with open(f"/proc/{pid}/maps") as f:
        text = f.read()
    return "[ltt-data]" in text or "[ltt-ctl]" in text


def await_consumer(of, before=None):
    """The consumer of a user, or the kernel's with its rings, which is not @before."""
    def there():
        pid = consumers().get(of)
        return pid not in (None, before) and (of != "kernel" or maps_rings(pid))
    until(there, f"the consumer of {of}")
    return consumers()[of]


def has_module(pid):
    """Whether a process has a channel of the module as a descriptor."""
    links = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return any("[ltt-channel]" in link for link in links)


def memory(pid):
    """KiB (PSS) of a process without the rings."""
    kib, rings = 0, False
    with open(f"/proc/{pid}/smaps") as f:
        for line in f:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                rings = "[ltt-" in line
            elif line.startswith("Pss:") and not rings:
                kib += int(line.split()[1])
    return kib


def times():
    """Seconds of commands for a session without the kernel."""
    took = {}
    for command in "flush", "stop", "start", "status":
        began = time.monotonic()
        ctl(command, "apps")
        took[command] = time.monotonic() - began
    return took


def alternate(nr):
    run(f"{BUILD}/prog/alternate", nr, env={**os.environ, "LTT_REGISTER_TIMEOUT": "20000"})


def test_kernel_consumer():
    """The kernel's events have a consumer of their own, from the first trace of the kernel to the last
    session. Stopped, it delays no other session; each of the two is killed, then both with the session
    daemon, and the events of both are complete."""
    nr, home = 500, "/dev/shm/both"
    shutil.rmtree(home, ignore_errors=True)
    ctl("create", "mixed", "-o", home)
    ctl("create", "apps", "-o", "/dev/shm/apps")
    for name in "apps", "mixed":
        ctl("enable-event", "-u", "-s", name, "alternate:*")
        ctl("start", name)
    alternate(nr)
    check(set(consumers()) == {0}, f"without a channel of the kernel: {consumers()}")
    ctl("enable-event", "-k", "-s", "mixed", "cpu_frequency")
    kernel, own = await_consumer("kernel"), consumers()[0]
    found = subprocess.run(["lttctl", "doctor"], capture_output=True, text=True, check=False).stdout
    check(f"the consumer daemon of the kernel (pid {kernel}, " in found, found)
    emit()
    kib = memory(kernel)  # more than a half: pages of the TLS library, which all consumers share
    check(kib <= 2048, f"the kernel's consumer takes {kib} KiB")
    before = times()
    os.kill(kernel, signal.SIGSTOP)
    alternate(nr)
    emit()
    stopped = times()
    check(max(stopped.values()) < 5, f"commands of another session take {stopped} s")
    print(f"{kib} KiB;", ", ".join(f"{name} {s:.2f} s, before {before[name]:.2f}" for name, s in stopped.items()))
    os.kill(kernel, signal.SIGKILL)
    second = await_consumer("kernel", kernel)
    emit()
    check(consumers()[0] == own, "the other consumer ended, too")
    os.kill(own, signal.SIGKILL)
    alternate(nr)
    emit()
    await_consumer(0, own)
    check(consumers()["kernel"] == second, "the kernel's consumer ended, too")
    kill("ltt-sessiond")
    emit()
    ctl("flush", "mixed")
    check(consumers()["kernel"] == second, "the next session daemon started another consumer")
    kill("ltt-sessiond", "ltt-consumerd")
    emit()
    ctl("flush", "mixed")
    alternate(nr)
    kill("ltt-keeperd", "ltt-sessiond")
    emit()
    ctl("flush", "mixed")
    alternate(nr)
    ctl("stop", "apps")
    ctl("destroy", "apps")
    ctl("set-session", "mixed")
    finish("mixed", home, 7 * EMITTED + 5 * nr)
    seen = names(home)
    check((seen.count("cpu_frequency"), seen.count("alternate:mark")) == (7 * EMITTED, 5 * nr), len(seen))
    check(len(names("/dev/shm/apps")) == 5 * nr, "events of the other session")
    until(lambda: set(consumers()) == {0}, "the kernel's consumer to end")
    check(not glob.glob("/run/ltt/consumer-kernel*"), "its socket is left")


def test_rotate_both():
    """One rotation over two consumers, that of the user and that of the kernel, while both record: each archive
    has both and is read alone, and together they have all events once. Each consumer is killed amid one, then
    the session daemon with both."""
    nr, out = 400, begin("turns", ("-k", "cpu_frequency"), ("-k", "--syscall", "getpgid"), ("-u", "alternate:*"))
    await_consumer("kernel")
    emitted, over = [0, 0], threading.Event()

    def record():
        while not over.is_set():
            emit()
            alternate(nr)
            emitted[0] += EMITTED
            emitted[1] += nr

    recorder = threading.Thread(target=record, daemon=True)
    recorder.start()
    for victims in (), ("kernel",), (0,), ("kernel", 0, "ltt-sessiond"), ():
        before = emitted[0]
        until(lambda: emitted[0] > before, "events of both")  # pylint: disable=cell-var-from-loop
        turn = subprocess.Popen(["lttctl", "--json", "rotate", "turns"], stdout=subprocess.PIPE, text=True)
        for victim in victims:
            for pid in pids(victim) if isinstance(victim, str) and victim != "kernel" else [consumers()[victim]]:
                os.kill(pid, signal.SIGKILL)
        turn.communicate()
        if turn.returncode:  # the session daemon was killed
            check("ltt-sessiond" in victims, f"rotate after {victims}: status {turn.returncode}")
            until(lambda: run("lttctl", "rotate", "turns", status=None).returncode == 0, "a rotation")
        await_consumer("kernel")
    over.set()
    recorder.join()
    total = ctl("stop")["result"]["sessions"][0]["totals"]
    check((total["recorded"], total["lost"]) == (emitted[0] + 3 * emitted[1], 0), f"{total} of {emitted}")
    archives = sorted(glob.glob(f"{out}/archives/[0-9]*"), key=lambda path: int(path.rsplit("-", 1)[1]))
    check(len(archives) >= 5, archives)
    seen = collections.Counter()
    for path in archives + [f"{out}/kernel", f"{out}/ust"]:
        found = run("lttctl", "verify", path).stdout
        check("none was lost" in found and "older events" not in found, f"{path}: {found}")
        there = collections.Counter(names(path))
        if path in archives:
            check(sorted(os.listdir(path))[-2:] == ["kernel", "ust"] and there["cpu_frequency"] and there["alternate:mark"],
                  f"{path}: {os.listdir(path)}, {there}")
        seen += there
    check(seen == {"cpu_frequency": emitted[0], **dict.fromkeys(
        ("alternate:mark", "syscall_entry_getpgid", "syscall_exit_getpgid"), emitted[1])}, f"{seen} of {emitted}")
    for path in out, f"{out}/archives":
        found = run("lttctl", "verify", path).stdout
        check("none was lost" in found and "older events" not in found, f"{path}: {found}")
    os.rename(archives[1], "/dev/shm/missing")
    found = run("lttctl", "verify", out, status=3).stderr
    for part in "kernel", "ust":
        check(re.search(rf"of {part}/\S+ are missing between archive \S+-1 and archive \S+-3$", found, re.M), found)
    ctl("destroy", "turns")


def test_kernel_consumer_few():
    """A session with a greatest size has one writer, as the size is of all its files."""
    ctl("create", "sized", "-o", "/dev/shm/sized", "--max-size=8M")
    ctl("enable-event", "-k", "cpu_frequency")
    ctl("start")
    emit()
    check(set(consumers()) == {0} and maps_rings(consumers()[0]), f"{consumers()}")
    finish("sized", "/dev/shm/sized", EMITTED)


def test_group():
    """A member of the group records the kernel and a program: its program's rings are read by a consumer
    of that user without any rights, the kernel's by the kernel's, which writes files of that user. Both
    are killed, and so is the session daemon; nothing is lost."""
    home, nr = "/dev/shm/member", 3000
    os.makedirs(home)
    os.chown(home, USER, USER)
    user = {"env": {**os.environ, "LTT_HOME": home, "HOME": home, "LTT_REGISTER_TIMEOUT": "20000"},
            "user": USER, "group": USER, "extra_groups": [grp.getgrnam(GROUP).gr_gid]}
    daemon = "ltt-sessiond", "-b", f"--group={GROUP}"
    no_pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    end_daemons()
    subprocess.run(daemon, **no_pipes)  # it would keep pipes open
    out = f"{home}/trace"
    ctl("create", "mine", "-o", out, **user)
    ctl("enable-channel", "-k", "mapped", **user)
    ctl("enable-event", "-k", "-c", "mapped", "cpu_frequency", **user)
    ctl("enable-event", "-k", "-c", "mapped", "--syscall", "getpgid", **user)
    ctl("enable-channel", "-k", "spliced", "--output=splice", "--subbuf-size=64k", "--num-subbuf=16", **user)
    ctl("enable-event", "-k", "-c", "spliced", "cpu_frequency", **user)
    ctl("enable-event", "-u", "alternate:*", **user)
    ctl("start", **user)
    mount_debugfs()
    check(text_folders() == {f"mine-{USER}"}, text_folders())
    program = subprocess.Popen([f"{BUILD}/prog/alternate", str(nr)], **user)
    consumer, kernel = await_consumer(USER), await_consumer("kernel")
    check(not maps_rings(consumers()[0]), "root's consumer has the rings, too")
    check(not has_module(consumer) and has_module(kernel), "the user's consumer has the kernel's channel")
    with open(f"/proc/{consumer}/status") as f:
        rights = re.findall(r"^Cap(?:Prm|Eff|Amb):\s*(\w+)", f.read(), re.M)
    check([int(r, 16) for r in rights] == [0, 0, 0], f"rights of the consumer: {rights}")
    emit()
    os.kill(consumer, signal.SIGKILL)
    os.kill(kernel, signal.SIGKILL)
    emit()
    check(program.wait() == 0, "the program failed")
    second, kernel = await_consumer(USER, consumer), await_consumer("kernel", kernel)
    kill("ltt-sessiond")
    emit()
    subprocess.run(daemon, **no_pipes)
    ctl("status", **user)
    check(text_folders() == {f"mine-{USER}"}, text_folders())
    check(consumers() == {0: consumers()[0], USER: second, "kernel": kernel},
          "another session daemon started another consumer")
    os.kill(second, signal.SIGKILL)
    ctl("flush", **user)
    run(f"{BUILD}/prog/alternate", nr, **user)
    emit()
    ended = ctl("stop", **user)["result"]["sessions"][0]["totals"]
    run("lttctl", "verify", out, **user)
    check((ended["recorded"], ended["lost"]) == (2 * 4 * EMITTED + 2 * 3 * nr, 0), ended)
    seen = names(out)
    check(len(seen) == ended["recorded"] and seen.count("cpu_frequency") == 2 * 4 * EMITTED, len(seen))
    check_alternation(out, 2 * nr)
    viewed = run("lttctl", "view", "-t", out, **user).stdout
    check(viewed.count(" power:cpu_frequency:") + viewed.count(" cpu_frequency:") == 2 * 4 * EMITTED,
          viewed[:300])
    owners = {os.stat(os.path.join(top, name)).st_uid for top, _, files in os.walk(out) for name in files}
    check(owners == {USER}, f"files of {owners}")
    ctl("destroy", "mine", **user)
    until(lambda: set(consumers()) == {0}, "the other consumers to end")
    check(text_folders() == set(), text_folders())
    end_daemons()


def outputs_of(reader, out, pid):
    """Records of the program, from one call of getpriority to the next."""
    lines = [f"{name}: {values.pop()}" for name, values in
             ((line.split(": ", 1)[0].split()[-1], re.findall(r"\{ ((?:[^{}\"]|\"[^\"]*\")*) \}", line))
              for line in run(*reader, out).stdout.splitlines() if re.search(rf"vpid = {pid} |\[{pid}\] +\w+: ", line))]
    begin, end = (i for i, line in enumerate(lines) if line.startswith("syscall_exit_getpriority:"))
    return lines[begin:end + 1]


def test_outputs():
    """Exits have the memory that a call filled: for root all of it, for a member of the group no data."""
    home = "/dev/shm/member"
    os.makedirs(home)
    os.chown(home, USER, USER)
    member = {"env": {**os.environ, "LTT_HOME": home, "HOME": home}, "user": USER, "group": USER,
              "extra_groups": [grp.getgrnam(GROUP).gr_gid]}
    end_daemons()
    subprocess.run(("ltt-sessiond", "-b", f"--group={GROUP}"), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    calls = {line.split(":")[0] for line in run(f"{WORK}/outputs").stdout.splitlines()[1:]}
    for user, out in ({}, "/dev/shm/outputs"), (member, f"{home}/outputs"):
        ctl("create", "outputs", "-o", out, **user)
        ctl("add-context", "-k", "-t", "vpid", **user)
        ctl("enable-event", "-k", ",".join(calls), **user)
        ctl("start", **user)
        pid, *want = run(f"{WORK}/outputs").stdout.splitlines()
        ctl("stop", **user)
        ctl("destroy", "outputs", **user)
        want = [line.lower() for line in want]
        if user:
            data = r"_(u?buf|m?msg_msg_iov|(?<=preadv: ret = 302, _)vec)_length = [1-9]\d*, \1 = \[[^a-z].*? \](?=,|$)"
            check(sum(bool(re.search(data, line)) for line in want) >= 6, want)
            want = [re.sub(data, r"_\1_length = 0, \1 = [ ]", line) for line in want]
        for reader in ("babeltrace2", "--no-delta"), ("lttctl", "view"):
            have = [line.lower() for line in outputs_of(reader, out, pid)]
            check_same(have, want)
    end_daemons()


def as_user(call, groups=()):
    """In a process of another user's, without any right: errno, or 0."""
    pid = os.fork()
    if not pid:
        os.setgroups(groups)
        os.setgid(USER)
        os.setuid(USER)
        try:
            call()
        except OSError as e:
            os._exit(e.errno)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_control_refused():
    """No other user writes lines that control traces, member of the group or not; if the files' modes
    permit it, the module does not."""
    mount_debugfs()
    control = f"{DEBUGFS}/ltt/control"
    modes = {DEBUGFS: 0o755, f"{DEBUGFS}/ltt": 0o755, control: 0o666, "/dev/ltt": 0o666}
    before = {path: os.stat(path).st_mode & 0o777 for path in modes}
    for error in errno.EACCES, errno.EPERM:
        for path in "/dev/ltt", control:
            for groups in [], [grp.getgrnam(GROUP).gr_gid]:
                got = as_user(lambda path=path: say(path, b"create theirs\n"), groups)
                check(got == error, f"{path}, groups {groups}: {got}, not {error}")
        for path, mode in modes.items():
            os.chmod(path, mode)
    for path, mode in before.items():
        os.chmod(path, mode)
    check(not text_folders(), text_folders())


def test_rights():
    """A member of the group gets neither the kernel's memory nor its addresses; and a channel's descriptor,
    passed on by a daemon to a user's process, gives no more events or places."""
    user = {"env": {**os.environ, "LTT_HOME": "/dev/shm/rights", "HOME": "/dev/shm/rights"},
            "user": USER, "group": USER, "extra_groups": [grp.getgrnam(GROUP).gr_gid]}
    os.makedirs("/dev/shm/rights")
    os.chown("/dev/shm/rights", USER, USER)
    end_daemons()
    subprocess.run(["ltt-sessiond", "-b", f"--group={GROUP}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True)
    ctl("create", "mine", "-o", "/dev/shm/rights/trace", **user)
    ctl("enable-event", "-k", "sched_switch", **user)
    for options in (("--probe=do_sys_openat2", "--fetch=-6407448220($arg1):string"), ("--probe=do_sys_openat2",),
                    ("--function=do_sys_openat2",), ("--userspace-probe=libc.so.6:getppid",)):
        why = ctl("enable-event", "-k", *options, "place", status=None, **user)["error"]["text"]
        check("only root may place probes in" in why, f"{options}: {why}")
    why = ctl("add-context", "-k", "-t", "procname", "-t", "callstack-kernel", status=None, **user)["error"]["text"]
    check("only root may record addresses of the kernel" in why, why)
    for pattern in ("sample:*", "cpu_sample_99hz", "sample:cpu_sample_997hz"):
        for options in ((), ("--count",)):
            why = ctl("enable-event", "-k", *options, pattern, status=None, **user)["error"]["text"]
            check("only root may take samples" in why, why)
        why = ctl("on", "-k", pattern, "-n", "samples", status=None, **user)["error"]["text"]
        check("only root may take samples" in why, why)
    ctl("add-context", "-k", "-t", "procname", **user)
    ctl("destroy", "mine", **user)
    end_daemons()
    device = os.open("/dev/ltt", os.O_RDWR)
    channel = Requests(device, (b"mine", 1, b"c"))
    fields = [(1, 64, b"ip")]
    for call in (lambda: channel.probe(1, UNLINK.encode(), b"name", fields),
                 lambda: channel.enable(2, b"sched:sched_switch")):
        check(as_user(call) == errno.EPERM, "a user's process has changed root's channel")
        call()
    channel.close()
    os.close(device)


def lockdown_says(*argv):
    why = ctl(*argv, status=None)
    check("locked down" in str(why), f"{argv}: {why}")


def test_lockdown():
    """It is raised while a session records. This machine has it until its end."""
    security = "/sys/kernel/security"
    if not os.path.ismount(security):
        run("busybox", "mount", "-t", "securityfs", "none", security)
    ctl("create", "before", "-o", "/dev/shm/before")
    ctl("enable-event", "-k", "cpu_frequency")
    ctl("start")
    device = os.open("/dev/ltt", os.O_RDWR)
    held = Requests(device, (b"held", 1, b"c"))
    mount_debugfs()
    with open(f"{security}/lockdown", "w") as f:
        f.write("integrity")
    refused(lambda: os.open(f"{DEBUGFS}/ltt/control", os.O_WRONLY), errno.EPERM)
    said("/dev/ltt", "create shell", "enable shell sched_switch", "start shell")
    until(lambda: counts_of("shell")[1]["sched:sched_switch"][0], "records of a trace")
    with open(f"{security}/lockdown", "w") as f:
        f.write("confidentiality")
    refused(lambda: os.write(device, b"stop shell\n"), errno.EPERM)
    refused(lambda: Requests(device, (b"later", 2, b"c")), errno.EPERM)
    refused(lambda: held.probe(1, UNLINK.encode(), b"name", [(1, 64, b"ip")]), errno.EPERM)
    refused(lambda: os.open("/dev/ltt", os.O_RDWR), errno.EPERM)
    held.close()
    os.close(device)
    lockdown_says("enable-event", "-k", f"--probe={UNLINK}", "place")
    ctl("stop")
    ctl("destroy", "before")
    ctl("create", "after", "-o", "/dev/shm/after")
    ctl("enable-event", "-k", "cpu_frequency")
    lockdown_says("start")
    ctl("destroy", "after")
    end_daemons()
    ctl("create", "next", "-o", "/dev/shm/next")  # by a daemon that has not opened the device
    lockdown_says("enable-event", "-k", "cpu_frequency")
    lockdown_says("doctor", "-k")
    ctl("destroy", "next")


def hold_settings(module):
    """A session with all that rules of the kernel have; the module has registered its channel."""
    insmod(module)
    shutil.copy(f"{WORK}/usdt", "/dev/shm/usdt")
    ctl("create", "settings", "-o", "/dev/shm/settings")
    ctl("enable-channel", "-k", "c", "--subbuf-size=64k", "--num-subbuf=8", "--output=splice")
    ctl("add-context", "-k", "-c", "c", "-t", "procname", "-t", "uid", "-t", "perf:cpu:page-faults")
    on = "enable-event", "-k", "-c", "c"
    ctl(*on, "power:*", "-x", "cpu_idle*,power:ps*,p*_d*_*,clock_*", "--filter", 'state % 3 == 0 && $ctx.uid == 0')
    ctl(*on, "--syscall", "getpriority", "--filter", '$ctx.procname == "hit"')
    ctl(*on, "--probe=__x64_sys_getpriority", "--fetch=first=+112($arg1):u64 $comm", "called")
    ctl(*on, "--function=__x64_sys_getpriority", "--fetch=got=$retval:s64", "--filter", "ret == -22", "fn")
    ctl(*on, "--userspace-probe=/dev/shm/usdt:shop_sell", "--fetch=nr=$arg1:u32 what=+0($arg2):string",
        "--filter", "nr % 2 == 0", "sell")
    ctl(*on, "--userspace-probe=sdt:/dev/shm/usdt:shop:sold", "sold")
    ctl(*on, "sched_switch")
    ctl("disable-event", "-k", "sched_switch")
    ctl("enable-event", "-k", "example:*")
    ctl("enable-event", "-k", "--count", "cpu_freq*y")
    ctl("enable-event", "-k", "--histogram=state", "power:cpu_frequency")
    ctl("enable-channel", "-k", "off")
    ctl("disable-channel", "-k", "off")
    ctl("track", "-k", "--uid=0,4711")
    ctl("start")


def test_saved():
    """A session with each kind of rule of the kernel is saved, destroyed and loaded: it is listed as
    before, and it records."""
    module = f"{WORK}/kmod/examples/ltt_example_provider.ko"
    hold_settings(module)
    before = saved.listed("settings")
    file = ctl("save")["result"]["sessions"][0]["file"]
    named = saved.elements(file)
    check({"fetch", "preset"} <= named, f"the file has only {named}")
    ctl("destroy", "settings")
    shutil.rmtree("/dev/shm/settings")
    saved.load()
    ctl("set-session", "settings")
    after = saved.listed("settings")
    for channel in before["channels"]:
        channel["preset"] = False  # loaded, it is one of the user's channels
    check(after == before, f"was {json.dumps(before)}\nis {json.dumps(after)}")
    hit(100, 4711)
    hit(10, 4712)
    emit()
    check(heard("/dev/shm/usdt", 30) == 30, "the program has no probe")
    write("/sys/module/ltt_example_provider/parameters/jobs", 40)
    until(lambda: counted()["power:cpu_frequency", None]["count"] == EMITTED, "the counting rule")
    finish("settings", "/dev/shm/settings")
    seen = names("/dev/shm/settings")
    counts = {n: seen.count(n) for n in set(seen)}
    want = {"called": 100, "fn_exit": 100, "fn_entry": 0, "sell": 15, "syscall_entry_getpriority": 100, "job": 40}
    check({n: counts.get(n, 0) for n in want} == want and "sched_switch" not in counts, counts)
    states = [e[2]["state"] for e in read_fields("/dev/shm/settings") if e[0] == "cpu_frequency"]
    check(len(states) == 8 * 334 and all(s % 3 == 0 for s in states), len(states))
    run("busybox", "rmmod", "ltt_example_provider")


def test_flush():
    """The events before a flush are in the files after it, while the session records and no timer
    writes them."""
    out = begin("flush", ("-k", "-c", "c", "cpu_frequency"), channel=("--switch-timer=3600000000",))
    emit()
    ctl("flush")
    check(len(names(out)) == EMITTED, f"{len(names(out))} of {EMITTED}")
    emit()
    check(len(names(out)) == EMITTED, "they are written without a flush")
    write("/dev/shm/go", "")
    writer = subprocess.Popen(["sh", "-c", f"""
        while [ -e /dev/shm/go ]; do
            busybox insmod {WORK}/emit/ltt_emit.ko count=1000 && busybox rmmod ltt_emit || exit
            echo >>/dev/shm/runs; sleep 1
        done"""])
    grown = [2 * EMITTED]
    for _ in range(2):
        until(lambda: recorded() > grown[-1], "more events")
        before = recorded()
        ctl("flush")
        grown.append(len(names(out)))
        check(grown[-1] >= before, f"{grown[-1]} in the files, {before} before the flush")
    os.remove("/dev/shm/go")
    check(writer.wait() == 0, "the writer failed")
    emitted = (2 + os.path.getsize("/dev/shm/runs")) * EMITTED
    finish("flush", out, emitted)
    check(len(names(out)) == emitted, f"{len(names(out))} of {emitted}")


def remove_examples():
    for name in "count", "probe", "marker", "private", "provider", "ftrace":
        if os.path.exists(f"/sys/module/ltt_example_{name}"):
            run("busybox", "rmmod", f"ltt_example_{name}")
    if not os.path.exists("/sys/module/ltt"):
        load_module()


def kernel_module(path):
    """Load one of the kernel's own. Return: whether there is one."""
    file = f"{os.environ['LTT_VM_MODULES']}/lib/modules/{os.uname().release}/kernel/{path}.ko"
    if not os.path.exists(file) and not os.path.exists(f"{file}.xz"):
        return False
    if not os.path.exists(file):
        with open("/dev/shm/module.ko", "wb") as out:
            subprocess.run(["xz", "-dc", f"{file}.xz"], stdout=out, check=True)
        file = "/dev/shm/module.ko"
    insmod(file)
    return True


def load_kvm():
    """Return: whether this machine can run machines: the emulator has AMD's virtualization."""
    if not os.path.exists("/sys/module/kvm_amd") and " svm" in open("/proc/cpuinfo").read():
        all(map(kernel_module, ("virt/lib/irqbypass", "drivers/crypto/ccp/ccp", "arch/x86/kvm/kvm",
                                "arch/x86/kvm/kvm-amd")))
    return os.path.exists("/dev/kvm")


def debugfs():
    if not os.path.ismount("/sys/kernel/debug"):
        run("busybox", "mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug")
    return "/sys/kernel/debug"


def shown(out, *options):
    return [json.loads(line) for line in run("lttctl", "view", "--json", *options, out).stdout.splitlines()]


def vcpus_shown(events):
    """(number, offset, ratio) of each."""
    fields = [e["fields"] for e in events if e["event"] == "lttng_statedump_kvm_vcpu"]
    return [(f["vcpu"], int(f["tsc_offset"]), int(f["tsc_scaling_ratio"]) / (1 << f["tsc_scaling_ratio_frac_bits"]))
            for f in fields]


@contextlib.contextmanager
def machine(rounds, *tsc):
    """A hypervisor and its machine (vcpu.c)."""
    with subprocess.Popen([f"{WORK}/vcpu", str(rounds), *map(str, tsc)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as vcpu:
        check(vcpu.stdout.readline() == "ready\n", "no machine")
        yield vcpu


def test_kvm():
    """The state dump has the offsets that kvm's debugfs shows, and a guest's counter is the host's
    with that offset."""
    if not load_kvm():
        print("control: no KVM")
        return
    os.environ["LTT_CLOCK"] = "cycles"
    with machine(20, 5 * 10**12) as vcpu:
        out = begin("kvm", ("-k", "lttng_statedump_kvm_vcpu,lttng_statedump_end"),
                    ("-k", "kvm:kvm_write_tsc_offset,syscall_entry_getpriority"))
        until(lambda: "statedump_end" in run("lttctl", "view", "--statedump", out).stdout, "the state", 30)
        offsets = [int(open(f).read())
                   for f in sorted(glob.glob(f"{debugfs()}/kvm/{vcpu.pid}-*/vcpu*/tsc-offset"))]
        stamps = [list(map(int, line.split())) for line in vcpu.communicate("\n")[0].splitlines()]
    finish("kvm", out)
    events = shown(out, "--statedump")
    check(vcpus_shown(events) == [(i, offset, 1) for i, offset in enumerate(offsets)],
          f"{events} {offsets}")
    check({e["fields"]["pid"] for e in events if "statedump_kvm" in e["event"]} == {vcpu.pid}, events)
    writes = [e["fields"] for e in events if e["event"] == "kvm_write_tsc_offset"]
    check([w["vcpu_id"] for w in writes] == [0, 1], events)
    check([int(w["previous_tsc_offset"]) for w in writes] == [o % 2**64 for o in offsets], writes)
    for i, (cpu, before, guest, after) in enumerate(stamps):
        offset = offsets[cpu] if i < 10 else int(writes[cpu]["next_tsc_offset"])
        check(before <= (guest - offset) % 2**64 <= after, f"{i}: {stamps[i]} {offset}")
    check_guest_order(out, vcpu.pid, stamps)


NESTED = "/tmp/nested"  # shared with the guest of this machine, by the same path
IN_GUEST = """
export HOME=/root TERM=dumb PATH={build}/bin:{build}/prog:/usr/sbin:/usr/bin:/sbin:/bin
export LTT_RUNDIR=/run/ltt LTT_HOME=/tmp/home LTT_REGISTER_TIMEOUT=60000 LTT_CLOCK
mkdir -p /tmp/home /run
while [ ! -e {nested}/go ]; do sleep 0.2; done
for LTT_CLOCK in cycles monotonic; do
    lttctl record -o /tmp/$LTT_CLOCK -u -e 'echoes:*' -- python3 {here}/vm/exchange.py {nested}/$LTT_CLOCK 20
    lttctl shutdown --force
    cp -r /tmp/$LTT_CLOCK {nested}/trace-$LTT_CLOCK
done
"""


@contextlib.contextmanager
def guest_system():
    """A guest with a kernel as this one, by KVM. Return: its hypervisor's process."""
    kernel, here = os.path.dirname(os.environ["LTT_VM_MODULES"]), f"{os.environ['TOP']}/tests"
    os.makedirs(NESTED)
    for name, text in (("where", f"{NESTED}\n"),
                       ("command", IN_GUEST.format(build=BUILD, nested=NESTED, here=here))):
        with open(f"{NESTED}/{name}", "w", encoding="ascii") as f:
            f.write(text)
    shares = []
    for name, path, access in (("host", "/", ",readonly=on,multidevs=remap"), ("share", NESTED, "")):
        shares += ["-fsdev", f"local,id={name},path={path},security_model=none{access}",
                   "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}"]
    with subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-smp", "1", "-M", "q35", "-m", "320",
             "-nodefaults", "-display", "none", "-no-reboot", "-serial", f"file:{NESTED}/console",
             "-kernel", f"{kernel}/vmlinux", "-initrd", f"{kernel}/initrd", "-append",
             "console=ttyS0 quiet panic=-1 oops=panic mitigations=off no_timer_check tsc=reliable "
             "cryptomgr.notests", *shares]) as qemu:
        try:
            yield qemu
        finally:
            qemu.kill()


def ends(process, seconds=300):
    """Exit status; None: it did not end in time."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(seconds)


def test_kvm_guest():
    """Both are traced: the events of a program in the guest, and the files that its hypervisor opens for
    it in between, are in the order of their causes, by either clock of the guest."""
    if not load_kvm():
        print("control: no KVM")
        return
    if os.environ["LTT_VM_THREAD"] == "single":
        print("control: QEMU runs no guest in a machine of which the CPUs take turns")
        return
    os.environ["LTT_CLOCK"] = "cycles"
    with guest_system() as qemu:
        until(lambda: glob.glob(f"{debugfs()}/kvm/{qemu.pid}-*/vcpu0/tsc-offset"), "the guest")
        out = begin("nested", ("-k", "lttng_statedump_kvm_vcpu,lttng_statedump_end,syscall_entry_openat"),
                    ("-k", "kvm:kvm_write_tsc_offset"))
        with open(f"{NESTED}/go", "w", encoding="ascii"):
            pass
        status = ends(qemu)
        with open(f"{NESTED}/console", encoding="ascii", errors="replace") as f:
            check(status == 0 and os.path.isdir(f"{NESTED}/trace-monotonic"), f"the guest: {status}\n{f.read()[-2000:]}")
    finish("nested", out)
    for clock in "cycles", "monotonic":
        done = run("lttctl", "view", "--json", f"--guest={NESTED}/trace-{clock}:{qemu.pid}", out)
        order = []
        for event in map(json.loads, done.stdout.splitlines()):
            name = event["fields"].get("filename", "")
            if event["event"] == "echoes:line":
                order.append(("line", event["fields"]["number"]))
            elif found := re.search(rf"\b{clock}-(\d+)$", name):
                if order[-1:] != [("open", int(found[1]))]:  # it may open it more than once
                    order.append(("open", int(found[1])))
        print("control:", re.search("Note: times of guest.*", done.stderr)[0], flush=True)
        check(order == [(kind, i) for i in range(20) for kind in ("line", "open")], f"{clock}: {order} {done.stderr}")


def check_guest_order(out, pid, stamps):
    """Each reading of the guest is between two calls of its hypervisor, also behind the change."""
    shutil.rmtree("/dev/shm/guest", ignore_errors=True)
    guesttrace.stamps("/dev/shm/guest", [(cpu, guest) for cpu, _, guest, _ in stamps], freq=10**9)
    run("babeltrace2", "/dev/shm/guest")
    done = run("lttctl", "view", "--json", f"--guest=/dev/shm/guest:{pid}", out)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    for event in events:
        schema.answer(event, "event_line")
    order = [("call", e["fields"]["who"]) if "getpriority" in e["event"] else ("guest", e["fields"]["n"])
             for e in events if e["event"] in ("syscall_entry_getpriority", "guest:stamp")]
    check(order == [(kind, i) for i in range(len(stamps)) for kind in ("call", "guest")], order)
    check(f"times of guest {pid} (/dev/shm/guest) are by its host's clock" in done.stderr, done.stderr)
    if keep := os.environ.get("LTT_VM_SHARE"):  # recorded numbers of tests/data/kvm
        shutil.copytree(out, f"{keep}/kvm-host", dirs_exist_ok=True)
        with open(f"{keep}/kvm-stamps", "w", encoding="ascii") as f:
            f.writelines(f"{' '.join(map(str, stamp))}\n" for stamp in stamps)


def test_designs():
    """The commands of tests/designs/README.md that need the module."""
    tools, folder = "/dev/shm/tools", "/sys/kernel/debug"
    os.makedirs(tools)
    for name in "insmod", "rmmod", "ip":
        os.symlink(shutil.which("busybox"), f"{tools}/{name}")
    if not os.path.ismount(folder):
        run("busybox", "mount", "-t", "debugfs", "debugfs", folder)
    env = {**os.environ, "PATH": f"{tools}:{BUILD}/prog:{os.environ['PATH']}", "LTT_REGISTER_TIMEOUT": "20000"}
    with open(f"{os.environ['TOP']}/tests/designs/README.md", encoding="utf-8") as f:
        requests = pages.requests(f.read())
    blocks = [(r, b) for r in requests for b in r.blocks if b.is_kernel]
    if not os.path.exists(f"{folder}/ltt/ltt-view"):
        blocks = [(r, b) for r, b in blocks if "ltt-view" not in b.script]
    problems = []
    for request, block in blocks:
        done = pages.run(block.script, 100, ["-e"], both=True, cwd=f"{WORK}/kmod/examples", env=env)
        if problem := block.problem(done.returncode, done.stdout):
            problems.append(f"{request.number}. {request.title}: {problem}")
        end_daemons()
        remove_examples()
    check(len(blocks) > 10 and not problems, f"{len(problems)} of {len(blocks)}\n" + "\n".join(problems))
    print(f"control: designs: {len(blocks)} commands")


def poll_labels():
    """Elements of a sequence have names, in filters of the kernel, of the reader, and for other readers."""
    out = begin("polled", ("-k", "--filter", "ufds_revents[1] == POLLOUT", "syscall_exit_poll"))
    for turn in range(3):
        ends = os.pipe()
        if turn == 1:
            os.close(ends[0])
        waits = select.poll()
        for end in ends[turn == 1:]:
            waits.register(end, select.POLLIN | select.POLLOUT)
        waits.poll(0)
    finish("polled", out)
    have = [json.loads(line)["fields"]["ufds_revents"] for line in
            run("lttctl", "view", "--json", "--where", "ufds_revents[0] != POLLIN && ufds_events[1] == 'POLLIN|POLLOUT'", out).stdout.splitlines()]
    check(have == 2 * [[{"labels": [], "value": 0}, {"labels": ["POLLOUT"], "value": 4}]], have)
    other = run("babeltrace2", out).stdout
    check('[1] = ( "POLLIN|POLLOUT" : container = 0x5 ) ]' in other, other)
    wrong = ctl("filter", "-k", "--check", "ufds_revents[0] == POLLINN", "--event", "syscall_exit_poll", status=4)["result"]["verdicts"]
    check("did you mean 'POLLIN'?" in wrong[0]["why"], wrong)


MANY = ("sched:*", "irq:*", "timer:*", "kmem:*", "task:*", "signal:*", "workqueue:*",
        "syscall_entry_*")
def calls_between_marks(lines):
    """Texts of the events of this process, from the first mark to the second, and from the third to the last."""
    lines = [line for line in lines if f" pid = {os.getpid()}," in line]
    marks = [nr for nr, line in enumerate(lines) if "syscall_entry_lseek" in line and "offset = 4711" in line]
    check(len(marks) == 4, f"{len(marks)} marks in {len(lines)} events: {lines[:3]}")
    return [re.sub(r"cpu_id = \d+", "cpu_id", line) for first, last in (marks[:2], marks[2:])
            for line in lines[first:last + 1]]


def test_ctf_2():
    """A session in CTF 2 beside one in CTF 1.8: a decoder of the specification shows the same events of the kernel,
    with contexts of channels and late ones, also after the session daemon was killed."""
    outs = {}
    for form in "ctf-2", "ctf-1.8":
        outs[form] = f"{os.environ.get('LTT_VM_SHARE', '/dev/shm')}/{form}"
        shutil.rmtree(outs[form], ignore_errors=True)
        ctl("create", form, "-F", form, "-o", outs[form])
        ctl("enable-channel", "-k", "c", "--subbuf-size=1M")
        ctl("add-context", "-k", "-c", "c", "-t", "pid", "-t", "procname")
        ctl("enable-event", "-k", "-c", "c", "--syscall", "openat,lseek,socket,futex,mprotect,kill,poll,sendto,sendmsg")
        ctl("enable-event", "-k", "-c", "c", "sched_process_fork,sched_switch,kmem:rss_stat,power:cpu_frequency")
        ctl("start", form)
    libc = ctypes.CDLL(None, use_errno=True)
    ours, theirs = socket.socketpair(type=socket.SOCK_DGRAM)
    for late in False, True:
        if late:
            for form in outs:
                ctl("add-context", "-k", "-s", form, "-c", "c", "-t", "tid", "-t", "nice")
            kill("ltt-sessiond")
            ctl("status", status=None)
        libc.lseek(-1, 4711, 2)
        for _ in range(20):
            os.close(os.open("/dev/shm/made", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            libc.syscall(ctypes.c_long(257), ctypes.c_long(-100), b"/no/such", ctypes.c_long(os.O_RDWR), ctypes.c_long(0))
            ours.sendall(b"datagram")
            ours.sendmsg([b"parts"])
            poller = select.poll()
            poller.register(theirs.fileno(), select.POLLIN)
            check(poller.poll(0), "poll")
            os.kill(os.getpid(), 0)
        libc.lseek(-1, 4711, 2)
    for form, out in outs.items():
        ctl("stop", form)
        ctl("destroy", form)
    trace, = ctf2.traces(outs["ctf-2"])
    got = calls_between_marks(text for _, text in ctf2.events(trace))
    shown = run("babeltrace2", "--no-delta", outs["ctf-1.8"]).stdout.splitlines()
    wanted = calls_between_marks(re.sub(r"^\[[^]]*\] (?:\S+ )?(?=\w+: \{)", "", line) for line in shown)
    for a, b in zip(got, wanted):
        check(a == b, f"{a}\n{b}")
    check(len(got) == len(wanted) and len(got) > 400, f"{len(got)} and {len(wanted)} events")
    check(any(" nice = " in line for line in got) and any(" nice = " not in line for line in got), "contexts")
    with open(f"{trace}/metadata", "rb") as f:
        metadata = ctf2.Metadata(f.read())
    check(metadata.trace["environment"]["domain"] == "kernel", "the environment")
    check(metadata.aliases["ltt_errno"]["mappings"]["ENOENT"] == [[-2, -2]], "names of errors")


def test_labels():
    """Names of arguments and results of system calls: all that labels.txt has are fields of this kernel."""
    out = begin("labels", ("-k", "--syscall", "openat,lseek,socket,futex,mprotect,access,kill"))
    points = {p["name"]: {f["name"]: f["type"] for f in p.get("field_list", ())}
              for p in ctl("list", "-k", "--syscall", "--fields")["result"]["points"]}
    with open(f"{os.environ['TOP']}/src/sessiond/domain/kernel/labels.txt", encoding="utf-8") as f:
        uses = re.findall(r"\b(\w+):(\w+)\b", "\n".join(re.findall(r"^use .*(?:\n .*)*", f.read(), re.M)))
    wrong = [(call, field, sides) for call, field, *sides in
             ((call, field, *(points[side] for side in (f"syscall_entry_{call}", f"syscall_exit_{call}") if side in points))
              for call, field in uses)
             if sides and not {side.get(field) for side in sides} & {"enum", "sequence of enums"}]
    check(len(uses) > 90 and not wrong, f"{len(uses)}: {wrong}")
    libc = ctypes.CDLL(None, use_errno=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    calls = ((257, -100, b"/dev/shm/made", flags, 0o600), (257, -100, b"/no/such", os.O_RDWR | os.O_CLOEXEC, 0),
             (8, -1, 4711, 2), (41, 10, 0o2000002, 0), (202, None, 129, 1, 0, 0, 0), (10, None, 0, 3),
             (21, b"/no/such", 6), (62, os.getpid(), 0))
    for call in calls:
        libc.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in call))
    finish("labels", out)
    by_other = run("babeltrace2", out).stdout
    for text in ('flags = ( "O_RDWR|O_CLOEXEC" : container = 0x80002 )', f"flags = ( <unknown> : container = 0x{flags:X} )",
                 'offset = 4711, whence = ( "SEEK_END" : container = 2 )', 'family = ( "AF_INET6" : container = 10 )',
                 'type = ( "SOCK_DGRAM|SOCK_CLOEXEC" : container = 0x80002 )',
                 'op = ( "FUTEX_WAKE|FUTEX_PRIVATE_FLAG" : container = 0x81 )',
                 'prot = ( "PROT_READ|PROT_WRITE" : container = 0x3 )', 'mode = ( "R_OK|W_OK" : container = 0x6 )'):
        check(text in by_other, f"{text} is not in {by_other[:2000]}")
    ours = run("lttctl", "view", "-t", out).stdout
    check('flags = ( "O_RDWR" | "O_CREAT" | "O_NOFOLLOW" | "O_CLOEXEC" : container = ' in ours, ours[:2000])
    made = [json.loads(line)["fields"] for line in
            run("lttctl", "view", "--json", "--where", 'flags == "O_CREAT|O_NOFOLLOW" && flags == O_RDWR', out).stdout.splitlines()]
    check([f["flags"] for f in made if f.get("filename") == "/dev/shm/made"] ==
          [{"labels": ["O_RDWR", "O_CREAT", "O_NOFOLLOW", "O_CLOEXEC"], "value": flags}], made)
    rows = ctl("query", "SELECT flags, flags_value FROM syscall_entry_openat WHERE filename = '/dev/shm/made'", out)["result"]["rows"]
    check(rows == [["O_RDWR|O_CREAT|O_NOFOLLOW|O_CLOEXEC", flags]], rows)
    failed = run("lttctl", "view", "--where", "ret == ENOENT", out).stdout
    check(" syscall_exit_openat: " in failed and " syscall_exit_access: " in failed and "_kill" not in failed, failed[:1000])
    errors = {json.loads(line).get("error_name") for line in run("lttctl", "view", "--json", "--where", "ret == ENOENT", out).stdout.splitlines()}
    check(errors == {"ENOENT"}, errors)
    rows = ctl("query", "SELECT DISTINCT ret, ret_error FROM syscall_exit_access WHERE ret_error IS NOT NULL", out)["result"]["rows"]
    check([-2, "ENOENT"] in rows, rows)
    shown = ctl("filter", "-k", "--check", "ret == ENOENTS", "--event", "syscall_exit_openat", status=4)["result"]["verdicts"]
    check("did you mean 'ENOENT'?" in shown[0]["why"], shown)
    poll_labels()
    out = begin("filtered", ("-k", "--filter", "ret == ENOENT", "syscall_exit_openat"))
    for name in ("/no/such", "/proc/self/comm", "/no/such/either"):
        libc.open(name.encode(), os.O_RDONLY)
    finish("filtered", out)
    rets = [e["fields"]["ret"] for e in map(json.loads, run("lttctl", "view", "--json", out).stdout.splitlines())]
    check(len(rets) >= 2 and set(rets) == {-2}, rets)
    shown = ctl("filter", "-k", "--check", "flags == O_CREATE", "--event", "syscall_entry_openat", status=4)["result"]["verdicts"]
    check("did you mean 'O_CREAT'?" in shown[0]["why"], shown)


TESTS = (test_record, test_list, test_mi, test_list_active, test_exact, test_splice, test_both, test_counter_back, test_time_set, test_clock, test_one_command, test_latency, test_why, test_samples, test_samples_killed, test_record_running, test_record_sizes, test_memory_group,
         test_live, test_many, test_by_perf, test_contexts, test_late_contexts, test_preemptible, test_track, test_follow, test_follow_changes, test_own_daemons, test_argv, test_cgroup, test_places, test_modules_come, test_modules_killed, test_fetch, test_programs, test_replaced, test_other_root, test_points, test_filters, test_filter_changes, test_sampling, test_counted_keys,
         test_symbols, test_provider, test_traced, test_bytes, test_ftrace, test_ftrace_functions, test_channel_of_module, test_stats, test_triggers, test_triggers_modules, test_triggers_captures, test_triggers_ends, test_triggers_places, test_triggers_pairs, test_triggers_storm, test_triggers_killed, test_triggers_wake, test_text, test_text_live, test_text_requests, test_control_file, test_control_refused, test_text_forms, test_text_overwritten, test_state, test_changes, test_kvm, test_kvm_guest, test_doctor, test_saved, test_flush, test_group, test_outputs, test_labels, test_ctf_2, test_designs, test_kernel_consumer, test_rotate_both, test_kernel_consumer_few, test_kill_consumer,
         test_kill_sessiond, test_snapshot, test_recorder, test_snapshot_discard, test_overwrite, test_remember, test_snapshot_large, test_flight, test_disable_kind, test_disable_taken_over, test_kill_all, test_viewer, test_no_module, test_not_root, test_rights)
ALONE = (test_lockdown,)  # that change the machine for good: by name only


def tidy():
    """The machine's memory holds the traces, and the guest of a later test."""
    for path in set(glob.glob("/dev/shm/*")) - {HOME}:
        shutil.rmtree(path, ignore_errors=True)


def main():
    chosen = sys.argv[3:]
    os.makedirs(HOME, exist_ok=True)
    for test in TESTS + (ALONE if chosen else ()):
        name = test.__name__[5:]
        if chosen and name not in chosen:
            continue
        began = time.monotonic()
        try:
            load_module()
            test()
            tidy()
            print(f"control: {name} took {time.monotonic() - began:.1f} s", flush=True)
        except Exception as e:
            text = str(e) if isinstance(e, Failure) else traceback.format_exc()
            print(f"FAILED: control {name}: {text}", flush=True)
            for pid in sum(map(pids, DAEMONS), []):
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree("/run/ltt", ignore_errors=True)
    if any(map(pids, DAEMONS)):
        end_daemons()


if __name__ == "__main__":
    main()
