# SPDX-License-Identifier: GPL-2.0-only
"""Programs of Debian's that are recorded: the names that a user reads."""
import os
import re

import ltt


def record(trace, wrappers, *argv, env=None):
    done = ltt.run("lttctl", "record", "-w", wrappers, "--subbuf-size=4M", "-o", trace, "--", *argv, env=env,
                   timeout=300)
    ltt.check(" 0 lost" in done.stderr, done.stderr)


def check(trace, report, view=(), launcher=False):
    """Each of these patterns is in a line of `lttctl report`, or of `lttctl view --symbols`. @launcher: a
    program that is another one after a millisecond has no list of libraries."""
    text = ltt.run("lttctl", "report", "--top=1000", trace, timeout=300).stdout
    ltt.equal(f"{trace}: names that are none", re.findall(r" in (?:_Z|_R|0x7f)\w*", text) if not launcher else [], [])
    for pattern in report:
        ltt.check(re.search(pattern, text), f"{trace}: no line of report is {pattern}: {text[:1000]}")
    if view:
        text = ltt.run("lttctl", "view", "--symbols", trace, timeout=300).stdout
    for pattern in view:
        ltt.check(re.search(pattern, text), f"{trace}: view has no {pattern}")


def is_here(path):
    return os.access(path, os.X_OK)
