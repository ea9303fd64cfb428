# SPDX-License-Identifier: GPL-2.0-only
"""killcalls - ltt-consumerd is killed at each of its file calls, one after the other, before the call
and in the middle of a write: the files can then be read and are intact, except for an
incomplete last packet.
"""
import os
import shutil
import stat

import ltt

DAEMON = f"{ltt.BUILD}/bin/ltt-consumerd"
FAULT = f"{ltt.BUILD}/dso/fault.so"


def wrap(call, half):
    """The consumer that dies at a call; one that comes after it lives."""
    with open("consumerd", "w") as f:
        f.write(f"""#!/bin/sh
[ -e started ] && exec {DAEMON} "$@"
: >{os.path.abspath("started")}
export LD_PRELOAD={FAULT} LTT_FAULT_AT={call} LTT_FAULT_TIMES=1 LTT_FAULT_KILL=1
export LTT_FAULT_SHORT={half} LTT_FAULT_COUNT={os.path.abspath("calls")}
exec {DAEMON} "$@"
""".replace("[ -e started ]", f"[ -e {os.path.abspath('started')} ]"))
    os.chmod("consumerd", stat.S_IRWXU)


def life(t, channel, call, half):
    """A short recording. Return: whether the consumer was killed in it."""
    for name in ("started", "calls"):
        if os.path.exists(name):
            os.unlink(name)
    shutil.rmtree("trace", ignore_errors=True)
    wrap(call, half)
    for verb in (("create", "short", "-o", "trace"), ("enable-channel", "-u", *channel, "chan"),
                 ("enable-event", "-u", "-c", "chan", "rapp:*"), ("start",)):
        ltt.run("lttctl", *verb, status=None)
    ltt.run(f"{ltt.PROG}/rapp", "-n", 3000, "-r", 60000, env={"LTT_REGISTER_TIMEOUT": "1000"})
    ltt.run("lttctl", "stop", status=None, timeout=20)
    complaint = t.stop_daemon()
    ltt.check(not complaint, f"call {call}: {complaint}")
    return not os.path.exists("calls")


def has_packets():
    """Is there anything but metadata?"""
    return any(name != "metadata" and os.path.getsize(f"{where}/{name}")
               for where, _, names in os.walk("trace") for name in names)


def verify(call, half):
    """Return: events that can be read. Before the first packet there is nothing to read."""
    if not has_packets():
        return 0
    done = ltt.run("lttctl", "--json", "verify", "-t", "trace", status=None)
    ltt.check(done.returncode in (0, 6),
              f"killed at call {call} (half: {half}): {done.stdout}{done.stderr}")
    result = ltt.json.loads(done.stdout)["result"]
    ltt.equal("damaged", (result["damaged_packets"], result["problems"]), (0, 0))
    return result["readable"]


def main(*channel):
    """@channel: options of enable-channel."""
    if os.environ.get("LTT_SAN_PRELOAD") or not os.path.exists(FAULT):
        ltt.skip("nothing may be preloaded before a sanitizer")
    with ltt.Test() as t:
        os.environ["LTT_CONSUMERD"] = os.path.abspath("consumerd")
        ltt.check(not life(t, channel, 0, 0), "killed without a request")
        ltt.equal("events", verify(0, 0), 3000)
        with open("calls") as f:
            calls = int(f.read())
        kills, readable = 0, []
        for half in (0, 1):
            for call in range(1, calls + 1):
                kills += life(t, channel, call, half)
                readable.append(verify(call, half))
        print(f"{calls} calls, {kills} kills; events readable afterwards: {readable}")
        ltt.check(kills >= calls, f"{kills} kills of {2 * calls}")
        ltt.check(max(readable) > 0, "nothing could be read after any kill")
