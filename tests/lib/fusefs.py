#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""fusefs - a file system in this process's memory, for tests that stop its server.

    fusefs.py DIRECTORY     mounts it there (root), prints "mounted", serves until it is
                            killed; exit status 77 where nothing can be mounted

    server = fusefs.mount(t, DIRECTORY)     the same for a test, in a mount namespace of its own

Speaks with /dev/fuse itself: names, numbers and layouts are those of <linux/fuse.h>.
"""
import ctypes
import errno
import os
import stat
import struct
import subprocess
import sys

import ltt

LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, OPEN, READ, WRITE, STATFS = (
    1, 2, 3, 4, 9, 10, 11, 14, 15, 16, 17)
RELEASE, FSYNC, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE = (
    18, 20, 25, 26, 27, 28, 29, 30, 35)
INTERRUPT, BATCH_FORGET = 36, 42
SET_MODE, SET_UID, SET_GID, SET_SIZE = 1, 2, 4, 8
IN = struct.Struct("<IIQQIIII")
MAX_WRITE = 128 * 1024
ROOT = 1
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18


def mount(t, directory):
    """Mount it, in a namespace that ends with the test. Return: its server."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) < 0 or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) < 0:
        ltt.skip(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
    os.makedirs(directory)
    server = t.spawn(sys.executable, __file__, directory, stdout=subprocess.PIPE, text=True)
    said = server.stdout.readline().strip()
    if said != "mounted":
        ltt.skip(f"no FUSE: {said}")
    return server


class Node:
    def __init__(self, mode, uid=0, gid=0):
        self.mode, self.uid, self.gid = mode, uid, gid
        self.names = {}
        self.data = bytearray()


class Fs:
    def __init__(self, fd):
        self.fd = fd
        self.nodes = {ROOT: Node(stat.S_IFDIR | 0o755)}

    def attr(self, ino):
        n = self.nodes[ino]
        return struct.pack("<6Q3I7I", ino, len(n.data), (len(n.data) + 511) // 512, 0, 0, 0, 0, 0, 0,
                           n.mode, 2 if n.names else 1, n.uid, n.gid, 0, 4096, 0)

    def entry(self, ino):
        return struct.pack("<4Q2I", ino, 0, 0, 0, 0, 0) + self.attr(ino)

    def attr_out(self, ino):
        return struct.pack("<QII", 0, 0, 0) + self.attr(ino)

    def make(self, parent, name, mode, uid, gid):
        if name in self.nodes[parent].names:
            raise OSError(errno.EEXIST, "")
        ino = max(self.nodes) + 1
        self.nodes[ino] = Node(mode, uid, gid)
        self.nodes[parent].names[name] = ino
        return ino

    def find(self, parent, name):
        if name not in self.nodes[parent].names:
            raise OSError(errno.ENOENT, "")
        return self.nodes[parent].names[name]

    def setattr(self, ino, body):
        valid, size = struct.unpack_from("<I", body)[0], struct.unpack_from("<Q", body, 16)[0]
        mode, _, uid, gid = struct.unpack_from("<4I", body, 68)
        n = self.nodes[ino]
        n.mode = n.mode & ~0o7777 | mode & 0o7777 if valid & SET_MODE else n.mode
        n.uid = uid if valid & SET_UID else n.uid
        n.gid = gid if valid & SET_GID else n.gid
        if valid & SET_SIZE:
            n.data = n.data[:size] + bytes(max(0, size - len(n.data)))
        return self.attr_out(ino)

    def write(self, ino, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        n = self.nodes[ino]
        n.data += bytes(max(0, offset - len(n.data)))
        n.data[offset:offset + size] = body[40:40 + size]
        return struct.pack("<II", size, 0)

    def readdir(self, ino, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        out = b""
        for i, (name, child) in enumerate(list(self.nodes[ino].names.items())[offset:], offset + 1):
            one = struct.pack("<QQII", child, i, len(name), self.nodes[child].mode >> 12) + name
            one += bytes(-len(one) % 8)
            if len(out) + len(one) > size:
                break
            out += one
        return out

    def answer(self, op, ino, body, uid, gid):
        name = body.rstrip(b"\0")
        if op == INIT:
            return struct.pack("<4I2HI", 7, 31, MAX_WRITE, 0, 16, 12, MAX_WRITE) + bytes(40)
        if op == LOOKUP:
            return self.entry(self.find(ino, name))
        if op == GETATTR:
            return self.attr_out(ino)
        if op == SETATTR:
            return self.setattr(ino, body)
        if op == MKDIR:
            mode, umask = struct.unpack_from("<II", body)
            return self.entry(self.make(ino, body[8:-1], stat.S_IFDIR | mode & ~umask, uid, gid))
        if op == CREATE:
            _, mode, umask = struct.unpack_from("<III", body)
            return self.entry(self.make(ino, body[16:-1], mode & ~umask, uid, gid)) + bytes(16)
        if op in (OPEN, OPENDIR):
            return bytes(16)
        if op == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return bytes(self.nodes[ino].data[offset:offset + size])
        if op == WRITE:
            return self.write(ino, body)
        if op == READDIR:
            return self.readdir(ino, body)
        if op == STATFS:
            return struct.pack("<5Q4I", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0) + bytes(24)
        if op in (UNLINK, RMDIR):
            self.find(ino, name)
            del self.nodes[ino].names[name]
            return b""
        if op in (RELEASE, RELEASEDIR, FLUSH, FSYNC, FSYNCDIR):
            return b""
        raise OSError(errno.ENOSYS, "")

    def serve(self):
        while True:
            message = os.read(self.fd, MAX_WRITE + 4096)
            _, op, unique, ino, uid, gid, _, _ = IN.unpack_from(message)
            if op in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            try:
                code, out = 0, self.answer(op, ino, message[IN.size:], uid, gid)
            except OSError as e:
                code, out = -e.errno, b""
            try:
                os.write(self.fd, struct.pack("<IiQ", 16 + len(out), code, unique) + out)
            except FileNotFoundError:
                pass  # the process that made the call has been killed


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        fd = os.open("/dev/fuse", os.O_RDWR)
    except OSError as e:
        print(f"/dev/fuse: {e.strerror}")
        sys.exit(77)
    options = f"fd={fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    if libc.mount(b"ltt", os.fsencode(sys.argv[1]), b"fuse", 0, options.encode()) < 0:
        print(f"mount: {os.strerror(ctypes.get_errno())}")
        sys.exit(77)
    print("mounted", flush=True)
    Fs(fd).serve()


if __name__ == "__main__":
    main()
