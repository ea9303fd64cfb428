#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""durations.py - how long something took that two events of one thread begin and end.

    lttctl record -o trace -- ./requests
    ./durations.py trace web:begin web:end

It reads what `lttctl view --json` prints: one object a line. Times are strings, as JSON's numbers
hold no 64 bits in all readers; the contexts vpid and vtid, which `lttctl record` adds, identify
the thread.
"""
import json
import statistics
import subprocess
import sys


def events(trace, *names):
    """The events of these names, in the order of time."""
    command = ["lttctl", "view", "--json", "--events", ",".join(names), trace]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as view:
        yield from map(json.loads, view.stdout)
    if view.returncode != 0:
        sys.exit(f"durations.py: lttctl view ended with status {view.returncode}")


def durations(trace, begin, end):
    """Nanoseconds of each pair."""
    open_at = {}
    for event in events(trace, begin, end):
        context = event.get("context", {})
        thread = event["host"], context.get("vpid", event.get("vpid")), context.get("vtid")
        if event["event"] == begin:
            open_at[thread] = int(event["ns"])
        elif thread in open_at:
            yield int(event["ns"]) - open_at.pop(thread)


def main():
    """Print one line of figures."""
    if len(sys.argv) != 4:
        sys.exit("usage: durations.py TRACE BEGIN END")
    found = sorted(durations(*sys.argv[1:]))
    if not found:
        sys.exit(f"durations.py: {sys.argv[1]} has no {sys.argv[2]} with a {sys.argv[3]}")
    print(f"{len(found)} pairs: min {found[0] / 1e3:.1f} us, "
          f"median {statistics.median(found) / 1e3:.1f} us, max {found[-1] / 1e3:.1f} us")


if __name__ == "__main__":
    main()
