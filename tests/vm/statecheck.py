#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""statecheck LIST DIR BEFORE AFTER HELD - a dump of the system's state, as kmodtool
recorded it, beside the output of state.py before and after it. Facts that are the same in
both must be in the dump, and be the same there; pid HELD must be among them, in namespaces
and a cgroup of its own.
"""
import collections
import json
import sys

import kmodcheck

PREFIX = "lttng_statedump_"
PROCESS_NS = ("cgroup", "ipc", "mnt", "net", "time", "uts")


def fail(text):
    sys.exit("statecheck: " + text)


def equal(what, have, want):
    if have != want:
        fail(f"{what}: {have!r}, not {want!r}")


def plain(value):
    return value.split(b"\0")[0].decode() if isinstance(value, bytes) else value


def read_dump(list_path, directory):
    """{event: [{field: value}]}, in the order of the clock"""
    rings = kmodcheck.read_records(directory, kmodcheck.read_list(list_path),
                                   kmodcheck.read_contexts(list_path))
    records = sorted(((ts, name, values) for ring in rings for ts, name, values in ring),
                     key=lambda r: r[0])
    equal("lost", [w[4:6] for w in kmodcheck.read_words(directory)], [(0, 0)] * len(rings))
    equal("first", records[0][1], PREFIX + "start")
    equal("last", records[-1][1], PREFIX + "end")
    dump = collections.defaultdict(list)
    for _, name, values in records:
        dump[name[len(PREFIX):]].append({k: plain(v) if k != "address_ipv4" else v
                                         for k, v in values.items()})
    return dump


def same(before, after):
    """Return the facts that are in both, at all depths."""
    if isinstance(before, dict):
        return {k: same(v, after[k]) for k, v in before.items()
                if k in after and (isinstance(v, dict) or v == after[k])}
    return before


def check_threads(dump, state):
    tables = {r["tid"]: r for r in dump["process_state"]}
    equal("threads recorded once", len(tables), len(dump["process_state"]))
    cgroups = {r["tid"]: r for r in dump["process_cgroup"]}
    spaces = {kind: {r["tid"]: r["ns_inum"] for r in dump[f"process_{kind}_ns"]}
              for kind in PROCESS_NS}
    for kind in ("pid", "user"): # the innermost comes first
        spaces[kind] = {r["tid"]: r["ns_inum"] for r in dump[f"process_{kind}_ns"][::-1]}
    for tid, want in state["threads"].items():
        have = tables.get(int(tid))
        if have is None:
            fail(f"thread {tid} is missing")
        for key in ("pid", "ppid", "name", "type"):
            # names of kernel threads that work for a process are in /proc only
            if key != "name" or not want["type"]:
                equal(f"{key} of {tid}", have[key], want[key])
        if have["status"] not in (2, 5, 6) or (have["mode"], have["submode"]) != (5, 1):
            fail(f"state of {tid}: {have}")
        for kind, inum in want["ns"].items():
            equal(f"{kind} namespace of {tid}", spaces[kind].get(int(tid)), inum)
        equal(f"cgroup of {tid}", cgroups[int(tid)]["path"], want["cgroup"])
        equal(f"id of cgroup of {tid}", cgroups[int(tid)]["cgroup_id"],
              state["cgroups"][want["cgroup"]])
    return len(tables)


def check_descriptors(dump, state):
    table = {r["tid"]: r["file_table_address"] for r in dump["process_state"]}
    have = {(r["file_table_address"], r["fd"]): r for r in dump["file_descriptor"]}
    equal("descriptors recorded once", len(have), len(dump["file_descriptor"]))
    nr = 0
    for pid, fds in state["fds"].items():
        for fd, (path, flags) in fds.items():
            got = have.get((table[int(pid)], int(fd)))
            if got is None or not got["filename"].endswith(path) or \
                    got["flags"] & 0o2003 != flags & 0o2003 or not got["fmode"] & 3:
                fail(f"descriptor {fd} of {pid}: {got}, not {path} {flags:o}")
            nr += 1
    return nr


def check_maps(dump, state):
    have = collections.defaultdict(list)
    for r in dump["vm_map"]:
        have[r["pid"]].append([r["start"], r["end"], r["inode"]])
    for pid, want in state["maps"].items():
        equal(f"maps of {pid}", have[int(pid)], want)
    return sum(map(len, have.values()))


def check_system(dump, state):
    irqs = collections.defaultdict(list)
    for r in dump["interrupt"]:
        irqs[r["irq"]].append((r["name"], r["action"]))
    for irq, (chip, actions) in state["irqs"].items():
        if actions:
            equal(f"interrupt {irq}", irqs[int(irq)], [(chip, a) for a in actions.split(",")])
    interfaces = {(r["name"], r["address_ipv4"]) for r in dump["network_interface"]}
    if ("lo", bytes((10, 1, 2, 3))) not in interfaces or \
            not set(state["interfaces"]) <= {name for name, _ in interfaces}:
        fail(f"interfaces {interfaces}, not {state['interfaces']}")
    equal("block devices", {r["diskname"]: f"{r['dev'] >> 20}:{r['dev'] & 0xfffff}"
                            for r in dump["block_device"]}, state["blocks"])
    equal("modules", {r["name"]: r["base"] for r in dump["module"]}, state["modules"])
    for r in dump["cpu_topology"]:
        equal(f"cpu {r['cpu_id']}", [r["family"], r["model"], r["physical_id"], r["core_id"],
                                     r["cores"], r["vendor"], r["model_name"].strip()],
              state["cpus"][str(r["cpu_id"])])
    equal("cpus", len(dump["cpu_topology"]), len(state["cpus"]))
    if not irqs or not dump["block_device"] or not dump["module"]:
        fail("nothing to compare")


def main(list_path, directory, before, after, held):
    dump = read_dump(list_path, directory)
    with open(before, encoding="utf-8") as b, open(after, encoding="utf-8") as a:
        state = same(json.load(b), json.load(a))
    threads = check_threads(dump, state)
    fds, maps = check_descriptors(dump, state), check_maps(dump, state)
    check_system(dump, state)
    with open(held, encoding="utf-8") as f:
        parent, *children = f.read().split()
    mine, init = state["threads"][parent], state["threads"]["1"]
    equal("namespaces of its own", [k for k, v in mine["ns"].items() if v == init["ns"][k]],
          ["user"])
    equal("cgroup of its own", mine["cgroup"], "/held")
    levels = {r["ns_level"]: r["vtid"] for r in dump["process_pid_ns"] if r["tid"] == int(parent)}
    equal("its pids", levels, {0: int(parent), 1: 1})
    for pid in [parent] + children:
        equal("file of " + pid, state["fds"][pid]["77"][1] & 0o2003, 0o2002)
    print(f"state: {threads} threads, {fds} descriptors and {maps} maps as in /proc;",
          f"{len(dump['module'])} modules, {len(dump['interrupt'])} interrupts,",
          f"{len(dump['block_device'])} block devices as in /sys")


main(*sys.argv[1:])
