# SPDX-License-Identifier: GPL-2.0-only
"""leak - resources of processes (descriptors, threads, memory), and the resources that a test leaked."""
import os

import ltt

GROWTH_KB = 2048  # of the resident memory of one process, at most


def name_of(pid):
    with open(f"/proc/{pid}/comm") as f:
        return f.read().strip()


def measure(pid):
    """The resources of one process."""
    links = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            continue
    with open(f"/proc/{pid}/status") as f:
        status = dict(line.split(":", 1) for line in f)
    with open(f"/proc/{pid}/maps") as f:
        maps = f.read()
    return {
        "descriptors": len(links),
        "memfds": sum("memfd:" in link for link in links),
        "threads": int(status["Threads"]),
        "mapped memfds": maps.count("memfd:"),
        "rss_kb": int(status["VmRSS"].split()[0]),
    }


def everybody(app):
    return {name_of(pid): measure(pid) for pid in [*ltt.daemons(), app.pid]}


def held(now, before):
    """Resources that were not held before: {'ltt-sessiond memfds': 2}"""
    return {f"{who} {what}": value - before[who][what]
            for who, facts in now.items() for what, value in facts.items()
            if what != "rss_kb" and value > before[who][what]}


def check(app, before, sessions, grown=None):
    """Check that no resources were leaked, and that the memory of the running processes @grown
    (None: of all) has not grown."""
    ltt.until(lambda: not held(everybody(app), before), 5,
              f"resources to be released: {held(everybody(app), before)}")
    after = everybody(app)
    ltt.equal("processes", sorted(after), sorted(before))
    for who, facts in after.items():
        growth = facts["rss_kb"] - before[who]["rss_kb"]
        print(f"{sessions} sessions: {who}: {facts}, grown by {growth} kB")
        if os.environ.get("LTT_SAN_PRELOAD") or (grown and who not in grown):
            continue  # a sanitizer keeps freed memory
        ltt.check(growth <= GROWTH_KB, f"{who} has grown by {growth} kB in {sessions} sessions")
