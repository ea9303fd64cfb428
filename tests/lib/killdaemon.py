# SPDX-License-Identifier: GPL-2.0-only
"""killdaemon - SIGKILL daemons while programs record flat out, again and again.

Whichever daemon is killed: the recorded and the lost events are together exactly
the calls that returned; none is doubled, torn or out of order (by rapp_check, a
packet walker of its own); status is soon as before the kill; nothing
is left behind. LTT_KILLS is the number of kills in each cell.
"""
import contextlib
import os
import random
import shutil
import signal
import time

import killcell
import ltt
import users

KILLS = killcell.kills(3)
IN_A_ROW = 10  # kills in one session: flat out, its trace grows fast
EVENTS = 3000  # that must have been recorded after a kill
SIGNAL = signal.SIGKILL


def kill(*names, daemons=ltt.daemons):
    victims = daemons(*names)
    ltt.check(len(victims) >= len(names), f"{names}: only {victims} there to be killed")
    for pid in victims:
        with contextlib.suppress(ProcessLookupError):  # a consumer without sessions ends with its daemon
            os.kill(pid, SIGNAL)
    return set(victims)


def wait_replaced(names, victims, daemons=ltt.daemons):
    """Start daemons that no other daemon restarts, as the next client does."""
    begin = time.monotonic()
    ltt.until(lambda: len(set(daemons(*names)) - victims) >= len(names), 10,
              f"others in place of {names}")
    return time.monotonic() - begin


def recorded(t):
    return ltt.find_key(t.figures(), "recorded") or 0


def goes_on(t, since, what):
    """Wait until data is written again and status reports no problem."""
    before = recorded(t)
    ltt.until(lambda: recorded(t) > before + EVENTS, 10, f"events after {what}")
    took = time.monotonic() - since
    status = t.figures()
    ltt.check(not ltt.find_key(status, "problem"), f"after {what}: {status}")
    return took


def session(t, cell, names, owner, kills, load):
    """Kill the daemons several times during one session."""
    trace = t.session("kill", ["rapp:*"], (f"--buffers-{owner}", "--subbuf-size=1M"), output="kill")
    app = t.spawn(f"{ltt.PROG}/rapp", "-a", *load, "-c", "load")
    ltt.until(lambda: recorded(t) > EVENTS, 10, "the first events")
    for _ in range(kills):
        time.sleep(random.uniform(0, 0.1))
        victims = kill(*names, daemons=t.daemons)
        since = time.monotonic()
        t.revive(victims)
        if "ltt-sessiond" not in names:
            cell.took("replaced", wait_replaced(names, victims, t.daemons))
        cell.took("data flows again", goes_on(t, since, f"{names} was killed"))
        cell.kills += 1
    app.terminate()
    ltt.equal("exit status of the program", app.wait(10), 0)
    t.running.remove(app)
    totals = t.stop("kill")
    t.destroy("kill")
    cell.account("load", trace, totals, 0)
    shutil.rmtree(trace)
    os.unlink("load")


def cell(t, names, owner, threads, kills, rate=()):
    whose = " of a user" if isinstance(t, users.UserTest) else ""
    c = killcell.Cell(" and ".join(names) + whose + (" paced" if rate else ""), owner, threads)
    while c.kills < kills:
        session(t, c, names, owner, min(IN_A_ROW, kills - c.kills), ("-t", threads, *rate))
    c.say()


def main(*names, uid=None, spare=True):
    """@uid: the user that records under root's daemon, and whose consumer is meant. @spare: only that
    one, not root's own."""
    random.seed(os.environ.get("LTT_SEED", " ".join(names)))
    with users.UserTest(uid, spare) if uid else ltt.Test() as t:
        cells = [("uid", 1), ("uid", 4), ("pid", 1), ("pid", 4)]
        for owner, threads in cells if ltt.SHORT == 1 else cells[1:3]:
            cell(t, names, owner, threads, KILLS)
        cell(t, names, "uid", 2, max(3 // ltt.SHORT, 1), ("-r", 20000))
        ltt.until(lambda: not ltt.daemons("ltt-keeperd") or not held(), 5,
                  "the keeper to release all descriptors")


def held():
    """Number of buffers whose descriptors the keeper stores."""
    nr = 0
    for pid in ltt.daemons("ltt-keeperd"):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                nr += "memfd" in os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                pass
    return nr
