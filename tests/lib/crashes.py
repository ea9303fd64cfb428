# SPDX-License-Identifier: GPL-2.0-only
"""crashes - for tests of ltt-crash: the processes that save a crash, beside the handler of its core."""
import os

import ltt


def savers():
    """Those of this test, which have its working directory."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                command = f.read().split(b"\0")
            known = command[0].endswith(b"/ltt-crash") or command[-2:] == [b"--save", b""]
            is_between = command == [b""]  # while a process executes another program
            if (known or is_between) and os.readlink(f"/proc/{pid}/cwd") == os.getcwd():
                found.append(int(pid))
        except OSError:
            pass
    return found


def settle():
    ltt.until(lambda: not savers(), 20, "the end of the processes that save")
