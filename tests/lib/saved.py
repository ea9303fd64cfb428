# SPDX-License-Identifier: GPL-2.0-only
"""saved - saved sessions: their documents, and listed sessions without facts that no file keeps."""
import json
import os
import xml.etree.ElementTree as tree

import ltt
import schema

XSD = f"{os.environ['TOP']}/doc/ltt-sessions.xsd"
OWN = f"{os.environ['LTT_HOME']}/.config/ltt/sessions"
# of this life of the session, or derived from its time
PASSING = {"id", "created_ns", "recording_ns", "applications", "problem", "spooled", "undurable", "clock_offset_ns",
           "clock_error_ns", "clock_change", "totals", "used", "memory", "size", "points", "points_never"}


def without(value):
    if isinstance(value, list):
        return [without(v) for v in value]
    if isinstance(value, dict):
        return {k: without(v) for k, v in value.items() if k not in PASSING}
    return value


def listed(name, dated=()):
    """The session as `list` shows it; of members in @dated, only the directory of their path."""
    done = ltt.run("lttctl", "--json", "list", name, status=None)
    session = without(json.loads(done.stdout)["result"])
    for member in dated:
        session[member] = os.path.dirname(session[member])
    return session


def valid(path):
    ltt.run("xmllint", "--noout", "--schema", XSD, path)


def elements(path):
    """Names of all elements with a value."""
    return {e.tag for e in tree.parse(path).iter() if e.text and e.text.strip()}


def document(path, session):
    """A file with this inside of a session."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'<ltt-sessions version="1">\n<session>\n{session}\n</session>\n</ltt-sessions>\n')


def load(*argv, status=0):
    answer = json.loads(ltt.run("lttctl", "--json", "load", *argv, status=status).stdout)
    schema.answer(answer)
    return answer


def names():
    return [s["name"] for s in json.loads(ltt.run("lttctl", "--json", "list").stdout)["result"]["sessions"]]
