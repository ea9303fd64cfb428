# SPDX-License-Identifier: GPL-2.0-only
"""Writes CTF 2 traces: metadata of the field classes of the specification, and their fields.

A field class is the object of the metadata itself; encode() writes a value by it. Lengths and
selectors are fields like others: a test writes them as it wants."""
import json
import os
import struct

UUID = bytes(range(16))
MAGIC = 0xC1FC1FC1


def uint(length, order="le", **more):
    """An integer at bytes where its length is one of bytes; roles=[..], mappings={..}."""
    return _fixed("fixed-length-unsigned-integer", length, order, more)


def sint(length, order="le", **more):
    return _fixed("fixed-length-signed-integer", length, order, more)


def fixed(kind, length, order="le", **more):
    """fixed("boolean", 8)"""
    return _fixed("fixed-length-" + kind, length, order, more)


def _fixed(kind, length, order, more):
    more = {key.replace("_", "-"): value for key, value in more.items()}
    fc = {"type": kind, "length": length, "byte-order": {"le": "little-endian",
                                                          "be": "big-endian"}[order]}
    if length % 8 == 0:
        fc["alignment"] = 8
    fc.update(more)
    return fc


def field_class(kind, **more):
    return {"type": kind, **{key.replace("_", "-"): value for key, value in more.items()}}


def structure(*members, **more):
    """structure(("a", uint(8)), ..)"""
    return field_class("structure", member_classes=[{"name": name, "field-class": fc}
                                                    for name, fc in members], **more)


def located(*path, origin=None):
    return {"path": list(path), **({"origin": origin} if origin else {})}


