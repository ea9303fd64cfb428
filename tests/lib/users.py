# SPDX-License-Identifier: GPL-2.0-only
"""users - several users of root's daemon, which has a consumer for each of them with sessions.

    users.session(users.A, "traced")     that user's, in a directory of its own; it records rapp's
    app = users.load(t, users.A)         its program
    users.finish(t, app)
    users.account(users.A, "traced")     recorded + lost = emitted, after a stop

    with users.UserTest(users.A) as t:   lttctl and programs are that user's, in its directory
"""
import os
import subprocess

import ltt
import wire

USERS = A, B, C = wire.NOBODY, 65532, 65531
GROUP = wire.NOBODY
EVENTS = 2000
loads = {uid: [] for uid in USERS}


def ctl(uid, *argv, **kw):
    return wire.ctl(uid, *argv, gid=GROUP, **kw)


def traces(uid):
    path = os.path.abspath(f"traces-{uid}")
    if not os.path.isdir(path):
        os.mkdir(path)
        os.chown(path, uid, GROUP)
    return path


def session(uid, name, *channel, start=True):
    """@channel: options of enable-channel."""
    ctl(uid, "create", name, "-o", f"{traces(uid)}/{name}")
    if channel:
        ctl(uid, "enable-channel", "-u", *channel, "chan")
    ctl(uid, "enable-event", "-u", "rapp:*")
    if start:
        ctl(uid, "start", name)


def status(pid):
    with open(f"/proc/{pid}/status") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f)


def consumers():
    """Pids by user."""
    found = {}
    for pid in ltt.daemons("ltt-consumerd"):
        try:
            found[int(status(pid)["Uid"].split()[0])] = pid
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def await_consumers(*uids):
    def there():
        found = consumers()
        return found if set(found) == {0, *uids} else None
    return ltt.until(there, 10, f"the consumers of {uids}")


def await_others(pids, *uids):
    """Until those of @uids are not those of @pids any more."""
    def there():
        found = consumers()
        return found if set(found) == set(pids) and all(found[u] != pids[u] for u in uids) else None
    return ltt.until(there, 10, f"other consumers of {uids}")


def sockets():
    return sorted(n for n in os.listdir(wire.RUN) if n.startswith("consumer-"))


def load(t, uid, rate=2000, nr=EVENTS):
    """A program of a user's that records; account() has its events. @nr: None: until end()."""
    number = len(loads[uid])
    loads[uid].append(f"{traces(uid)}/counters-{number}")
    return t.spawn(f"{ltt.PROG}/rapp", "-a", *(("-n", nr) if nr else ()), "-r", rate, "-b", number * 10,
                   "-c", loads[uid][-1], stdout=subprocess.DEVNULL, **wire.as_user(uid))


def account(uid, name):
    """Every event is recorded or counted as lost, after a stop. Return the figures."""
    ctl(uid, "stop", name, status=None)
    got = ltt.rapp_check(loads[uid], f"{traces(uid)}/{name}")
    ltt.equal(f"user {uid}: recorded and lost", got["recorded"] + got["lost"], got["emitted"])
    ltt.check(got["emitted"], f"user {uid} has no events")
    ltt.babeltrace(f"{traces(uid)}/{name}", lossy=True)
    return got


def finish(t, app):
    ltt.equal("exit status of the program", app.wait(60 * ltt.PATIENCE), 0)
    t.running.remove(app)


def end(t, app):
    app.terminate()
    finish(t, app)


def as_user(uid, *argv):
    return subprocess.run(argv, capture_output=True, text=True, **wire.as_user(uid))


class UserTest(ltt.Test):
    def __init__(self, uid, spare=True):
        """@spare: daemons() has not the consumers of other users."""
        wire.need_root()
        super().__init__()
        self.uid = uid
        self.spare = spare
        os.chdir(traces(uid))
        wire.daemon()

    def lttctl(self, *argv, status=0, **kw):
        return ctl(self.uid, *argv, status=status, **kw)

    def spawn(self, *argv, **kw):
        return super().spawn(*argv, **wire.as_user(self.uid), **kw)

    def daemons(self, *names):
        others = [pid for uid, pid in consumers().items() if self.spare and uid != self.uid]
        return [pid for pid in ltt.daemons(*names) if pid not in others]

    def revive(self, victims):
        """No client of a user starts root's daemon. Programs return their buffers a moment later."""
        ltt.until(lambda: not set(ltt.daemons()) & victims, 5, "the end of the daemons")
        if not ltt.daemons("ltt-sessiond"):
            wire.daemon()
        ltt.until(lambda: not ltt.find_key(self.figures(), "problem"), 10, "the buffers")
