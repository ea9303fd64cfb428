# SPDX-License-Identifier: GPL-2.0-only
"""killapp - SIGKILL an application at a random moment, flat out, again and again.

Every call that returned is recorded or counted, at most the call in flight is
missing, another application of the user records on, stop and destroy return at
once, readers have no complaint, the daemons keep no descriptor.
"""
import os
import random
import shutil
import time

import killcell
import ltt

KILLS = killcell.kills(100)
AFTER = 2000  # events of the application that comes afterwards


def descriptors():
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in ltt.daemons())


def timed(cell, limit, what, call):
    begin = time.monotonic()
    value = call()
    took = time.monotonic() - begin
    ltt.check(took < limit * ltt.PATIENCE, f"{what} took {took:.1f} s")
    cell.took(what, took)
    return value


def one(t, cell, number, owner, threads):
    trace = t.session("kill", ["rapp:*"], (f"--buffers-{owner}", "--subbuf-size=1M"), output="kill")
    app = t.spawn(f"{ltt.PROG}/rapp", "-a", "-t", threads, "-c", "victim")
    ltt.until(lambda: running("victim"), 10, "the victim")
    time.sleep(random.uniform(0.001, 0.04))
    app.kill()
    app.wait()
    t.running.remove(app)
    ltt.run(f"{ltt.PROG}/rapp", "-a", "-n", AFTER, "-b", 1000, "-r", 100000, "-c", "after")
    totals = timed(cell, 2, "stop", lambda: t.stop("kill"))
    timed(cell, 2, "destroy", lambda: t.destroy("kill"))
    cell.account(["victim", "after"], trace, totals, threads)
    cell.kills += 1
    if number % 10 == 0:
        ltt.babeltrace(trace, "-o", "dummy", lossy=True)
    shutil.rmtree(trace)
    os.unlink("victim")


def running(path):
    try:
        with open(path, "rb") as f:
            head = f.read(16)
    except FileNotFoundError:
        return False
    return len(head) == 16 and head[12] == 1


def main(owner, threads):
    random.seed(os.environ.get("LTT_SEED", f"{owner}{threads}"))
    cell = killcell.Cell("application", owner, threads)
    with ltt.Test() as t:
        one(t, killcell.Cell("first", owner, threads), 0, owner, threads)
        before = descriptors()
        for number in range(1, KILLS + 1):
            one(t, cell, number, owner, threads)
        ltt.until(lambda: descriptors() <= before, 5, "the daemons to close descriptors")
        cell.say()
