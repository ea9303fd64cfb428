# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages of Python's logging as events of ltt-control.

    import ltt_agent

From now on each message of a logger that passes its levels is the event lttng_python:event, with
LTTng's fields, while a session records it:

    lttctl enable-event --python my.logger --loglevel=WARNING

Or without a change of the program:

    lttctl record -- python3 -m ltt_agent PROGRAM [ARGUMENT]...
    python3 -m ltt_agent -m MODULE [ARGUMENT]...

The handlers of the program, its levels and its output stay as they are, and no error of the
recording reaches it. Without libltt nothing is recorded, with one warning.
"""
import _thread
import ctypes
import functools
import logging
import os
import signal
import struct
import sys
import time
import types
import warnings

_MOST = 60000  # bytes of a message; events are smaller than sub-buffers
_CUT = b"... (%d bytes more)"
_TEXT, _NUMBER = 3, 1  # enum ltt_field_kind
_SIGNED = 1
_DEBUG = 14
_FIELDS = (("asctime", _TEXT, 0, 0), ("msg", _TEXT, 0, 0), ("logger_name", _TEXT, 0, 0), ("funcName", _TEXT, 0, 0),
           ("lineno", _NUMBER, 32, 0), ("int_loglevel", _NUMBER, 32, _SIGNED), ("thread", _NUMBER, 64, 0),
           ("threadName", _TEXT, 0, 0))


class _Field(ctypes.Structure):  # struct ltt_field
    _fields_ = [("name", ctypes.c_char_p), ("enumeration", ctypes.c_void_p), ("count", ctypes.c_uint32),
                ("kind", ctypes.c_uint8), ("size_bits", ctypes.c_uint8), ("length_bits", ctypes.c_uint8),
                ("base", ctypes.c_uint8), ("flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class _Event(ctypes.Structure):  # struct ltt_provider_event
    _fields_ = [("size", ctypes.c_uint32), ("nr_fields", ctypes.c_uint16), ("loglevel", ctypes.c_uint8),
                ("reserved", ctypes.c_uint8), ("name", ctypes.c_char_p), ("fields", ctypes.POINTER(_Field)),
                ("changed", ctypes.c_void_p), ("data", ctypes.c_void_p)]


_flag = ctypes.c_int(0)  # 1 while there is a listener


def _register(lib):
    fields = (_Field * len(_FIELDS))(*(
        _Field(name=name.encode(), kind=kind, size_bits=bits, base=10 if bits else 0, flags=flags)
        for name, kind, bits, flags in _FIELDS))
    event = _Event(size=ctypes.sizeof(_Event), nr_fields=len(_FIELDS), loglevel=_DEBUG, name=b"event", fields=fields,
                   changed=ctypes.cast(lib.ltt_provider_flag, ctypes.c_void_p), data=ctypes.addressof(_flag))
    provider = ctypes.c_void_p()
    code = lib.ltt_provider_add(b"lttng_python", ctypes.byref(event), 1, ctypes.byref(provider))
    if code:
        raise OSError(-code, os.strerror(-code))
    return provider


def _connect():
    # LTT_LIBRARY: of a build that is not installed. PyDLL: the calls are too short to release the lock.
    lib = ctypes.PyDLL(os.environ.get("LTT_LIBRARY", "libltt.so.1"))
    lib.ltt_provider_add.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
    lib.ltt_provider_emit.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t)
    lib.ltt_provider_logger.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    return lib, _register(lib)


def _bytes(value):
    """As a string of C, which ends with a byte that is 0."""
    text = "" if value is None else str(value)
    return text.encode("utf-8", "backslashreplace").replace(b"\0", b"\\x00") + b"\0"


def _message(record):
    text = _bytes(record.getMessage())
    if len(text) <= _MOST:
        return text
    return text[:_MOST].decode("utf-8", "ignore").encode() + _CUT % (len(text) - 1 - _MOST) + b"\0"


_second = (0, b"")


def _time(created):
    """As logging.Formatter.formatTime()."""
    global _second
    second, ms = int(created), int(created % 1 * 1000)
    known, text = _second
    if known != second:
        text = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second)).encode()
        _second = (second, text)
    return b"%s,%03d\0" % (text, ms)


def _payload(record):
    level = min(max(record.levelno, -1 << 31), (1 << 31) - 1)
    return b"".join((
        _time(record.created), _message(record), _bytes(record.name), _bytes(record.funcName),
        struct.pack("=IiQ", record.lineno & 0xffffffff, level, (record.thread or 0) & 0xffffffffffffffff),
        _bytes(record.threadName)))


def _switch(lib, provider):
    """A function that has messages recorded from now on, or no longer."""
    flag, emit, handle, there = _flag, lib.ltt_provider_emit, None, False

    def call_handlers(self, record):
        if flag:
            try:
                payload = _payload(record)
                emit(provider, 0, payload, len(payload))
            except Exception:  # the arguments of a message may be of any class
                pass
        handle(self, record)

    # A handler of the root logger would miss loggers that do not propagate, switch basicConfig() off,
    # and be removed by dictConfig().
    def switch(on):
        nonlocal handle, there
        if on and not there:
            handle = logging.Logger.callHandlers
            logging.Logger.callHandlers, there = call_handlers, True
        elif not on and logging.Logger.callHandlers is call_handlers:  # else another module's is in front of it
            logging.Logger.callHandlers, there = handle, False

    return switch


def _follow(wait, switch, lock):
    """Without a listener nothing is in the way of a message: a thread awaits the first one and the last one."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    listened = False
    while True:
        listened = bool(wait(ctypes.addressof(_flag), listened))
        with lock:
            switch(listened)


