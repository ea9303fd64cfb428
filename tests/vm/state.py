#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""state.py hold COUNT FILE READY - be a process with two threads and COUNT children that
have FILE open; write the pids to READY, and wait to be killed.
state.py show - the state of the system as /proc and /sys show it, in JSON; this
program itself is part of it.
"""
import glob
import json
import os
import signal
import sys
import threading

NAMESPACES = ("cgroup", "ipc", "mnt", "net", "time", "uts", "pid", "user")
KTHREAD = 0x200000


def text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().rstrip("\n")


def thread(pid, tid):
    base = f"/proc/{pid}/task/{tid}"
    stat = text(f"{base}/stat").rsplit(")", 1)[1].split()
    return {"pid": pid, "ppid": int(stat[1]), "name": text(f"{base}/comm"),
            "type": int(bool(int(stat[6]) & KTHREAD)),
            "cgroup": text(f"{base}/cgroup").split("::")[-1],
            "ns": {n: os.stat(f"{base}/ns/{n}").st_ino for n in NAMESPACES}}


def descriptors(pid):
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        info = dict(line.split(":\t") for line in text(f"/proc/{pid}/fdinfo/{fd}").split("\n")[:2])
        flags = int(info["flags"], 8) & ~os.O_CLOEXEC # which is the descriptor's, not the file's
        found[fd] = [os.readlink(f"/proc/{pid}/fd/{fd}"), flags]
    return found


def maps(pid):
    found = []
    for line in text(f"/proc/{pid}/maps").split("\n"):
        if line and "[vsyscall]" not in line:
            words = line.split()
            found.append([int(x, 16) for x in words[0].split("-")] + [int(words[4])])
    return found


def processes():
    threads, fds, areas = {}, {}, {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            for tid in map(int, os.listdir(f"/proc/{pid}/task")):
                threads[tid] = thread(pid, tid)
            fds[pid], areas[pid] = descriptors(pid), maps(pid)
        except OSError: # gone meanwhile
            pass
    return {"threads": threads, "fds": fds, "maps": areas}


def cpus():
    found = {}
    for part in text("/proc/cpuinfo").strip().split("\n\n"):
        words = dict(map(str.strip, line.split(":", 1)) for line in part.split("\n"))
        found[words["processor"]] = [int(words["cpu family"]), int(words["model"]),
                                     int(words["physical id"]), int(words["core id"]),
                                     int(words["cpu cores"]), words["vendor_id"],
                                     words["model name"]]
    return found


def show():
    state = processes()
    state["irqs"] = {irq: [text(f"/sys/kernel/irq/{irq}/{name}") for name in
                           ("chip_name", "actions")] for irq in os.listdir("/sys/kernel/irq")}
    state["interfaces"] = os.listdir("/sys/class/net")
    state["blocks"] = {os.path.basename(path): text(f"{path}/dev")
                       for path in glob.glob("/sys/class/block/*")}
    state["modules"] = {line.split()[0]: int(line.split()[5], 16)
                        for line in text("/proc/modules").split("\n")}
    state["cpus"] = cpus()
    state["cgroups"] = {"/" + os.path.relpath(path, "/sys/fs/cgroup").lstrip("."):
                        os.stat(path).st_ino for path, _, _ in os.walk("/sys/fs/cgroup")}
    json.dump(state, sys.stdout)


def hold(count, path, ready):
    os.dup2(os.open(path, os.O_RDWR | os.O_APPEND), 77)
    pids = []
    for _ in range(int(count)):
        pid = os.fork()
        if not pid:
            signal.pause()
        pids.append(pid)
    threading.Thread(target=signal.pause, daemon=True).start()
    with open(ready + ".new", "w", encoding="utf-8") as f:
        print(os.getpid(), *pids, file=f)
    os.rename(ready + ".new", ready)
    while True:
        signal.pause()


if sys.argv[1] == "show":
    show()
else:
    hold(*sys.argv[2:])
