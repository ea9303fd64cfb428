# SPDX-License-Identifier: GPL-2.0-only
"""Reads Parquet files as `lttctl export` writes them, written from the format's specification
(parquet.apache.org), and checks each header, size, count, minimum and maximum on the way.

As a program: print the rows of a file, a line each, cells separated by tabs: texts in hexadecimal,
doubles as their bits, nothing for null."""
import ctypes
import math
import struct
import sys

INT64, DOUBLE, BYTES = 2, 5, 6
PLAIN, RLE, DICTIONARY = 0, 3, 8
UNSIGNED, TEXT = {10: {1: 64, 2: False}}, {1: {}}


class Thrift:
    """Structs of the compact protocol as {id: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def unsigned(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self):
        value = self.unsigned()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 8:
            size = self.unsigned()
            self.at += size
            assert self.at <= len(self.data), "a text ends behind the file"
            return self.data[self.at - size:self.at]
        if kind == 9:
            head = self.byte()
            count = head >> 4 if head < 0xf0 else self.unsigned()
            return [self.value(head & 15) for _ in range(count)]
        assert kind == 12, f"type {kind}"
        return self.struct()

    def struct(self):
        ret, last = {}, 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else self.signed()
            ret[last] = self.value(head & 15)
        return ret


def unpacked(codec, data, size):
    if codec == 0:
        return data
    assert codec == 6, f"codec {codec}"
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(max(size, 1))
    got = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert got == size, f"{got} bytes, not {size}"
    return out.raw[:size]


def runs(data, at, bits, count):
    """`count` values of the hybrid of runs and packed bits, and the position behind them."""
    values, reader = [], Thrift(data, at)
    while len(values) < count:
        head = reader.unsigned()
        if head & 1:
            size = (head >> 1) * bits
            for i in range(0, size, bits):
                part = int.from_bytes(data[reader.at + i:reader.at + i + bits], "little")
                values += [part >> bits * k & (1 << bits) - 1 for k in range(8)]
            reader.at += size
        else:
            size = (bits + 7) // 8
            values += [int.from_bytes(data[reader.at:reader.at + size], "little")] * (head >> 1)
            reader.at += size
    assert not any(values[count:]) and len(values) < count + 8
    return values[:count], reader.at


def plain(kind, unsigned, data, count):
    if kind != BYTES:
        assert len(data) == 8 * count, f"{len(data)} bytes of {count} values"
        return list(struct.unpack(f"<{count}{'d' if kind == DOUBLE else 'Q' if unsigned else 'q'}", data))
    values, at = [], 0
    for _ in range(count):
        size, = struct.unpack_from("<I", data, at)
        values.append(data[at + 4:at + 4 + size])
        at += 4 + size
    assert at == len(data), "bytes behind the last text"
    return [value.decode() for value in values]


class Column:
    def __init__(self, element):
        self.name, self.kind, self.required = element[4].decode(), element[1], element[3] == 0
        self.unsigned = element.get(10) == UNSIGNED
        assert element.get(10) == (TEXT if self.kind == BYTES else UNSIGNED if self.unsigned else None), element
        assert element.get(6) == (0 if self.kind == BYTES else 14 if self.unsigned else None), element

    def pages(self, data, meta):
        """The cells of a chunk."""
        at = first = meta.get(11, meta[9])
        cells, entries, size, encodings = [], None, 0, {RLE}
        while at < first + meta[7]:
            reader = Thrift(data, at)
            head = reader.struct()
            size += reader.at - at + head[2]
            page = unpacked(meta[4], data[reader.at:reader.at + head[3]], head[2])
            assert len(page) == head[2]
            if head[1] == 2:
                assert at == first and head[7][2] == PLAIN
                entries = plain(self.kind, self.unsigned, page, head[7][1])
                encodings.add(PLAIN)
            else:
                assert len(cells) or at == meta[9], "data_page_offset"
                cells += self.cells(page, head[5], entries)
                encodings.add(head[5][2])
            at = reader.at + head[3]
        assert at == first + meta[7] and size == meta[6] and encodings == set(meta[2]), meta
        return cells

    def cells(self, page, head, entries):
        rows, encoding, at = head[1], head[2], 0
        present = [1] * rows
        if not self.required:
            size, = struct.unpack_from("<I", page)
            present, at = runs(page, 4, 1, rows)
            assert at == 4 + size, "levels"
        count = sum(present)
        if encoding == PLAIN:
            values = plain(self.kind, self.unsigned, page[at:], count)
        else:
            assert encoding == DICTIONARY
            indices, end = runs(page, at + 1, page[at], count)
            assert end == len(page)
            values = [entries[i] for i in indices]
        values = iter(values)
        return [next(values) if one else None for one in present]

    def check_range(self, cells, statistics):
        values = [v for v in cells if v is not None and v == v]
        assert statistics[3] == cells.count(None), "null_count"
        if 5 not in statistics:
            assert not values or self.kind == BYTES and max(len(min(values).encode()), len(max(values).encode())) > 64
            return
        code = {INT64: "<Q" if self.unsigned else "<q", DOUBLE: "<d"}.get(self.kind)
        most, least = (struct.unpack(code, v)[0] if code else v.decode() for v in (statistics[5], statistics[6]))
        assert (least, most) == (min(values), max(values)), (self.name, least, most, min(values), max(values))
        if self.kind == DOUBLE and least == 0:
            assert math.copysign(1, least) < 0
        if self.kind == DOUBLE and most == 0:
            assert math.copysign(1, most) > 0


def read(path):
    """The columns, {name: cells}, and the numbers of rows of the groups."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:4] == data[-4:] == b"PAR1", f"{path}: no Parquet file"
    reader = Thrift(data, len(data) - 8 - struct.unpack("<I", data[-8:-4])[0])
    footer = reader.struct()
    assert reader.at == len(data) - 8, "footer"
    columns = [Column(element) for element in footer[2][1:]]
    assert footer[2][0][5] == len(columns) and footer[7] == [{1: {}}] * len(columns)
    ret, groups = {column.name: [] for column in columns}, []
    assert len(ret) == len(columns), "columns of one name"
    for group in footer[4]:
        assert len(group[1]) == len(columns)
        for column, chunk in zip(columns, group[1]):
            meta = chunk[3]
            assert meta[1] == column.kind and meta[3] == [column.name.encode()] and meta[5] == group[3]
            cells = column.pages(data, meta)
            assert len(cells) == group[3]
            column.check_range(cells, meta[12])
            ret[column.name] += cells
        groups.append(group[3])
    assert footer[3] == sum(groups)
    return ret, groups


def cell(value):
    if isinstance(value, float):
        return struct.pack(">d", value).hex()
    return value.encode().hex() if isinstance(value, str) else "" if value is None else str(value)


if __name__ == "__main__":
    for row in zip(*read(sys.argv[1])[0].values()):
        print("\t".join(map(cell, row)))
