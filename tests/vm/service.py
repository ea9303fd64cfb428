#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""service WORK BUILD - the units that are installed, under a systemd of their own, inside of
a machine (as its process 1 in a namespace of processes). One line a test; FAILED lines
describe a failure.
"""
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
import control  # noqa: E402
from control import WORK, check, until  # noqa: E402

BUILD = control.BUILD
UNITS = "/run/units"
OUT = "/run/service-trace"
CA = "/run/ca"
# Targets that our units, and systemd itself, are ordered by; no other service starts.
TARGETS = ("basic", "sysinit", "sockets", "shutdown", "paths", "timers", "slices", "local-fs",
           "multi-user", "network", "network-online", "exit", "umount", "final", "poweroff")
DAEMONS = ("ltt-sessiond", "ltt-relayd")
LATER = 100  # events of a program
# Settings of units; a program that records needs nothing that they forbid.
HARDENING = (
    "CapabilityBoundingSet=", "DynamicUser=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes",
    "NoNewPrivileges=yes", "PrivateDevices=yes", "PrivateNetwork=yes", "PrivateTmp=yes", "PrivateUsers=yes",
    "ProcSubset=pid", "ProtectClock=yes", "ProtectControlGroups=yes", "ProtectHostname=yes",
    "ProtectKernelLogs=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes",
    "ProtectProc=invisible", "ProtectSystem=strict", "RestrictAddressFamilies=AF_UNIX",
    "RestrictNamespaces=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes", "SystemCallArchitectures=native",
    "SystemCallFilter=@system-service", "TasksMax=2", "UMask=0077", "User=nobody")
HIDING = ("RestrictAddressFamilies=AF_INET", "TemporaryFileSystem=/run", "InaccessiblePaths=/run/ltt")
folders = {}
programs = []
manager = app = None


def enter():
    """Into the manager's namespaces, with its root: the machine's own is another."""
    return ["nsenter", "-t", str(manager), "-p", "-m", "-C", "-r"]


def inside(*argv, status=0, **kw):
    return control.run(*enter(), *argv, status=status, **kw)


def lttctl(*argv, status=0):
    return inside(f"{folders['bindir']}/lttctl", *argv, status=status).stdout


def shown(unit, name):
    return inside("systemctl", "show", "--value", "-p", name, unit).stdout.strip()


def install():
    done = control.run(f"{os.environ['TOP']}/tests/lib/install", BUILD, "/run/installed")
    folders.update(line.split("=", 1) for line in done.stdout.splitlines())
    shutil.copytree(folders["systemdsystemunitdir"], UNITS)
    for name in TARGETS:
        os.symlink(f"/lib/systemd/system/{name}.target", f"{UNITS}/{name}.target")
    for name in DAEMONS:  # there is no journal; and a test is not to take half a minute
        os.mkdir(f"{UNITS}/{name}.service.d")
        with open(f"{UNITS}/{name}.service.d/test.conf", "w") as f:
            f.write(f"[Service]\nWatchdogSec=5s\nStandardError=append:/run/{name}.log\n")
    control.run("systemd-sysusers", f"{folders['sysusersdir']}/ltt-control.conf")
    control.run("systemd-tmpfiles", "--create", f"{folders['tmpfilesdir']}/ltt-control.conf")


def boot():
    """A systemd of our own: it cleans nothing up and starts nothing but the given units."""
    global manager
    control.run("mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup")
    log = open(f"{os.environ['LTT_VM_SHARE']}/systemd.log", "w")
    outer = subprocess.Popen(
        ["unshare", "--pid", "--mount", "--propagation=shared", "--cgroup", "--fork",
         "--kill-child", "--mount-proc", "env", "-i", "container=ltt", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
         f"SYSTEMD_UNIT_PATH={UNITS}", "SYSTEMD_LOG_TARGET=console",
         "/lib/systemd/systemd", "--system", "--unit=multi-user.target", "--show-status=no"],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    until(lambda: control.pids("systemd"), "systemd to begin")
    manager = control.pids("systemd")[0]
    ask = [*enter(), "systemctl", "is-active", "-q", "multi-user.target"]
    until(lambda: subprocess.run(ask, stderr=subprocess.DEVNULL).returncode == 0,
          "systemd to be there")
    return outer


def recorded():
    return int(re.search(r'"recorded": ?(\d+)', lttctl("status", "kept", "--json"))[1])


def start_program():
    """One that starts at the next daemon; test_ledger() counts its events."""
    programs.append(1000 * (len(programs) + 1))
    inside("env", "LTT_REGISTER_TIMEOUT=30000", f"{BUILD}/prog/rapp", "-n", str(LATER), "-b", str(programs[-1]))


def test_socket():
    """No daemon runs before the first request; then the manager receives all messages."""
    inside("systemctl", "start", "ltt-sessiond.socket")
    check(not control.pids("ltt-sessiond"), "the daemon has not waited for a client")
    mode = os.stat("/run/ltt/client.sock")
    check(mode.st_mode & 0o777 == 0o660, oct(mode.st_mode))
    lttctl("create", "kept", "-o", OUT)
    check(shown("ltt-sessiond", "ActiveState") == "active", "not active")
    lttctl("enable-event", "-u", "rapp:*")
    lttctl("enable-event", "-k", "sched_switch")
    lttctl("start")
    until(lambda: "1 session, 1 of them recording" in shown("ltt-sessiond", "StatusText"), "status")


def test_killed():
    """All its processes at once: the next one continues, with the descriptors in the manager."""
    main = shown("ltt-sessiond", "MainPID")
    before = recorded()
    inside("systemctl", "kill", "--signal=KILL", "ltt-sessiond.service")
    until(lambda: shown("ltt-sessiond", "MainPID") not in (main, "0"), "a successor")
    until(lambda: recorded() > before + 1000, "events after the kill")
    check(shown("ltt-sessiond", "NRestarts") == "1", "not started again by the manager")
    start_program()


def test_watchdog():
    """A daemon with a hung loop is replaced as well."""
    before = recorded()
    inside("systemctl", "kill", "--kill-whom=main", "--signal=STOP", "ltt-sessiond.service")
    until(lambda: shown("ltt-sessiond", "NRestarts") == "2", "the watchdog")
    until(lambda: recorded() > before + 1000, "events after that")
    start_program()


def test_restarted():
    """A restart leaves the sessions to the next daemon, at its socket's restart, too."""
    for unit in ("ltt-sessiond.service", "ltt-sessiond.socket"):
        main, before = shown("ltt-sessiond", "MainPID"), recorded()
        inside("systemctl", "restart", unit)
        check(shown("ltt-sessiond", "MainPID") not in (main, "0"), f"{unit}: no other daemon")
        until(lambda: recorded() > before + 1000, f"events after a restart of {unit}")
        start_program()