class Bits:
    """The bits of a packet from its beginning on."""

    def __init__(self):
        self.bytes = bytearray()
        self.pos = 0

    def align(self, bits):
        self.pos = -(-self.pos // bits) * bits
        self.bytes.extend(bytes(-(-self.pos // 8) - len(self.bytes)))

    def bit(self, value, big):
        if self.pos % 8 == 0:
            self.bytes.append(0)
        if value:
            self.bytes[self.pos // 8] |= 1 << (7 - self.pos % 8 if big else self.pos % 8)
        self.pos += 1

    def number(self, value, fc):
        big = fc["byte-order"] == "big-endian"
        last_first = fc.get("bit-order", "last-to-first" if big else "first-to-last") \
            == "last-to-first"
        length = fc["length"]
        self.align(fc.get("alignment", 1))
        for i in range(length):
            self.bit(value >> (length - 1 - i if last_first else i) & 1, big)

    def raw(self, data):
        self.align(8)
        self.bytes += data
        self.pos += 8 * len(data)

    def leb128(self, value, signed):
        self.align(8)
        while True:
            low, value = value & 0x7f, value >> 7
            done = value == (-(low >> 6 & 1) if signed else 0)
            self.raw(bytes([low | (0 if done else 0x80)]))
            if done:
                return


def alignment(fc, aliases):
    fc = aliases.get(fc, fc) if isinstance(fc, str) else fc
    kind = fc["type"]
    if kind == "structure":
        return max([fc.get("minimum-alignment", 1)] +
                   [alignment(m["field-class"], aliases) for m in fc.get("member-classes", [])])
    if kind.endswith("-array") and "element-field-class" in fc:
        return max(fc.get("minimum-alignment", 1), alignment(fc["element-field-class"], aliases))
    if kind.startswith("fixed-length"):
        return fc.get("alignment", 1)
    return 1 if kind in ("optional", "variant") else 8


def encode(bits, fc, value, aliases={}):
    """A structure's value: a dict or list; a variant's: (option, value); an optional's: None or
    the value; a string's: str or bytes."""
    fc = aliases[fc] if isinstance(fc, str) else fc
    kind = fc["type"]
    if kind == "fixed-length-floating-point-number":
        code = {16: "e", 32: "f", 64: "d"}[fc["length"]]
        bits.number(int.from_bytes(struct.pack(">" + code, value), "big"), fc)
    elif kind.startswith("fixed-length"):
        bits.number(value, fc)
    elif kind.startswith("variable-length"):
        bits.leb128(value, "-signed-" in kind)
    elif kind.endswith("string"):
        data = value if isinstance(value, bytes) else value.encode(fc.get("encoding", "utf-8"))
        if kind == "null-terminated-string":
            data += bytes(int(fc.get("encoding", "utf-8")[4:6].strip("-")) // 8)
        bits.raw(data.ljust(fc.get("length", 0), b"\0"))
    elif kind.endswith("blob"):
        bits.raw(value)
    elif kind == "structure":
        bits.align(alignment(fc, aliases))
        values = list(value.values()) if isinstance(value, dict) else value
        for member, one in zip(fc.get("member-classes", []), values, strict=True):
            encode(bits, member["field-class"], one, aliases)
    elif kind == "optional":
        if value is not None:
            encode(bits, fc["field-class"], value, aliases)
    elif kind == "variant":
        encode(bits, fc["options"][value[0]]["field-class"], value[1], aliases)
    else:
        bits.align(alignment(fc, aliases))
        for one in value:
            encode(bits, fc["element-field-class"], one, aliases)


HEADER = structure(("magic", uint(32, roles=["packet-magic-number"])),
                   ("uuid", field_class("static-length-blob", length=16,
                                        roles=["metadata-stream-uuid"])),
                   ("stream_id", uint(32, roles=["data-stream-class-id"])),
                   ("stream_instance_id", uint(64, roles=["data-stream-id"])))

CONTEXT = structure(("timestamp_begin", uint(64, roles=["default-clock-timestamp"])),
                    ("timestamp_end", uint(64, roles=["packet-end-default-clock-timestamp"])),
                    ("content_size", uint(64, roles=["packet-content-length"])),
                    ("packet_size", uint(64, roles=["packet-total-length"])),
                    ("packet_seq_num", uint(64, roles=["packet-sequence-number"])),
                    ("events_discarded",
                     uint(64, roles=["discarded-event-record-counter-snapshot"])),
                    ("cpu_id", uint(32)))


def _header(id_bits, small, last, more):
    stamp = {"length": 64, "roles": ["default-clock-timestamp"]}
    at = {"alignment": 8} if id_bits == 16 else {}
    return structure(
        ("id", {**uint(id_bits), **at, "roles": ["event-record-class-id"],
                "mappings": {"compact": [[0, last - 1]], "extended": [[last, last]]}}),
        ("v", field_class(
            "variant", selector_field_location=located("id"), options=[
                {"name": "compact", "selector-field-ranges": [[0, last - 1]],
                 "field-class": structure(("timestamp", {
                     **uint(small), **at, "roles": ["default-clock-timestamp"]}))},
                {"name": "extended", "selector-field-ranges": [[last, last]],
                 "field-class": structure(
                     ("id", uint(32, roles=["event-record-class-id"])),
                     ("timestamp", {**uint(64), **stamp}))}])), minimum_alignment=more)


# as LTTng 2.15 writes them
COMPACT = _header(5, 27, 31, 8)
LARGE = _header(16, 32, 65535, 8)

ENVIRONMENT = {"hostname": "h", "domain": "ust", "tracer_name": "lttng-ust", "tracer_major": 2,
               "tracer_minor": 15}


class Trace:
    """One stream class. event() adds a class, record() an event of it."""

    def __init__(self, header=COMPACT, context=None, environment=ENVIRONMENT, aliases=(),
                 packed=False, clock={}):
        self.aliases = dict(aliases)
        self.fragments = [
            {"type": "preamble", "version": 2, "uuid": list(UUID)},
            *({"type": "field-class-alias", "name": name, "field-class": fc}
              for name, fc in self.aliases.items()),
            {"type": "trace-class", "namespace": "lttng.org,2009", "name": "",
             "uid": "00010203-0405-0607-0809-0a0b0c0d0e0f", "environment": environment,
             "packet-header-field-class": HEADER},
            {"type": "clock-class", "id": "monotonic", "name": "monotonic",
             "frequency": 1000000000, "origin": "unix-epoch",
             "offset-from-origin": {"seconds": 1700000000, "cycles": 5}, **clock},
            {"type": "data-stream-class", "id": 0, "default-clock-class-id": "monotonic",
             "packet-context-field-class": CONTEXT, "event-record-header-field-class": header}]
        self.header = header
        self.context = context
        if context:
            self.fragments[-1]["event-record-common-context-field-class"] = context
        self.classes, self.packets, self.events = [], [], []
        self.packed = packed

    def event(self, name, payload=None, specific=None, **more):
        fragment = {"type": "event-record-class", "id": len(self.classes),
                    "data-stream-class-id": 0, "name": name,
                    **{key.replace("_", "-"): value for key, value in more.items()}}
        if specific:
            fragment["specific-context-field-class"] = specific
        if payload:
            fragment["payload-field-class"] = payload
        self.fragments.append(fragment)
        self.classes.append((payload, specific))
        return len(self.classes) - 1

    def record(self, number, ns, payload=None, context=None, specific=None):
        self.events.append((number, ns, payload, context, specific))

    def _encode_header(self, bits, number, ns):
        members = self.header["member-classes"]
        if members[1]["field-class"]["type"] != "variant":
            return encode(bits, self.header, [number, ns])
        last = members[1]["field-class"]["options"][1]["selector-field-ranges"][0][0]
        if number < last:
            return encode(bits, self.header, [number, (0, [ns])])
        return encode(bits, self.header, [last, (1, [number, ns])])

    def flush(self, discarded=0, more=(), head_class=CONTEXT):
        """The events up to now are a packet. @head_class: CONTEXT, and members with the values @more."""
        bits = Bits()
        encode(bits, HEADER, [MAGIC, UUID, 0, 0])
        stamps = [event[1] for event in self.events] or [0]
        at = bits.pos
        head = [stamps[0], stamps[-1], 0, 0, len(self.packets), discarded, 1, *more]
        encode(bits, head_class, head)
        for number, ns, payload, context, specific in self.events:
            self._encode_header(bits, number, ns)
            for fc, value in ((self.context, context), (self.classes[number][1], specific),
                              (self.classes[number][0], payload)):
                if fc:
                    encode(bits, fc, value, self.aliases)
        content = bits.pos
        bits.align(64)
        again = Bits()
        again.raw(bits.bytes[:at // 8])
        encode(again, head_class, [*head[:2], content, bits.pos, *head[4:]])
        bits.bytes[:len(again.bytes)] = again.bytes
        self.packets.append(bytes(bits.bytes))
        self.events = []

    def metadata(self):
        text = b"".join(b"\x1e" + json.dumps(f).encode() + b"\n" for f in self.fragments)
        if self.packed:
            head = struct.pack("<I16sIIIBBBBB", 0x75D11D57, UUID, 0, 8 * (37 + len(text)),
                               8 * (37 + len(text)), 0, 0, 0, 2, 0)
            text = head + text
        return text

    def write(self, folder):
        if self.events:
            self.flush()
        os.makedirs(folder, exist_ok=True)
        for name, data in (("metadata", self.metadata()), ("s_0", b"".join(self.packets))):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)


# --- the same content as CTF 1.8 --------------------------------------------------------------

def _scalar(fc, clock=None):
    base = fc.get("preferred-display-base", 10)
    return (f"integer {{ size = {fc['length']}; align = {fc.get('alignment', 1)}; "
            f"signed = {int('-signed-' in fc['type'])}; base = {base}; "
            f"byte_order = {'be' if fc['byte-order'] == 'big-endian' else 'le'}; "
            f"{'map = clock.monotonic.value; ' if clock in fc.get('roles', []) else ''}}}")


def _tsdl(fc, name, aliases):
    """The declaration of a field. Only classes that TSDL has; locations are those beside the field."""
    fc = aliases[fc] if isinstance(fc, str) else fc
    kind = fc["type"]
    letter = "integer { size = 8; align = 8; encoding = UTF8; }"
    if fc.get("mappings"):
        labels = ", ".join(f'"{label}" = {first} ... {last}' for label, ranges in fc["mappings"].items()
                           for first, last in ranges)
        return f"enum : {_scalar(fc)} {{ {labels} }} {name};"
    if kind.endswith("integer"):
        return f"{_scalar(fc, 'default-clock-timestamp')} {name};"
    if kind.endswith("number"):
        digits = {32: (8, 24), 64: (11, 53)}[fc["length"]]
        return (f"floating_point {{ exp_dig = {digits[0]}; mant_dig = {digits[1]}; align = 8; "
                f"byte_order = {'be' if fc['byte-order'] == 'big-endian' else 'le'}; }} {name};")
    if kind == "null-terminated-string":
        return f"string {name};"
    size = fc.get("length", (fc.get("length-field-location") or {"path": [""]})["path"][-1])
    if kind.endswith("-string"):
        return f"{letter} {name}[{size}];"
    if kind.endswith("-blob"):
        return f"integer {{ size = 8; align = 8; }} {name}[{size}];"
    if kind == "structure":
        return _tsdl_struct(fc, aliases) + f" {name};"
    if kind.endswith("-array"):
        return _tsdl(fc["element-field-class"], f"{name}[{size}]", aliases)
    options = " ".join(_tsdl(o["field-class"], o["name"], aliases) for o in fc["options"])
    return f"variant <{fc['selector-field-location']['path'][-1]}> {{ {options} }} {name};"


def _tsdl_struct(fc, aliases):
    fc = aliases[fc] if isinstance(fc, str) else fc
    members = " ".join(_tsdl(m["field-class"], m["name"], aliases) for m in fc.get("member-classes", []))
    return f"struct {{ {members} }} align({fc.get('minimum-alignment', 1)})"


def write_tsdl(trace, folder):
    """The streams of a trace that was written, and its metadata as CTF 1.8."""
    aliases = trace.aliases
    by_type = {f["type"]: f for f in trace.fragments}
    clock = by_type["clock-class"]
    offset = clock["offset-from-origin"]
    env = "".join(f"{key} = {json.dumps(value)}; "
                  for key, value in by_type["trace-class"]["environment"].items())
    uuid = by_type["trace-class"]["uid"]
    text = [f'/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = le; '
            f"packet.header := {_tsdl_struct(HEADER, {})}; }};",
            f"env {{ {env}}};",
            f"clock {{ name = monotonic; freq = {clock['frequency']}; offset_s = {offset['seconds']}; "
            f"offset = {offset['cycles']}; }};",
            f"stream {{ id = 0; packet.context := {_tsdl_struct(CONTEXT, {})}; "
            f"event.header := {_tsdl_struct(trace.header, aliases)}; " +
            (f"event.context := {_tsdl_struct(trace.context, aliases)}; " if trace.context else "") + "};"]
    for fragment in trace.fragments:
        if fragment["type"] != "event-record-class":
            continue
        level = fragment.get("attributes", {}).get("lttng.org,2009", {}).get("log-level")
        parts = [f'name = "{fragment["name"]}"; id = {fragment["id"]}; stream_id = 0;']
        parts += [f"loglevel = {level};"] if level is not None else []
        for key, word in (("specific-context-field-class", "context"), ("payload-field-class", "fields")):
            if key in fragment:
                parts.append(f"{word} := {_tsdl_struct(fragment[key], aliases)};")
        text.append(f"event {{ {' '.join(parts)} }};")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "metadata"), "w", encoding="utf-8") as f:
        f.write("\n".join(text) + "\n")
    with open(os.path.join(folder, "s_0"), "wb") as f:
        f.write(b"".join(trace.packets))
