# SPDX-License-Identifier: GPL-2.0-only
"""swiftstore - OpenStack Swift with its S3 layer, one replica on one device, in a directory of its own.

    with swiftstore.Proxy("swift") as store:         needs swift's servers (2.30 or later) and memcached
        with store.environment(): ...           as of s3store.Store

Strict about signatures; no conditional PUT.
"""
import os
import shutil
import subprocess

import ltt
import realstore

PROGRAMS = "swift-ring-builder", "swift-proxy-server", "swift-account-server", "swift-container-server", "swift-object-server", "memcached"
SERVERS = "account", "container", "object"
HASH = """[swift-hash]
swift_hash_path_prefix = a
swift_hash_path_suffix = b
[storage-policy:0]
name = one
default = yes
"""
COMMON = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
user = {user}
swift_dir = {dir}
workers = 0
log_level = WARNING
"""
SERVER = COMMON + """devices = {dir}/node
mount_check = false
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
"""
FILTERS = "catch_errors", "proxy_logging", "listing_formats", "bulk", "slo", "dlo"
PROXY = COMMON + """[pipeline:main]
pipeline = catch_errors proxy_logging cache listing_formats bulk s3api tempauth slo dlo proxy_logging proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{cache}
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
max_bucket_listing = 50
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{name} = {secret} .admin
""" + "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in FILTERS)


def is_here():
    return all(map(shutil.which, PROGRAMS))


class Proxy(realstore.RealStore):
    key, secret, unknown_key, objects = "test:tester", "se=cr/et+of", "SignatureDoesNotMatch", 110

    def __init__(self, where):
        super().__init__(where)
        os.makedirs(f"{self.dir}/node/d1")
        self.started(self.start)

    def write(self, file, text, **values):
        with open(f"{self.dir}/{file}.conf", "w", encoding="utf-8") as f:
            f.write(text.format(dir=self.dir, user=subprocess.check_output(("id", "-un"), text=True).strip(), **values))

    def serve(self, name):
        self.spawn(f"swift-{name}-server", f"{self.dir}/{name}.conf", env={"SWIFT_CONF_FILE": f"{self.dir}/swift.conf"})

    def start(self):
        cache = realstore.free_port()
        self.spawn("memcached", "-u", "root", "-l", "127.0.0.1", "-p", str(cache), "-m", "16")
        self.write("swift", HASH)
        for name in SERVERS:
            port, ring = realstore.free_port(), f"{self.dir}/{name}.builder"
            self.write(name, SERVER, name=name, port=port)
            for words in (("create", "4", "1", "0"), ("add", f"r1z1-127.0.0.1:{port}/d1", "1"), ("rebalance",)):
                ltt.run("swift-ring-builder", ring, *words, timeout=60)
            self.serve(name)
        account, name = self.key.split(":")
        self.write("proxy", PROXY, port=self.port, cache=cache, account=account, name=name, secret=self.secret)
        self.start_gateway()

    def start_gateway(self):
        self.serve("proxy")
        self.await_port()