def test_ledger():
    lttctl("stop", "kept")
    lttctl("destroy", "kept")
    app.terminate()
    app.wait(60)
    control.run(f"{BUILD}/bin/lttctl", "verify", OUT)
    names = set(control.names(OUT))
    check("sched_switch" in names and any(n.startswith("rapp:") for n in names), str(names))
    text = control.run(f"{BUILD}/bin/lttctl", "view", "--events=rapp:*", OUT).stdout
    for number in programs:
        got = text.count(f"thread = {number},")
        check(got == LATER, f"{got} of {LATER} events of a program that started after a restart")


def test_hardened():
    """Services with one of the properties that units have are recorded whole; those that the daemon can't be
    reached from are named by doctor, with their unit."""
    for number, setting in enumerate(HARDENING + HIDING):
        hides = setting in HIDING
        with open(f"{UNITS}/hard-{number}.service", "w") as f:
            f.write(f"[Service]\nType={'simple' if hides else 'oneshot'}\n{setting}\n"
                    "Environment=LTT_REGISTER_TIMEOUT=10000\nStandardOutput=null\n"
                    f"ExecStart={BUILD}/prog/rapp -n {1 << 30 if hides else LATER} -r 2000 -b {1000 * (number + 1)}\n")
    inside("systemctl", "daemon-reload")
    lttctl("create", "hard", "-o", f"{OUT}-hard")
    lttctl("enable-event", "-u", "rapp:*")
    lttctl("start")
    for number in range(len(HARDENING)):
        inside("systemctl", "start", f"hard-{number}")
    lttctl("stop", "hard")
    lttctl("destroy", "hard")
    text = control.run(f"{BUILD}/bin/lttctl", "view", f"{OUT}-hard").stdout
    got = {setting: len(re.findall(rf"thread = {1000 * (number + 1)},", text))
           for number, setting in enumerate(HARDENING)}
    check(set(got.values()) == {LATER}, f"not all {LATER} events: {got}")
    for number, setting in enumerate(HIDING, len(HARDENING)):
        unit = f"hard-{number}.service"
        inside("systemctl", "start", unit)
        time.sleep(1)
        said = lttctl("doctor", "--pid", shown(unit, "MainPID"), status=1)
        check(f"systemctl edit {unit}" in said, f"{setting}: {said}")
        inside("systemctl", "kill", "--signal=KILL", unit)


