# SPDX-License-Identifier: GPL-2.0-only
"""killcell - one cell of the kill tests: a victim, a number of threads and a kind of buffers,
at full speed; the outcome is one line.

The oracles are rapp_check (each event: its number, sums, order) and ctfpkt (each
packet: sequence, positions, counts, index), which share no code with the product
and none with each other; the results of both must equal that of stop.
"""
import os

import ctfpkt
import ltt

SUMS = ("emitted", "in_flight", "recorded", "lost", "silent", "doubled", "torn", "misplaced", "bad")


def kills(default):
    """Number of kills in a cell: LTT_KILLS."""
    short = 1 if "LTT_KILLS" in os.environ else ltt.SHORT
    return max(1, int(os.environ.get("LTT_KILLS", default)) // (ltt.SLOW * short))


def walk(trace):
    """(recorded and not lost to the output, lost) by the last packet of each stream; a
    problem is a failure."""
    recorded = lost = 0
    for stream in ctfpkt.streams(trace):
        stream.check_index()
        ltt.check(not stream.problems, f"ctfpkt: {stream.problems[:5]}")
        recorded += stream.recorded - stream.lost("lost_output")
        lost += stream.lost()
    return recorded, lost


class Cell:
    def __init__(self, victim, owner, threads):
        self.name = f"{victim} {owner} {threads} thread{'s' if threads > 1 else ''}"
        self.kills = 0
        self.sums = dict.fromkeys(SUMS, 0)
        self.worst = {}

    def account(self, counters, trace, totals, most_in_flight):
        """After stop: recorded + lost equals the calls that returned, except for those in flight."""
        got = ltt.rapp_check(counters, trace)
        ltt.check(got["in_flight"] <= most_in_flight, f"in flight: {got}")
        ltt.check(0 <= got["recorded"] + got["lost"] - got["emitted"] <= got["in_flight"],
                  f"the account: {got}")
        ltt.equal("recorded and lost, by stop", (totals["recorded"], totals["lost"]),
                  (got["recorded"], got["lost"]))
        ltt.equal("recorded and lost, by the packets", walk(trace),
                  (got["recorded"], got["lost"]))
        for key in SUMS:
            self.sums[key] += got[key]

    def took(self, what, seconds):
        self.worst[what] = max(self.worst.get(what, 0), seconds)

    def say(self):
        s = self.sums
        late = "".join(f", {what} after {t:.2f} s at most" for what, t in self.worst.items())
        print(f"cell {self.name}: {self.kills} kills, {s['emitted']} returned, "
              f"{s['recorded']} recorded, {s['lost']} lost and counted, "
              f"{s['in_flight']} in flight, {max(0, s['silent'])} lost in silence, "
              f"{s['torn']} torn, {s['doubled']} doubled, {s['misplaced']} misplaced{late}",
              flush=True)
