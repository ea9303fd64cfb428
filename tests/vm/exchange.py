#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""exchange PATH COUNT - have `echoes` make an event and then make the file PATH-NUMBER, for each number.
Where PATH is a folder of the host, the hypervisor opens the file between two events.
"""
import subprocess
import sys

path, count = sys.argv[1], int(sys.argv[2])
with subprocess.Popen(["echoes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as echoes:
    for i in range(count):
        echoes.stdin.write(f"{i}\n")
        echoes.stdin.flush()
        assert echoes.stdout.readline() == f"{i}\n"
        with open(f"{path}-{i}", "w", encoding="ascii"):
            pass