def give_keys():
    """By TLS on this machine, too; root's keys for it can't be read by its user."""
    for words in (("ca",), ("relay", "localhost"), ("host", "here")):
        control.run(f"{folders['bindir']}/ltt-keys", "-d", CA, *words)
    shutil.copytree(f"{CA}/here", "/etc/ltt/keys")
    with open(f"{UNITS}/ltt-relayd.service.d/keys.conf", "w") as f:
        f.write("[Service]\nEnvironment=LTT_KEYS=%d "
                "LTT_RELAYD_OPTIONS=--control-port=tls://127.0.0.1:5342\n")
        for name in ("own.key", "own.crt", "ca.crt"):
            f.write(f"LoadCredential={name}:{CA}/localhost/{name}\n")


def test_relay():
    """As the user `nobody`, without rights, with files of its own only."""
    give_keys()
    inside("systemctl", "daemon-reload")
    inside("systemctl", "start", "ltt-relayd")
    pid = int(control.pids("ltt-relayd")[0])
    with open(f"/proc/{pid}/status") as f:
        status = f.read()
    uid = int(re.search(r"^Uid:\s+(\d+)", status, re.M)[1])
    check(uid and uid not in {u.pw_uid for u in pwd.getpwall()}, f"it is user {uid}")
    check(re.search(r"^CapEff:\s+0+$", status, re.M), status)
    lttctl("create", "far", "--set-url=tls://localhost")
    lttctl("enable-event", "-k", "sched_switch")
    lttctl("start")
    until(lambda: "1 session being received" in shown("ltt-relayd", "StatusText"), "status")
    lttctl("stop")
    lttctl("destroy", "far")
    traces = inside("find", "/var/lib/ltt-relayd/traces", "-name", "metadata").stdout.split()
    check(len(traces) == 1, str(traces))
    check("sched_switch" in inside("babeltrace2", os.path.dirname(traces[0])).stdout, "no event")


def test_stop():
    for unit in ("ltt-relayd.service", "ltt-sessiond.service", "ltt-sessiond.socket"):
        inside("systemctl", "stop", unit)
        check(shown(unit, "Result") == "success", f"{unit}: {shown(unit, 'Result')}")
    left = sum(map(control.pids, (*control.DAEMONS, "ltt-relayd")), [])
    check(not left, f"left: {left}")


def took(step):
    began = time.monotonic()
    result = step()
    name = step.__name__.removeprefix("test_")
    print(f"service: {name} took {time.monotonic() - began:.1f} s", flush=True)
    return result


def test_recorder():
    """The unit that `lttctl recorder on` enables starts the daemon, and has failed if the recorder is not on then."""
    recorder = ["env", "-u", "LTT_HOME", "HOME=/root", f"{folders['bindir']}/lttctl", "recorder"]
    inside("systemctl", "start", "ltt-sessiond.socket")
    inside(*recorder, "on", "--size=256k")
    # not by is-enabled: this manager does not search where it has made the link
    link = f"/proc/{manager}/root/etc/systemd/system/multi-user.target.wants/ltt-recorder.service"
    check(os.path.islink(link), "it is not enabled")
    inside("systemctl", "stop", "ltt-sessiond.socket", "ltt-sessiond.service")
    inside("systemctl", "start", "ltt-recorder")  # as a boot does
    check(shown("ltt-recorder", "ActiveState") == "active", "the recorder is not on")
    status = inside(*recorder, "status").stdout
    check("Kernel: 256 KiB" in status and "Programs: 256 KiB" in status and "after a boot" in status, status)
    inside(*recorder, "off")
    check(not os.path.islink(link), "it is still enabled")
    inside("systemctl", "restart", "ltt-recorder", status=1)
    check("the recorder is off" in inside(*recorder, "status", status=1).stderr, "off")


def main():
    if not shutil.which("systemd-sysusers") or not os.path.exists("/lib/systemd/systemd"):
        print("service: no systemd here")
        return
    global app
    outer = None
    os.environ.update(LTT_HOME="/run/home", HOME="/run/home")
    os.makedirs("/run/home")
    try:
        if not os.path.exists("/dev/ltt"):
            control.load_module()
        took(install)
        outer = took(boot)
        app = subprocess.Popen([*enter(), f"{BUILD}/prog/rapp", "-a", "-r", "2000"])
        for test in (test_socket, test_killed, test_watchdog, test_restarted, test_ledger, test_hardened,
                     test_relay, test_stop, test_recorder):
            took(test)
    except Exception as e:  # each builds on those before
        text = str(e) if isinstance(e, control.Failure) else traceback.format_exc()
        print(f"FAILED: service: {text}", flush=True)
        for name in DAEMONS if manager else ():
            said = inside("systemctl", "show", "-p", "Result,ExecMainStatus", name).stdout.split()
            log = f"/run/{name}.log"
            print(name, *said, open(log).read()[-1000:] if os.path.exists(log) else "", flush=True)
    for process in (app, outer):
        if process and process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    main()
