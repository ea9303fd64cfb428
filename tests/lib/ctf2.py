#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ctf2 - checks the metadata of CTF 2 traces by the rules of CTF2-SPEC-2.0, and decodes their streams by it.

An oracle that shares nothing with the product, for systems whose babeltrace2 reads only CTF 1.8. As a program:

    ctf2.py TRACE_DIR...        a line for each event, as babeltrace2 prints it, without its time;
                                exit status 1 with a sentence if a rule is broken
"""
import json
import os
import struct
import sys

FRAGMENTS = {  # type: (members that must be there, others)
    "preamble": ({"version"}, {"uuid"}),
    "field-class-alias": ({"name", "field-class"}, set()),
    "trace-class": (set(), {"namespace", "name", "uid", "packet-header-field-class", "environment"}),
    "clock-class": ({"id", "frequency"}, {"namespace", "name", "uid", "description", "origin", "precision", "accuracy",
                                          "offset-from-origin"}),
    "data-stream-class": (set(), {"id", "namespace", "name", "uid", "default-clock-class-id",
                                  "packet-context-field-class", "event-record-header-field-class",
                                  "event-record-common-context-field-class"}),
    "event-record-class": (set(), {"id", "data-stream-class-id", "namespace", "name", "uid",
                                   "specific-context-field-class", "payload-field-class"}),
}
BITS = ({"length", "byte-order"}, {"bit-order", "alignment"})
INTEGER = (BITS[0], BITS[1] | {"preferred-display-base", "mappings", "roles"})
CLASSES = {
    "fixed-length-unsigned-integer": INTEGER,
    "fixed-length-signed-integer": INTEGER,
    "fixed-length-floating-point-number": BITS,
    "null-terminated-string": (set(), {"encoding"}),
    "static-length-string": ({"length"}, {"encoding"}),
    "dynamic-length-string": ({"length-field-location"}, {"encoding"}),
    "static-length-blob": ({"length"}, {"media-type", "roles"}),
    "structure": (set(), {"member-classes", "minimum-alignment"}),
    "static-length-array": ({"element-field-class", "length"}, {"minimum-alignment"}),
    "dynamic-length-array": ({"element-field-class", "length-field-location"}, {"minimum-alignment"}),
    "variant": ({"selector-field-location", "options"}, set()),
}
SCOPES = ("packet-header", "packet-context", "event-record-header", "event-record-common-context",
          "event-record-specific-context", "event-record-payload")
ROLES = {"packet-header": {"packet-magic-number", "metadata-stream-uuid", "data-stream-class-id", "data-stream-id"},
         "packet-context": {"packet-total-length", "packet-content-length", "default-clock-timestamp",
                            "packet-end-default-clock-timestamp", "packet-sequence-number",
                            "discarded-event-record-counter-snapshot"},
         "event-record-header": {"event-record-class-id", "default-clock-timestamp"}}
LOG_LEVELS = {"emergency", "alert", "critical", "error", "warning", "notice", "info", "debug:system", "debug:program",
              "debug:process", "debug:module", "debug:unit", "debug:function", "debug:line", "debug"}


class Broken(Exception):
    """A rule that metadata or a stream breaks."""


def check(holds, text):
    if not holds:
        raise Broken(text)


def unique(pairs):
    names = [name for name, value in pairs]
    check(len(names) == len(set(names)), f"two members of an object have one name: {names}")
    return dict(pairs)


def members(what, found, rules):
    extra = set(found) - rules[0] - rules[1] - {"type", "attributes", "extensions"}
    check(not extra, f"{what} has unknown members {sorted(extra)}")
    check(rules[0] <= set(found), f"{what} lacks {sorted(rules[0] - set(found))}")


def is_number(value, least=0):
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_power(value):
    return is_number(value, 1) and value & (value - 1) == 0


class Metadata:
    """The classes of a metadata file. @parts: sizes of the parts in which it was written."""

    def __init__(self, data):
        self.aliases, self.clocks, self.streams, self.events = {}, {}, {}, {}
        self.trace = self.uuid = None
        self.attributes = []
        check(data[:1] == b"\x1e", "the metadata does not begin with a record separator")
        for nr, text in enumerate(data[1:].split(b"\x1e")):
            self.fragment(nr, json.loads(text.decode("utf-8"), object_pairs_hook=unique))

    def fragment(self, nr, found):
        check(isinstance(found, dict), f"fragment {nr} is no object")
        kind = found.get("type")
        check(kind in FRAGMENTS, f"fragment {nr} has the type {kind!r}")
        check((kind == "preamble") == (nr == 0), f"fragment {nr} is a {kind}: the first one alone is a preamble")
        members(f"fragment {nr}, {kind},", found, FRAGMENTS[kind])
        self.attributes.append(found.get("attributes", {}))
        getattr(self, "add_" + kind.replace("-", "_"))(found)

    def add_preamble(self, found):
        check(found["version"] == 2, "the version is not 2")
        self.uuid = bytes(found["uuid"])
        check(len(self.uuid) == 16, "the UUID has not 16 bytes")

    def add_field_class_alias(self, found):
        check(found["name"] not in self.aliases, f"there are two aliases {found['name']}")
        self.aliases[found["name"]] = self.resolve(found["field-class"], None, {})

    def add_trace_class(self, found):
        check(self.trace is None and not self.streams, "a trace class is the second one, or behind a data stream class")
        self.trace = found
        for name, value in found["environment"].items():
            check(isinstance(value, str) or is_number(value, -2 ** 63), f"environment: {name} has the value {value!r}")
        self.scope(found, "packet-header", {})

    def add_clock_class(self, found):
        check(found["id"] not in self.clocks, "two clock classes have one id")
        check(is_number(found["frequency"], 1), "a clock has no frequency")
        offset = found["offset-from-origin"]
        check(isinstance(offset["seconds"], int) and 0 <= offset["cycles"] < found["frequency"], "a clock's offset")
        self.clocks[found["id"]] = found

    def add_data_stream_class(self, found):
        check(found["id"] not in self.streams, f"two data stream classes have the id {found['id']}")
        check(found["default-clock-class-id"] in self.clocks, "a data stream class has an unknown clock")
        known = {"packet-header": self.trace["packet-header-field-class"]}
        for scope in SCOPES[1:4]:
            self.scope(found, scope, known)
        self.streams[found["id"]] = found, known

    def add_event_record_class(self, found):
        stream, key = found["data-stream-class-id"], (found["data-stream-class-id"], found["id"])
        check(stream in self.streams, f"event record class {found['id']}: there is no data stream class {stream}")
        check(key not in self.events, f"two event record classes have the ids {key}")
        level = found.get("attributes", {}).get("babeltrace.org,2020", {}).get("log-level", "info")
        check(level in LOG_LEVELS, f"an event record class has the log level {level!r}")
        known = dict(self.streams[stream][1])
        self.scope(found, "event-record-specific-context", known, "specific-context-field-class")
        self.scope(found, "event-record-payload", known, "payload-field-class")
        self.events[key] = found

    def scope(self, owner, scope, known, key=None):
        key = key or scope + "-field-class"
        if key in owner:
            owner[key] = self.resolve(owner[key], scope, known)
            check(owner[key]["type"] == "structure", f"the {scope} is no structure")

    def resolve(self, found, scope, known):
        """The class with all aliases in it replaced, and with all that it names checked."""
        if isinstance(found, str):
            check(found in self.aliases, f"there is no alias {found} yet")
            return self.aliases[found]
        kind = found["type"]
        check(kind in CLASSES, f"there is no field class of type {kind!r}")
        members(f"a field class of type {kind}", found, CLASSES[kind])
        for role in found.get("roles", []):
            check(role in ROLES.get(scope, set()), f"a field of the {scope} has the role {role}")
        if "length" in CLASSES[kind][0]:
            check(is_number(found["length"]), "a length is no number")
        if "byte-order" in CLASSES[kind][0]:
            check(found["byte-order"] in ("little-endian", "big-endian"), "unknown byte order")
            check(1 <= found["length"] <= 64 and is_power(found.get("alignment", 1)), "length or alignment of bits")
        check(found.get("preferred-display-base", 10) in (2, 8, 10, 16), "unknown base")
        self.resolve_mappings(found)
        if kind == "structure":
            self.resolve_structure(found, scope, known)
        if "element-field-class" in found:
            found["element-field-class"] = self.resolve(found["element-field-class"], scope, known)
        if "length-field-location" in found:
            length = locate(known, found["length-field-location"])
            check(length["type"] == "fixed-length-unsigned-integer", "a length is no unsigned integer")
        if kind == "variant":
            locate(known, found["selector-field-location"])
            for option in found["options"]:
                check(option["selector-field-ranges"], "an option has no ranges")
                option["field-class"] = self.resolve(option["field-class"], scope, known)
        return found

    @staticmethod
    def resolve_mappings(found):
        signed = found["type"] == "fixed-length-signed-integer"
        least = -2 ** 63 if signed else 0
        for name, ranges in found.get("mappings", {}).items():
            check(ranges, f"mapping {name} has no range")
            for first, last in ranges:
                check(is_number(first, least) and first <= last < 2 ** (63 if signed else 64), f"range of {name}")

    def resolve_structure(self, found, scope, known):
        seen = []
        is_root = scope not in known
        if is_root:
            known[scope] = {"type": "structure", "member-classes": seen}
        for member in found.get("member-classes", []):
            check(member["name"] not in [other["name"] for other in seen], f"two members {member['name']} in a structure")
            member["field-class"] = self.resolve(member["field-class"], scope, known)
            seen.append(member)
        if is_root:
            known[scope] = found


def locate(known, location):
    at = known.get(location["origin"])
    for name in location["path"]:
        inside = [m["field-class"] for m in at["member-classes"] if m["name"] == name] if at else []
        check(inside, f"the location {location} is of no field before it")
        at = inside[0]
    return at


class Text(str):
    """A value that is printed as it is."""


class Reader:
    """Decodes fields, from bit @at on."""

    def __init__(self, data):
        self.data, self.at = data, 0
        self.scopes, self.roles = {}, {}

    def align(self, bits):
        self.at = -(-self.at // bits) * bits

    def bytes(self, count):
        self.align(8)
        check(self.at // 8 + count <= len(self.data), "a field is beyond the end of its stream")
        self.at += 8 * count
        return self.data[self.at // 8 - count:self.at // 8]

    def integer(self, found):
        self.align(found.get("alignment", 1))
        length, first = found["length"], self.at // 8
        end = -(-(self.at + length) // 8)
        check(end <= len(self.data), "a field is beyond the end of its stream")
        order = "little" if found["byte-order"] == "little-endian" else "big"
        check(order == "little" or (self.at % 8 == 0 and length % 8 == 0), "big-endian bits are not here")
        value = int.from_bytes(self.data[first:end], order) >> self.at % 8 & (1 << length) - 1
        self.at += length
        if found["type"] == "fixed-length-signed-integer" and value >> length - 1:
            value -= 1 << length
        return value

    def value_of(self, location):
        at = self.scopes[location["origin"]]
        for name in location["path"]:
            at = at[name]
        return at

    def read(self, found, printed, inside=None):
        """The value; the text of it is appended to @printed."""
        kind = found["type"]
        if kind == "structure":
            return self.structure(found, printed, {} if inside is None else inside)
        if kind.endswith("integer"):
            return self.number(found, printed)
        if kind == "fixed-length-floating-point-number":
            self.align(found.get("alignment", 1))
            form = ("<" if found["byte-order"] == "little-endian" else ">") + ("f" if found["length"] == 32 else "d")
            value, = struct.unpack(form, self.bytes(found["length"] // 8))
            printed.append(f"{value:g}")
            return value
        if kind.endswith("blob"):
            return self.bytes(found["length"])
        if kind.endswith("string"):
            return self.text(found, printed)
        if kind == "variant":
            selector = self.value_of(found["selector-field-location"])
            for option in found["options"]:
                if any(first <= selector <= last for first, last in option["selector-field-ranges"]):
                    return self.read(option["field-class"], printed)
            raise Broken(f"no option of a variant has the selector {selector}")
        length = found["length"] if "length" in found else self.value_of(found["length-field-location"])
        texts = []
        for nr in range(length):
            one = []
            self.read(found["element-field-class"], one)
            texts.append(f"[{nr}] = {one[0]}")
        printed.append("[ " + ", ".join(texts) + " ]" if texts else "[ ]")
        return None

    def structure(self, found, printed, values):
        texts = []
        self.align(max([found.get("minimum-alignment", 1)] + [alignment(m["field-class"]) for m in
                                                              found.get("member-classes", [])]))
        for member in found.get("member-classes", []):
            one = []
            values[member["name"]] = self.read(member["field-class"], one)
            if not set(member["field-class"].get("roles", [])):
                texts.append(f"{member['name']} = {one[0] if one else '?'}")
        printed.append("{ " + ", ".join(texts) + " }" if texts else "{ }")
        return values

    def number(self, found, printed):
        value = self.integer(found)
        for role in found.get("roles", []):
            self.roles[role] = value, found["length"]
        base, length = found.get("preferred-display-base", 10), found["length"]
        raw = value & (1 << length) - 1
        text = {2: f"0b{raw:0{length}b}", 8: f"0{raw:o}", 10: str(value), 16: f"0x{raw:X}"}[base]
        if "mappings" in found:
            names = [f'"{name}"' for name, ranges in found["mappings"].items()
                     if any(first <= value <= last for first, last in ranges)]
            text = f"( {', '.join(names) or '<unknown>'} : container = {text} )"
        printed.append(text)
        return value

    def text(self, found, printed):
        if found["type"] == "null-terminated-string":
            data = self.data[self.at // 8:]
            check(b"\0" in data, "a string has no end")
            raw = self.bytes(data.index(b"\0") + 1)
        else:
            raw = self.bytes(found["length"] if "length" in found else self.value_of(found["length-field-location"]))
        raw = raw.split(b"\0")[0]
        escapes = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}
        printed.append('"' + raw.decode("utf-8", "replace").translate(escapes) + '"')
        return raw


def alignment(found):
    if found["type"] == "structure":
        return max([found.get("minimum-alignment", 1)] + [alignment(m["field-class"]) for m in
                                                          found.get("member-classes", [])])
    if found["type"].startswith("fixed-length"):
        return found.get("alignment", 1)
    if "element-field-class" in found:
        return alignment(found["element-field-class"])
    return 1 if found["type"] == "variant" else 8


def packet(metadata, data):
    """(time, text) of each event of the packet at the beginning of @data, and its size in bytes."""
    reader = Reader(data)
    header = metadata.trace["packet-header-field-class"]
    reader.scopes["packet-header"] = values = {}
    reader.read(header, [], values)
    check(reader.roles["packet-magic-number"][0] == 0xC1FC1FC1, "a packet has another magic number")
    check(values["uuid"] == metadata.uuid, "a packet has another UUID")
    stream_id = reader.roles["data-stream-class-id"][0]
    check(stream_id in metadata.streams, f"a packet has the unknown data stream class {stream_id}")
    stream = metadata.streams[stream_id][0]
    context = []
    reader.scopes["packet-context"] = values = {}
    reader.read(stream["packet-context-field-class"], context, values)
    time, end = reader.roles["default-clock-timestamp"][0], reader.roles["packet-content-length"][0]
    total = reader.roles["packet-total-length"][0] // 8
    last = reader.roles["packet-end-default-clock-timestamp"][0]
    events = []
    while reader.at < end:
        time, text = event(metadata, reader, stream, time)
        check(time <= last, "an event is later than its packet's end")
        events.append((time, text.replace("PACKET", context[0], 1)))
    check(reader.at == end, "the last event of a packet goes beyond its end")
    return events, total


def event(metadata, reader, stream, time):
    for scope in SCOPES[2:]:
        reader.scopes[scope] = {}
    reader.roles = {}
    reader.read(stream["event-record-header-field-class"], [], reader.scopes["event-record-header"])
    value, bits = reader.roles["default-clock-timestamp"]
    if bits < 64:
        value = (time & ~((1 << bits) - 1)) + value
        value += (1 << bits) if value < time else 0
    key = stream["id"], reader.roles["event-record-class-id"][0]
    check(key in metadata.events, f"an event has the unknown class {key}")
    found = metadata.events[key]
    texts = ["PACKET"]
    for owner, name, scope in ((stream, "event-record-common-context-field-class", SCOPES[3]),
                               (found, "specific-context-field-class", SCOPES[4]),
                               (found, "payload-field-class", SCOPES[5])):
        if name in owner:
            reader.read(owner[name], texts, reader.scopes[scope])
    return value, f"{found['name']}: " + ", ".join(texts)


def events(trace):
    """All events of the trace in a directory, by time."""
    with open(os.path.join(trace, "metadata"), "rb") as file:
        metadata = Metadata(file.read())
    found = []
    for name in sorted(os.listdir(trace)):
        path = os.path.join(trace, name)
        if name == "metadata" or name.startswith(".") or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            data = file.read()
        while data:
            more, size = packet(metadata, data)
            found += more
            data = data[size:]
    return sorted(found, key=lambda pair: pair[0])


def traces(top):
    return sorted(folder for folder, _, files in os.walk(top) if "metadata" in files)


def main():
    found = []
    for top in sys.argv[1:]:
        for trace in traces(top):
            try:
                found += events(trace)
            except (Broken, KeyError, ValueError) as problem:
                sys.exit(f"{trace}: {type(problem).__name__}: {problem}")
    for _, text in sorted(found, key=lambda pair: pair[0]):
        print(text)


if __name__ == "__main__":
    main()
