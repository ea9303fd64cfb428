# SPDX-License-Identifier: GPL-2.0-only
"""slowline - a line between two machines (machines.py) with a rate, a delay and losses of its own:
TCP at both ends is the kernel's, the line between them is ours.

    line = slowline.Slow(net, "relay", "web1", rate=1e6, delay=0.05, loss=0.01)

The first is 10.78.0.1, the second 10.78.0.2. Each way has the rate and half the delay, and a queue
as routers have one.
"""
import collections
import ctypes
import fcntl
import os
import random
import select
import struct
import threading
import time

import ltt

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
QUEUE_BYTES = 64 << 10
TCP = 6
SYN, ACK = 2, 16


def open_tun(pid, ret):
    """In a thread of its own: it enters the machine's network and stays there."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/proc/{pid}/ns/net") as ns:
        if libc.setns(ns.fileno(), CLONE_NEWNET):
            return
    try:
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH14x", b"slow0", IFF_TUN_NO_PI))
        ret.append(fd)
    except OSError:
        pass


class Slow:
    def __init__(self, net, first, second, rate, delay, loss):
        self.rate, self.delay, self.loss = rate / 8, delay / 2, loss
        self.connections = 0  # that the second has begun
        self.carried = 0  # bytes towards the first, headers and all
        self.random = random.Random("slow line")
        ends = []
        for name, near, far in (first, 1, 2), (second, 2, 1):
            opener = threading.Thread(target=open_tun, args=(net[name].proc.pid, ends))
            opener.start()
            opener.join()
            if len(ends) < near:
                ltt.skip("can't make a line between machines: /dev/net/tun")
            net[name].run(f"ip addr add 10.78.0.{near} peer 10.78.0.{far} dev slow0 && "
                          "ip link set slow0 up")
        for one, other, counts in (ends[1], ends[0], True), (ends[0], ends[1], False):
            threading.Thread(target=self.carry, args=(one, other, counts), daemon=True).start()

    def count(self, packet):
        self.carried += len(packet)
        if packet[0] >> 4 == 4 and packet[9] == TCP:
            flags = packet[(packet[0] & 15) * 4 + 13]
            self.connections += flags & (SYN | ACK) == SYN

    def carry(self, one, other, counts):
        line = collections.deque()  # (when it arrives, packet)
        free = 0.0  # when the line is, again
        while True:
            now = time.monotonic()
            while line and line[0][0] <= now:
                os.write(other, line.popleft()[1])
            wait = line[0][0] - now if line else None
            if not select.select([one], [], [], wait)[0]:
                continue
            packet = os.read(one, 65536)
            now = time.monotonic()
            if (free - now) * self.rate > QUEUE_BYTES:
                continue
            free = max(now, free) + len(packet) / self.rate
            if counts:
                self.count(packet)
            if self.random.random() >= self.loss:
                line.append((free + self.delay, packet))
