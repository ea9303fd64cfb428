# SPDX-License-Identifier: GPL-2.0-only
"""lttng - LTTng's session daemon, for tests that compare with it. It is not part of this project."""
import os
import re
import shutil
import signal
import subprocess
import sys

import ltt


def private_directories():
    """The daemon of root's LTTng is in /run/lttng, wherever its home is: the test is run again where it
    has that for itself. Skips the test without LTTng's tools."""
    if not shutil.which("lttng-sessiond") or not shutil.which("lttng"):
        ltt.skip("LTTng's tools are not here (package lttng-tools; scripts/setup bench)")
    if os.getuid() != 0 or os.environ.get("OWN_RUN"):
        return
    os.environ["OWN_RUN"] = "1"
    hide = "mkdir -p /run/lttng && mount -t tmpfs none /run/lttng && mount -t tmpfs none /dev/shm"
    if subprocess.run(["unshare", "-m", "sh", "-c", hide], check=False, capture_output=True).returncode:
        ltt.skip("no private /run/lttng here (unshare -m)")
    os.execvp("unshare", ["unshare", "-m", "sh", "-c", f'{hide} && exec "$0" "$@"', sys.executable, *sys.argv])


def debian(suite, kind):
    """Return the beginning of a command of apt-get for another release of Debian: its packages (`deb`) or
    sources (`deb-src`), with lists of its own; None: it can't be reached."""
    here = os.path.abspath(f"apt.{suite}")
    os.makedirs(f"{here}/lists/partial")
    os.makedirs(f"{here}/cache/archives/partial")
    with open(f"{here}/sources.list", "w", encoding="ascii") as f:
        f.write(f"{kind} [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
                f"http://deb.debian.org/debian {suite} main\n")
    with open(f"{here}/conf", "w", encoding="ascii") as f:
        f.write(f'Dir::Etc::SourceList "{here}/sources.list";\nDir::Etc::SourceParts "-";\n'
                f'Dir::State::Lists "{here}/lists";\nDir::Cache "{here}/cache";\n')
    command = ["apt-get", "-c", f"{here}/conf"]
    return None if ltt.run(*command, "update", status=None, timeout=200).returncode else command


def start():
    """Start it. Return its process id."""
    home = os.path.abspath("home")
    os.makedirs(f"{home}/.lttng", exist_ok=True)
    os.environ["LTTNG_HOME"] = home
    ltt.run("lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile", f"{home}/pid")
    with open(f"{home}/pid") as f:
        return int(f.read())


def end(pid):
    os.kill(pid, signal.SIGTERM)
    ltt.until(lambda: not os.path.exists(f"/proc/{pid}"), 10, "the end of lttng-sessiond")


def record(command, trace, **environment):
    """Record all events of a program. Return them as events() does."""
    ltt.run("lttng", "create", trace, "-o", os.path.abspath(trace))
    ltt.run("lttng", "enable-event", "-u", "-a")
    ltt.run("lttng", "start")
    ltt.run(*command, env={"LTTNG_UST_REGISTER_TIMEOUT": "-1", **environment})
    ltt.run("lttng", "destroy")
    return events(trace)


def events(trace):
    """The text of each event, without its time, host, CPU and process."""
    text = ltt.run("babeltrace2", "--no-delta", trace).stdout
    found = []
    for line in text.splitlines():
        event = re.sub(r"^\[[^]]*\] (\S+ )?(?=\w+:)", "", line)
        event = re.sub(r"{ cpu_id = \d+ }, |{ vpid = [^}]*}, ", "", event)
        if not re.match(r"\w*_statedump:|lttng_ust_lib:", event):
            found.append(event)
    return found
