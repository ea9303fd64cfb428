# SPDX-License-Identifier: GPL-2.0-only
"""radosgw - Ceph's RADOS gateway with one monitor and one memory store, in a directory of its own.

    with radosgw.Gateway("ceph") as store:      needs ceph-mon, ceph-osd, radosgw (16.2 or later)
        with store.environment(): ...           as of s3store.Store
"""
import os
import shutil
import uuid

import ltt
import realstore

PROGRAMS = "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph"
CONF = """[global]
fsid = {fsid}
mon host = v2:127.0.0.1:{mon}
mon initial members = a
mon allow pool size one = true
mon allow pool delete = true
mon data avail crit = 1
mon data avail warn = 1
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = {bytes}
osd data = {dir}/osd
mon data = {dir}/mon
run dir = {dir}
pid file = {dir}/$name.pid
admin socket = {dir}/$name.asok
log file = {dir}/$name.log
crash dir = {dir}
keyring = {dir}/keyring
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
rgw frontends = beast endpoint=127.0.0.1:{rgw}
rgw enable usage log = false
rgw enable ops log = false
rgw dns name = localhost
ms mon client mode = crc
"""


def is_here():
    return all(map(shutil.which, PROGRAMS))


class Gateway(realstore.RealStore):
    def __init__(self, where, size=2 << 30):
        super().__init__(where)
        os.makedirs(f"{self.dir}/osd")
        os.makedirs(f"{self.dir}/mon")
        open(f"{self.dir}/keyring", "w", encoding="utf-8").close()
        self.mon, self.conf, self.fsid = realstore.free_port(), f"{self.dir}/ceph.conf", str(uuid.uuid4())
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(CONF.format(dir=self.dir, fsid=self.fsid, mon=self.mon, rgw=self.port, bytes=size))
        self.started(self.start)

    def run(self, *words, **kw):
        return ltt.run(words[0], "-c", self.conf, *words[1:], timeout=120, **kw).stdout

    def serve(self, *words):
        self.spawn(words[0], "-f", "-c", self.conf, *words[1:])

    def start(self):
        ltt.run("monmaptool", "--create", "--fsid", self.fsid, "--addv", "a", f"[v2:127.0.0.1:{self.mon}]", f"{self.dir}/map")
        self.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", f"{self.dir}/map")
        self.serve("ceph-mon", "-i", "a")
        osd = str(uuid.uuid4())
        self.run("ceph", "--connect-timeout", "60", "osd", "new", osd)
        self.run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self.serve("ceph-osd", "-i", "0")
        self.run("radosgw-admin", "user", "create", "--uid=test", "--display-name=test", f"--access-key={self.key}", f"--secret-key={self.secret}")
        self.start_gateway()

    def start_gateway(self):
        self.serve("radosgw", "-n", "client.rgw")
        self.await_port()
