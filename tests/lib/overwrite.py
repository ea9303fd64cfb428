# SPDX-License-Identifier: GPL-2.0-only
"""overwrite - for tests of channels that overwrite in sessions that write a trace: the trace has all events
but those that were overwritten while the consumer lagged, and these are counted.
"""
import contextlib
import glob
import json
import os
import signal
import time

import flight
import ltt

SMALL = "--subbuf-size=16k", "--num-subbuf=4"
FAST = "-r", 200000  # events a second: the buffers above go round in 10 ms


def channel(t, name, *attributes):
    t.ctl("enable-channel", "-u", "-s", name, "--overwrite", *(attributes or SMALL), "last")
    t.ctl("enable-event", "-u", "-s", name, "-c", "last", "rapp:event")
    t.ctl("start", name)


def totals(t, name, lost=False):
    """@lost: a consumer and a relay that die at once may leave packets in flight that are overwritten: counted as lost."""
    found = ltt.find_key(t.figures(name), "totals")
    ltt.check(lost or not found["lost"], f"lost: {found}")
    ltt.equal("recorded = in the trace + overwritten + cleared + in buffers", found["recorded"],
              found["written"] + found["overwritten"] + found["cleared"] + found["waiting"])
    return found


def traces(place):
    return sorted(os.path.dirname(path) for path in glob.glob(f"{place}/**/metadata", recursive=True))


def events(place):
    """{writer: numbers of its events}, of a trace, or of all below a directory, in order."""
    found = {}
    for path in traces(place):
        for line in ltt.babeltrace(path, lossy=True):
            if event := flight.EVENT.search(line):
                found.setdefault(int(event[2]), []).append(int(event[3]))
    return found


@contextlib.contextmanager
def stopped_consumer():
    consumer, = ltt.daemons("ltt-consumerd")
    os.kill(consumer, signal.SIGSTOP)
    ltt.until(lambda: ltt.is_stopped(consumer), 10, "the consumer to stop")
    yield
    os.kill(consumer, signal.SIGCONT)


def kill_consumer(stop):
    """@stop: it is stopped for a moment before: buffers go round."""
    consumer, = ltt.daemons("ltt-consumerd")
    if stop:
        os.kill(consumer, signal.SIGSTOP)
        time.sleep(0.05)
    os.kill(consumer, signal.SIGKILL)
    ltt.until(lambda: ltt.daemons("ltt-consumerd") not in ([], [consumer]), 20, "another consumer")


def check_lag(stopped, place, nr):
    """100 events, @nr of another writer while the consumer was stopped, and 300."""
    found = events(place)
    last = found[1]
    ltt.check(len(last) > 500, f"{len(last)} events of a buffer of 64 KiB")
    ltt.equal("the newest events", last, list(range(nr - len(last), nr)))
    ltt.equal("events before and behind them", (found[0], found[2]), (list(range(100)), list(range(300))))
    ltt.equal("overwritten", stopped["overwritten"], nr - len(last))
    ltt.equal("written", stopped["written"], 400 + len(last))
    counts = [0, 0]
    for path in traces(place):
        verified = json.loads(ltt.run("lttctl", "verify", "--json", path, status=None).stdout)
        counts = [n + ltt.find_key(verified, key) for n, key in zip(counts, ("recorded", "lost"))]
        ltt.check(ltt.find_key(verified, "verdict") in ("sound", "lossy"), f"{verified}")
    ltt.equal("counts of verify", counts, [400 + len(last), nr - len(last)])


def check_killed(stopped, place, writers):
    """@writers: each killed."""
    begun, returned = (sum(flight.counts(base)[i] for base in writers) for i in (0, 1))
    ltt.check(returned <= stopped["recorded"] + stopped["lost"] and stopped["recorded"] <= begun, f"{returned} <= {stopped['recorded']} <= {begun}")
    ltt.equal("counts", stopped["recorded"], stopped["written"] + stopped["overwritten"] + stopped["cleared"])
    ltt.check(stopped["overwritten"] > 0 and stopped["written"] > 0, f"{stopped}")
    found = events(place)
    for base in writers:
        ltt.check(found[base] == sorted(set(found[base])), f"events of {base} are twice, or out of order")
    ltt.equal("in the trace", sum(map(len, found.values())), stopped["written"])
    for path in traces(place):
        verified = json.loads(ltt.run("lttctl", "verify", "--json", path, status=None).stdout)
        ltt.check(ltt.find_key(verified, "verdict") in ("sound", "lossy"), f"{verified}")
