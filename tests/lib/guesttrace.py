# SPDX-License-Identifier: GPL-2.0-only
"""Traces of guests and of their hosts, made by the format's description: for tests of
`lttctl view --guest`. An event is (cpu, value of the clock, name, fields), fields a dict of numbers.
"""
import ctypes
import ctypes.util
import os
import struct

TYPES = {"u32": ("I", 32, "false"), "s32": ("i", 32, "true"), "u64": ("Q", 64, "false"),
         "s64": ("q", 64, "true"), "x64": ("Q", 64, "false")}
HEAD = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; signed = true; } := s64;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := x64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { %s };
clock { name = "%s"; freq = %d; offset_s = %d; offset = %d; };
%s
typealias integer { size = 64; align = 8; signed = false; map = clock.%s.value; } := stamp;
stream { id = 0; event.header := struct { u32 id; stamp timestamp; };
  packet.context := struct { stamp timestamp_begin; stamp timestamp_end; u64 content_size;
    u64 packet_size; u32 cpu_id; };
  event.context := struct { s32 _pid; }; };
"""
VCPU = {"pid": "s32", "tid": "s32", "vcpu": "u32", "tsc_offset": "s64", "tsc_scaling_ratio": "u64",
        "tsc_scaling_ratio_frac_bits": "u32", "tsc_khz": "u32"}
WRITE = {"vcpu_id": "u32", "previous_tsc_offset": "u64", "next_tsc_offset": "u64"}
DUMP, CHANGE = "lttng_statedump_kvm_vcpu", "kvm_write_tsc_offset"


def write(folder, clock, classes, events, domain="ust", host="box", freq=10**9, offset_s=0, offset=0,
          remarks="", pid=0):
    """clock: its name; classes: name -> {field: type}; pid: the context of all events."""
    os.makedirs(folder)
    env = f'domain = "{domain}"; hostname = "{host}";'
    text = HEAD % (env, clock, freq, offset_s, offset, remarks, clock)
    numbers = {name: i for i, name in enumerate(classes)}
    for name, fields in classes.items():
        inner = "".join(f" {kind} _{field};" for field, kind in fields.items())
        text += (f'event {{ id = {numbers[name]}; stream_id = 0; name = "{name}"; '
                 f"fields := struct {{{inner} }}; }};\n")
    with open(f"{folder}/metadata", "w", encoding="ascii") as f:
        f.write(text)
    for cpu in sorted({e[0] for e in events}):
        mine = [e for e in events if e[0] == cpu]
        body = b""
        for _, value, name, fields in mine:
            body += struct.pack("<IQi", numbers[name], value, pid)
            for field, kind in classes[name].items():
                body += struct.pack("<" + TYPES[kind][0], fields[field])
        values = [e[1] for e in mine]
        bits = (4 + 4 + 4 * 8 + 4 + len(body)) * 8
        with open(f"{folder}/ch_{cpu}", "wb") as f:
            f.write(struct.pack("<IIQQQQI", 0xC1FC1FC1, 0, min(values), max(values), bits, bits, cpu))
            f.write(body)


def vcpu(pid, number, offset, ratio=1, bits=0):
    """Fields of DUMP."""
    return {"pid": pid, "tid": pid, "vcpu": number, "tsc_offset": offset, "tsc_scaling_ratio": ratio,
            "tsc_scaling_ratio_frac_bits": bits, "tsc_khz": 0}


def stamps(folder, stamps_by_cpu, name="guest:stamp", **keywords):
    """The trace of a guest: (cpu, counter) each, numbered in this order."""
    write(folder, "tsc", {name: {"n": "u32"}},
          [(cpu, value, name, {"n": n}) for n, (cpu, value) in enumerate(stamps_by_cpu)], **keywords)


def packed(text):
    """By zstd, for .kallsyms.zst: two frames, as each may be a part of it."""
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    for function in (zstd.ZSTD_compress, zstd.ZSTD_compressBound):
        function.restype = ctypes.c_size_t
    data = b""
    for part in (text[:len(text) // 2], text[len(text) // 2:]):
        room = zstd.ZSTD_compressBound(ctypes.c_size_t(len(part)))
        to = ctypes.create_string_buffer(room)
        n = zstd.ZSTD_compress(to, ctypes.c_size_t(room), part, ctypes.c_size_t(len(part)), 3)
        data += to.raw[:n]
    return data