def _name_loggers(lib, provider):
    """Loggers of the program, also those that it makes from now on, for `lttctl list --python`."""
    init = logging.Logger.__init__

    def announce(name):
        lib.ltt_provider_logger(provider, _bytes(name)[:-1])

    @functools.wraps(init)
    def init_logger(self, *arguments, **options):
        init(self, *arguments, **options)
        announce(self.name)

    announce(logging.root.name)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger):
            announce(name)
    logging.Logger.__init__ = init_logger


def _install(lib, provider):
    switch, lock = _switch(lib, provider), _thread.allocate_lock()
    switch(bool(_flag))  # the first messages are recorded, too

    def continue_in_child():  # which has no such thread
        lock.release()
        switch(True)

    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=continue_in_child)
    wait = ctypes.CDLL(lib._name).ltt_provider_flag_wait  # releases the interpreter's lock
    wait.argtypes = (ctypes.c_void_p, ctypes.c_int)
    try:
        if not isinstance(_thread.start_new_thread, types.BuiltinFunctionType):
            raise RuntimeError("a library has replaced threads by coroutines, which would all wait")
        _thread.start_new_thread(_follow, (wait, switch, lock))
    except RuntimeError:
        switch(True)


def _start():
    if hasattr(logging, "has_ltt_agent"):
        return  # the module was loaded again
    logging.has_ltt_agent = True
    patient = "LTT_REGISTER_TIMEOUT" in os.environ
    try:
        if not patient:  # as LTTng's agent: the first messages are recorded, too
            os.environ["LTT_REGISTER_TIMEOUT"] = "1000"
        lib, provider = _connect()
    except (OSError, AttributeError) as e:
        warnings.warn(f"log messages are not recorded: libltt can't be used: {e}", RuntimeWarning, stacklevel=3)
        return
    finally:
        if not patient:
            del os.environ["LTT_REGISTER_TIMEOUT"]
    _install(lib, provider)
    _name_loggers(lib, provider)


_start()


def _main():
    import runpy
    if len(sys.argv) < 2 or (sys.argv[1] == "-m" and len(sys.argv) < 3):
        sys.exit("ltt_agent: missing program: use python3 -m ltt_agent (PROGRAM | -m MODULE) [ARGUMENT]...")
    sys.modules["ltt_agent"] = sys.modules["__main__"]  # the program may import it, too
    if sys.argv[1] == "-m":
        del sys.argv[:2]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    _main()
