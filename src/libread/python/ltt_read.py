# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read traces of ltt-control, LTTng and other tracers that write CTF 1.8, by libltt-read.

    import ltt_read

    with ltt_read.Reader("trace", where="size > 100") as reader:
        for event in reader:
            print(event.ns, event.name, event["size"])

Columns of many events at once are much faster:

    with ltt_read.Reader("trace", events="web:*") as reader:
        for batch in reader.batches(ts=int, name=str, size=int):
            print(sum(batch["size"]), batch.missing("size"))

Numbers of a column are a memoryview, which numpy.frombuffer() takes as it is; texts are a list of str.
A reader is used by one thread at a time. Errors are OSError with the library's sentence.
"""
import ctypes
import os

_TYPES = {int: 1, float: 3, str: 4}
_KEYS = {"events": 0, "processes": 1, "threads": 2, "where": 3, "begin": 4, "end": 5}
_NONE, _INTEGER, _UNSIGNED, _REAL, _TEXT, _ARRAY, _STRUCT = range(7)


class _Union(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("u", ctypes.c_uint64), ("d", ctypes.c_double), ("text", ctypes.c_void_p)]


class _Value(ctypes.Structure):
    _anonymous_ = ("value",)
    _fields_ = [("type", ctypes.c_int), ("name", ctypes.c_char_p), ("label", ctypes.c_char_p), ("value", _Union),
                ("len", ctypes.c_size_t), ("nr", ctypes.c_size_t), ("source", ctypes.c_void_p)]


class _Column(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("name", ctypes.c_char_p), ("missing", ctypes.c_void_p),
                ("integers", ctypes.c_void_p), ("reals", ctypes.c_void_p), ("text", ctypes.c_void_p),
                ("ends", ctypes.c_void_p)]


class _Summary(ctypes.Structure):
    _fields_ = [("events", ctypes.c_uint64), ("lost", ctypes.c_uint64), ("problems", ctypes.c_uint64),
                ("first_ns", ctypes.c_int64), ("last_ns", ctypes.c_int64)]


_REPORT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


def _load():
    # LTT_READ_LIBRARY: of a build that is not installed
    lib = ctypes.CDLL(os.environ.get("LTT_READ_LIBRARY", "libltt-read.so.1"))
    reader, value = ctypes.c_void_p, ctypes.POINTER(_Value)
    for name, result, *arguments in (
            ("new", ctypes.c_void_p), ("free", None, reader), ("why", ctypes.c_char_p, reader),
            ("on_report", None, reader, _REPORT, ctypes.c_void_p), ("open", ctypes.c_int, reader, ctypes.c_char_p),
            ("select", ctypes.c_int, reader, ctypes.c_int, ctypes.c_char_p), ("next", ctypes.c_int, reader),
            ("ns", ctypes.c_int64, reader), ("name", ctypes.c_char_p, reader), ("host", ctypes.c_char_p, reader),
            ("cpu", ctypes.c_bool, reader, ctypes.POINTER(ctypes.c_uint32)),
            ("pid", ctypes.c_bool, reader, ctypes.POINTER(ctypes.c_int64)),
            ("tid", ctypes.c_bool, reader, ctypes.POINTER(ctypes.c_int64)), ("nr_fields", ctypes.c_size_t, reader),
            ("field_at", ctypes.c_bool, reader, ctypes.c_size_t, value),
            ("field", ctypes.c_bool, reader, ctypes.c_char_p, value),
            ("member", ctypes.c_bool, value, ctypes.c_size_t, value),
            ("columns", ctypes.c_int, reader, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_int),
             ctypes.c_size_t),
            ("batch", ctypes.c_int, reader, ctypes.c_size_t, ctypes.POINTER(ctypes.POINTER(_Column))),
            ("summary", ctypes.c_int, reader, ctypes.POINTER(_Summary))):
        function = getattr(lib, f"ltt_read_{name}")
        function.restype, function.argtypes = result, arguments
    return lib


_lib = _load()


def _python(value):
    """A value as an object of Python."""
    if value.type == _INTEGER:
        return value.i
    if value.type == _UNSIGNED:
        return value.u
    if value.type == _REAL:
        return value.d
    if value.type == _TEXT:
        return ctypes.string_at(value.text, value.len).decode(errors="replace")
    members = []
    for at in range(value.nr):
        member = _Value()
        if _lib.ltt_read_member(value, at, member):
            members.append((member.name, _python(member)))
    if value.type == _STRUCT:
        return {(name or b"").decode(errors="replace"): member for name, member in members}
    return [member for _, member in members]


class Event:
    """The current event of a reader: valid until the next one."""

    def __init__(self, handle):
        self._handle = handle

    ns = property(lambda self: _lib.ltt_read_ns(self._handle), doc="since 1970-01-01 00:00:00 UTC")
    name = property(lambda self: _lib.ltt_read_name(self._handle).decode(errors="replace"))
    host = property(lambda self: _lib.ltt_read_host(self._handle).decode(errors="replace"))

    def _number(self, function, kind):
        ret = kind()
        return ret.value if function(self._handle, ret) else None

    cpu = property(lambda self: self._number(_lib.ltt_read_cpu, ctypes.c_uint32), doc="None: unknown")
    pid = property(lambda self: self._number(_lib.ltt_read_pid, ctypes.c_int64), doc="None: unknown")
    tid = property(lambda self: self._number(_lib.ltt_read_tid, ctypes.c_int64), doc="None: unknown")

    def value(self, name):
        """(value, label of an enumeration or None) of a field or context. KeyError: there is none."""
        value = _Value()
        if not _lib.ltt_read_field(self._handle, name.encode(), value):
            raise KeyError(name)
        return _python(value), value.label and value.label.decode(errors="replace")

    def __getitem__(self, name):
        return self.value(name)[0]

    def get(self, name, default=None):
        """The field or context, or `default`."""
        try:
            return self[name]
        except KeyError:
            return default

    def fields(self):
        """The payload as a dict, in its order."""
        value, all_fields = _Value(), {}
        for at in range(_lib.ltt_read_nr_fields(self._handle)):
            if _lib.ltt_read_field_at(self._handle, at, value):
                all_fields[value.name.decode(errors="replace")] = _python(value)
        return all_fields


class Batch:
    """Columns of `len()` events: valid until the next batch."""

    def __init__(self, columns, names, length):
        self._columns, self._length = dict(zip(names, columns)), length

    def __len__(self):
        return self._length

    def _view(self, address, size, code):
        buffer = (ctypes.c_char * (size * self._length)).from_address(address)
        return memoryview(buffer).cast("B").cast(code)

    def __getitem__(self, name):
        """Numbers: a memoryview ('q' or 'd'), 0 where missing. Texts: a list of str, "" where missing."""
        column = self._columns[name]
        if column.type == _INTEGER:
            return self._view(column.integers, 8, "q")
        if column.type == _REAL:
            return self._view(column.reals, 8, "d")
        ends = self._view(column.ends, 8, "Q")
        texts, begin = [], 0
        blob = ctypes.string_at(column.text, ends[-1])
        for end in ends:
            texts.append(blob[begin:end].decode(errors="replace"))
            begin = end
        return texts

    def missing(self, name):
        """A memoryview of bytes: 1 where the event has no such value."""
        return self._view(self._columns[name].missing, 1, "B")


class Reader:
    """All traces below a directory, as one series of events ordered by time.

    Keywords select events, as the options of `lttctl view`: events, processes, threads, where, begin, end.
    report: called with each sentence about damage.
    """

    def __init__(self, path, report=None, **selection):
        self._handle = _lib.ltt_read_new()
        if not self._handle:
            raise MemoryError
        # it lives as long as the reader
        self._report = _REPORT(lambda _, sentence: report(sentence.decode(errors="replace")) if report else None)
        try:
            _lib.ltt_read_on_report(self._handle, self._report, None)
            self._check(_lib.ltt_read_open(self._handle, os.fsencode(path)))
            for key, value in selection.items():
                self._check(_lib.ltt_read_select(self._handle, _KEYS[key], str(value).encode()))
        except BaseException:
            self.close()
            raise

    def _check(self, result):
        if result < 0:
            raise OSError(-result, _lib.ltt_read_why(self._handle).decode(errors="replace"))
        return result

    def close(self):
        """The reader can't be used any more."""
        handle, self._handle = self._handle, None
        _lib.ltt_read_free(handle)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __iter__(self):
        event = Event(self._handle)
        while self._check(_lib.ltt_read_next(self._handle)):
            yield event

    def batches(self, most=65536, **columns):
        """Batches of at most `most` events, of columns NAME=int, float or str: ts, name, host, cpu, pid, tid, or
        a field or context."""
        names = (ctypes.c_char_p * len(columns))(*(name.encode() for name in columns))
        types = (ctypes.c_int * len(columns))(*(_TYPES[kind] for kind in columns.values()))
        self._check(_lib.ltt_read_columns(self._handle, names, types, len(columns)))
        ret = ctypes.POINTER(_Column)()
        while True:
            rows = self._check(_lib.ltt_read_batch(self._handle, most, ret))
            if not rows:
                return
            yield Batch(ret[:len(columns)], columns, rows)

    def summary(self):
        """A dict: events, lost, problems, first_ns, last_ns."""
        sum_ = _Summary()
        self._check(_lib.ltt_read_summary(self._handle, sum_))
        return {name: getattr(sum_, name) for name, _ in _Summary._fields_}
