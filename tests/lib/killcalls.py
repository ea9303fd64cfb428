# SPDX-License-Identifier: GPL-2.0-only
"""killcalls - ltt-consumerd is killed at each of its file calls, one after the other, before the call
and in the middle of a write: the files can then be read and are intact, and recorded + lost
equals emitted, by all readers.
"""
import json
import os
import shutil
import stat

import killcell
import ltt
import relay

DAEMON = f"{ltt.BUILD}/bin/ltt-consumerd"
FAULT = f"{ltt.BUILD}/dso/fault.so"
STEP = ltt.SHORT  # in the gate a sixteenth of the calls, others for each kind of kill


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


class Output:
    """A directory, or with @relay a session of its own there for each life."""

    def __init__(self, relay, *channel):
        self.relay, self.channel, self.lives = relay, channel, 0

    def create(self):
        self.lives += 1
        shutil.rmtree("trace", ignore_errors=True)
        self.name = f"short{self.lives}"
        return ("create", self.name, *(("-o", "trace") if not self.relay else
                                       (f"--set-url=net://127.0.0.1:{self.relay.port}", "--spool=4M")))

    def trace(self):
        """Return: its path; None: there is nothing but metadata."""
        where = "trace"
        if self.relay:
            found = [path for path in self.relay.traces() if f"/{self.name}-" in path]
            ltt.check(len(found) < 2, f"traces of one session: {found}")
            where = found[0] if found else "none"
        packets = any(name != "metadata" and os.path.getsize(f"{below}/{name}")
                      for below, _, names in os.walk(where) for name in names)
        return where if packets else None


def life(t, output, call, half):
    """A short recording. Return: whether the consumer was killed in it, and the totals, unless the
    session could not be made."""
    for name in ("started", "calls", "load"):
        if os.path.exists(name):
            os.unlink(name)
    wrap(call, half)
    begun = [ltt.run("lttctl", *verb, status=None).returncode for verb in
             (output.create(), ("enable-channel", "-u", *output.channel, "chan"),
              ("enable-event", "-u", "-c", "chan", "rapp:*"), ("start",))]
    ltt.run(f"{ltt.PROG}/rapp", *([] if any(begun) else ["-a"]), "-c", "load", "-n", 3000, "-r", 60000,
            env={"LTT_REGISTER_TIMEOUT": "1000"})
    done = ltt.run("lttctl", "--json", "stop", status=None, timeout=20)
    totals = None if any(begun) else ltt.find_key(json.loads(done.stdout or "{}"), "totals")
    if output.relay:
        ltt.run("lttctl", "destroy", output.name, status=None, timeout=20)
    complaint = t.stop_daemon()
    ltt.check(not complaint, f"call {call}: {complaint}")
    return not os.path.exists("calls"), totals


def verify(output, totals, call, half):
    """Return: events that can be read. Before the first packet there is nothing to read."""
    trace = output.trace()
    if not trace:
        ltt.check(not totals or not totals["written"], f"call {call}: nothing was written: {totals}")
        return 0
    done = ltt.run("lttctl", "--json", "verify", trace, status=None)
    ltt.check(done.returncode in (0, 6),
              f"killed at call {call} (half: {half}): {done.stdout}{done.stderr}")
    result = json.loads(done.stdout)["result"]
    ltt.equal("damaged", (result["damaged_packets"], result["problems"]), (0, 0))
    if totals:
        cell = killcell.Cell(f"call {call}", "consumer", 1)
        cell.account("load", trace, totals, 0)
        ltt.equal("events that babeltrace2 reads", len(ltt.babeltrace(trace, lossy=True)), totals["recorded"])
    return result["readable"]


def main(*channel, at_relay=False):
    """@channel: options of enable-channel."""
    if os.environ.get("LTT_SAN_PRELOAD") or not os.path.exists(FAULT):
        ltt.skip("nothing may be preloaded before a sanitizer")
    with ltt.Test() as t:
        os.environ["LTT_CONSUMERD"] = os.path.abspath("consumerd")
        output = Output(relay.Relay(t) if at_relay else None, *channel)
        killed, totals = life(t, output, 0, 0)
        ltt.check(not killed, "killed without a request")
        ltt.equal("events", verify(output, totals, 0, 0), 3000)
        with open("calls") as f:
            calls = int(f.read())
        kills, counted, readable = 0, 0, []
        for half in (0, 1):
            for call in range(1 + half % STEP, calls + 1, STEP):
                killed, totals = life(t, output, call, half)
                kills += killed
                counted += totals is not None
                readable.append(verify(output, totals, call, half))
        print(f"{calls} calls, {kills} kills, {counted} with totals; events readable afterwards: {readable}")
        ltt.check(2 * kills >= len(readable), f"{kills} kills in {len(readable)} lives")
        ltt.check(2 * counted >= len(readable), f"totals of {counted} of {len(readable)} lives")
