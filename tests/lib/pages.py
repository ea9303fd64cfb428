# SPDX-License-Identifier: GPL-2.0-only
"""pages - commands that documents and manual pages show, for tests that run them.

A request of tests/designs/README.md is a section `### NUMBER. TITLE`: text with its state in bold, and blocks
of commands, each of which ends with patterns of its output:

    # kernel                needs root and ltt.ko (if it is the first line)
    COMMANDS
    # prints: PATTERN       in the output, which is searched line by line
"""
import contextlib
import os
import re
import signal
import subprocess

STATES = ("Met", "Met otherwise", "Not met")
KERNEL = "# kernel"
PRINTS = "# prints: "


class Block:
    """Commands of a page, and the patterns of their output."""
    def __init__(self, lines):
        self.is_kernel = lines[0] == KERNEL
        self.patterns = [line.removeprefix(PRINTS) for line in lines if line.startswith(PRINTS)]
        self.script = "\n".join(line for line in lines if line != KERNEL and not line.startswith(PRINTS))

    def problem(self, status, output):
        """An error message about a run, or None."""
        missing = [p for p in self.patterns if not re.search(p, output, re.M)]
        if status == 0 and not missing:
            return None
        return f"status {status}, not printed: {missing}\n{self.script}\n---\n{output[-3000:]}"


class Request:
    def __init__(self, number, title, body):
        self.number, self.title = number, title
        found = re.search(r"^\*\*([A-Z][a-z ]+)\*\*:([^\n]*\n(?:[^\n]+\n)*)", body, re.M)
        self.state = found[1] if found else None
        self.where = found[2] if found else ""
        self.blocks = [Block([line[4:] for line in block.splitlines()])
                       for block in re.findall(r"(?:^    .*\n)+", body, re.M)]

    def problem(self):
        """An error message about the section, or None."""
        if self.state not in STATES:
            return "it has no state"
        if self.state == "Met" and "`" not in self.where:
            return "it names no file"
        if self.state != "Met" and len(self.where.split()) < 8:
            return f"{self.state}: no reason"
        if not self.blocks and self.state != "Not met":
            return "it has no command"
        if not all(block.patterns for block in self.blocks):
            return "a command without a pattern"
        if any(" && " in line for block in self.blocks for line in block.script.splitlines()[:-1]):
            return "a command before && may fail unnoticed; separate by ;"
        return None


def requests(text):
    """The requests of tests/designs/README.md, in their order."""
    parts = re.split(r"^### (\d+)\. (.*)\n", text, flags=re.M)[1:]
    return [Request(int(parts[i]), parts[i + 1], re.sub(r"^## .*", "", parts[i + 2], flags=re.M))
            for i in range(0, len(parts), 3)]


def run(script, timeout, options=(), both=False, **kw):
    """Run commands of a page in a session of their own, of which no process is left. Return the
    CompletedProcess (text). @both: standard error is in its stdout."""
    argv = ["sh", *options, "-c", script]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace",
                          stderr=subprocess.STDOUT if both else subprocess.PIPE, start_new_session=True,
                          **kw) as proc:
        try:
            out, err = proc.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(proc.pid, signal.SIGKILL)
            out, err = proc.communicate()
            out += f"\nno end after {timeout} s"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(proc.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(argv, proc.returncode, out, err)
