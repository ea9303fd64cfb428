# SPDX-License-Identifier: GPL-2.0-only
"""flight - for tests of sessions for snapshots: writers whose numbers follow each other in the buffer of
one CPU, and snapshots in which no number may be missing, doubled or out of order.
"""
import collections
import contextlib
import os
import re
import socket
import struct

import ltt

EVENT = re.compile(r"rapp:event: \{ cpu_id = (\d+) \}, (?:\{ vpid [^}]*\}, )?\{ thread = (\d+), seq = (\d+),")
WAIT = {"LTT_REGISTER_TIMEOUT": "-1"}
CPUS = sorted(os.sched_getaffinity(0))[:2]


def snapshot(t, session, *options):
    """`snapshot record`. Its events, as {(CPU, thread): sequence numbers}, are checked, and the result."""
    result = t.ctl_json("snapshot", "record", "-s", session, *options)["result"]
    return read(result["directory"], result), result


def read(directory, result):
    """The events of a snapshot, which are checked, with the request's result."""
    found = collections.defaultdict(list)
    for line in ltt.babeltrace(directory):
        if event := EVENT.search(line):
            found[int(event[1]), int(event[2])].append(int(event[3]))
    for key, seqs in found.items():
        ltt.equal(f"events of {key}", seqs, list(range(seqs[0], seqs[0] + len(seqs))))
    verified = ltt.run("lttctl", "verify", "--json", directory).stdout
    ltt.check('"status": 0' in verified, f"verify: {verified}")
    ltt.equal("recorded", sum(b["recorded"] for b in result["buffers"]), result["recorded"])
    return found


def check_first(numbers):
    """A buffer that keeps its first events: the last ones that fit may be smaller than some before them."""
    whole = len(numbers) - 50
    ltt.equal("the first events", numbers[:whole] == list(range(whole)), True)
    ltt.equal("in order", numbers, sorted(set(numbers)))


def totals(t, session):
    found = ltt.find_key(t.ctl_json("status", session), "totals")
    ltt.equal("recorded = in files + overwritten + in buffers", found["recorded"],
              found["written"] + found["overwritten"] + found["waiting"])
    ltt.equal("lost", found["lost"], 0)
    return found


def writer(t, cpu, base, events=0, *options):
    """One thread, on one CPU: its numbers follow each other in that CPU's buffer."""
    counters = f"counters-{base}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(counters)
    command = ["taskset", "-c", cpu, f"{ltt.PROG}/rapp", "-a", "-t", 1, "-b", base, "-n", events,
               "-c", counters, *options]
    return t.spawn(*command, env=WAIT)


def recorder(t, session, *channel):
    t.ctl("create", session, "--snapshot", "-o", os.path.abspath(session))
    t.ctl("enable-channel", "-u", "-s", session, *channel, "chan")
    t.ctl("enable-event", "-u", "-s", session, "-c", "chan", "rapp:event")
    t.ctl("start", session)


def returned(counters):
    """Calls of the first thread's tracepoint that have returned."""
    return counts(None, counters)[1]


def counts(base, counters=None):
    """(begun, returned): numbers of calls of a writer's tracepoint."""
    try:
        with open(counters or f"counters-{base}", "rb") as f:
            return struct.unpack_from("<QQ", f.read(), 64)
    except (FileNotFoundError, struct.error):
        return 0, 0


def kernel_reports():
    """Whether the kernel reports crashes to this process: the process connector, Linux 6.6."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 11) as s:
            s.bind((0, 1))
            s.send(struct.pack("=IHHIIIIIIHHII", 44, 3, 0, 0, 0, 1, 1, 0, 0, 8, 0, 1, 0x40000000))
            pid = os.posix_spawn("/bin/sh", ["sh", "-c", "kill -ABRT $$"], os.environ)
            os.waitpid(pid, 0)
            s.setblocking(False)
            while struct.unpack_from("=I", s.recv(4096), 52 + 4)[0] != pid:
                pass  # of others
            return True
    except OSError:
        return False
