#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""coredumps WORK BUILD NUMBER PACKAGE - programs that crash behind a real systemd-coredump, inside of a machine: by
random faults and signals, with random numbers of threads and sizes of events. With ltt-crash before it, coredumpctl
lists a core for each, as large as without; each crash has a snapshot with the last event of each thread, or the one
before. PACKAGE has systemd-coredump's files. FAILED lines describe a failure.
"""
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
PACKAGE = sys.argv.pop()
import crashes  # noqa: E402
import control  # noqa: E402
import service  # noqa: E402
from control import check, until  # noqa: E402

CORES = "/var/lib/systemd/coredump"
DIFFERENT = 20  # kinds of crashes, each without ltt-crash, too
KINDS = [*crashes.FAULTS, *crashes.SIGNALS]
# Without stack traces, which take most of the time here.
CONF = {"coredump": "[Coredump]\nStorage=external\nCompress=no\nProcessSizeMax=0\nMaxUse=400M\nKeepFree=10M\n",
        "journald": "[Journal]\nStorage=volatile\nRateLimitBurst=0\n"}


def install():
    """Its files, and the units that it needs; it is started by its socket, as on any machine."""
    shutil.copytree(PACKAGE, "/", dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("*.deb", "share", "lib64"))
    os.makedirs(service.UNITS)
    for name in ("systemd-coredump.socket", "systemd-coredump@.service", "systemd-journald.service", "systemd-journald.socket",
                 "systemd-journald-dev-log.socket", *(f"{target}.target" for target in service.TARGETS)):
        os.symlink(f"/lib/systemd/system/{name}", f"{service.UNITS}/{name}")
    for name, text in CONF.items():
        os.makedirs(f"/etc/systemd/{name}.conf.d", exist_ok=True)
        with open(f"/etc/systemd/{name}.conf.d/test.conf", "w") as f:
            f.write(text)
    control.run("systemd-sysusers", "/usr/lib/sysusers.d/systemd-coredump.conf")
    control.run("systemd-machine-id-setup")


def settings():
    """Those of the kernel, from the package."""
    with open("/usr/lib/sysctl.d/50-coredump.conf") as f:
        lines = [line.strip().split("=", 1) for line in f if line.startswith(("kernel.", "fs."))]
    return {key.removeprefix("kernel."): value for key, value in lines if key.startswith("kernel.")}


def listed(*pid):
    done = control.run("coredumpctl", "--json=short", "--no-pager", "list", *pid, status=None)
    return json.loads(done.stdout) if done.returncode == 0 else []


def core(pid, kind):
    """Its size, as coredumpctl has it; the file goes, as the machine has no room for all."""
    until(lambda: [one for one in listed(str(pid)) if one["corefile"] == "present"], f"the core of {pid}")
    one, = listed(str(pid))
    check((one["pid"], one["sig"], one["exe"]) == (pid, int(crashes.FAULTS.get(kind, kind)), f"{crashes.PLACE}/rapp"), f"{one}")
    path, = glob.glob(f"{CORES}/core.rapp.*.{pid}.*")
    check(os.path.getsize(path) == one["size"], f"{path}: {os.path.getsize(path)} bytes; {one}")
    os.unlink(path)
    return one["size"]


def crash(number, kind, threads, payload):
    pid, found, _ = crashes.crash(kind, 1000 * (number % 1000 + 1), threads, payload)
    return pid, found, core(pid, kind)


def run():
    rng = random.Random(os.environ.get("LTT_SEED", "68"))
    install()
    for name, value in settings().items():
        if name != "core_pattern":
            crashes.put(name, value)
    crashes.set_up(settings()["core_pattern"])
    os.environ["HOME"] = "/root"
    outer = service.boot()
    service.inside("systemctl", "start", "systemd-journald.socket", "systemd-journald.service", "systemd-coredump.socket")
    kinds = [(KINDS[i % len(KINDS)] if i < len(KINDS) else rng.choice(KINDS), rng.randint(1, 6), rng.choice((0, 32, 500, 3000)))
             for i in range(min(DIFFERENT, crashes.NUMBER))]
    sizes = [crash(i, *kind)[2] for i, kind in enumerate(kinds)]
    before = crashes.install()
    for i in range(crashes.NUMBER):
        which = i if i < len(kinds) else rng.randrange(len(kinds))
        pid, found, size = crash(i, *kinds[which])
        page = os.sysconf("SC_PAGESIZE")
        check(abs(size - sizes[which]) <= 2 * page, f"{kinds[which]}: a core of {size} bytes, {sizes[which]} without ltt-crash")
        crashes.check_snapshot(pid, kinds[which][0], found, i)
        if i % 20 == 19:
            print(f"coredumps: {i + 1}", flush=True)
    number = len(listed())
    check(number == len(kinds) + crashes.NUMBER, f"coredumpctl lists {number} of {len(kinds)} + {crashes.NUMBER} cores")
    control.run(f"{crashes.PLACE}/lttctl", "crash", "--uninstall")
    with open(f"{crashes.KERNEL}/core_pattern") as f:
        check(f.read() == before, "another core_pattern")
    print(f"coredumps: {crashes.NUMBER} of {crashes.NUMBER} saved, and listed by coredumpctl, {min(sizes)} to {max(sizes)} bytes, as "
          f"without ltt-crash", flush=True)
    return outer


def main():
    outer = None
    try:
        outer = run()
    except Exception as e:
        text = str(e) if isinstance(e, control.Failure) else traceback.format_exc()
        print(f"FAILED: coredumps: {text}", flush=True)
        for argv in ((f"{crashes.PLACE}/lttctl", "crash", "--status"), ("journalctl", "--no-pager", "-n", "30")):
            said = subprocess.run(argv, capture_output=True, text=True, check=False)
            print(said.stdout, said.stderr, flush=True)
    subprocess.run(["lttctl", "shutdown", "--force"], check=False, capture_output=True)
    if outer:
        outer.send_signal(signal.SIGKILL)
        outer.wait()


main()
