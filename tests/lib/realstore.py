# SPDX-License-Identifier: GPL-2.0-only
"""realstore - a store with the S3 API that others have written, in a directory of its own; and the checks of the
client that are the same for each of them.

    class Gateway(realstore.RealStore): ...     see radosgw and swiftstore
    realstore.check(store)                      in an environment of the store
"""
import contextlib
import os
import socket
import subprocess
import time

import guesttrace
import ltt
import s3store

CLIENT = f"{ltt.BUILD}/unit/s3_client"
NAME = "host=a/b%c d+ä~/segment"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class RealStore:
    """@key, @secret: of its user; @unknown_key: its code for others. @objects: more than a page of a list.
    start_gateway() spawns the server that answers, as the last child."""
    key, secret, unknown_key, objects = s3store.KEY, s3store.SECRET, "InvalidAccessKeyId", 1100

    def __init__(self, where):
        self.dir = os.path.abspath(where)
        self.port, self.children = free_port(), []
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def started(self, start):
        try:
            start()
        except BaseException:
            self.close()
            raise

    def spawn(self, *words, env=None):
        with open(f"{self.dir}/{words[0]}.out", "a", encoding="utf-8") as out:
            self.children.append(subprocess.Popen(words, stdout=out, stderr=out, env=dict(os.environ, **(env or {}))))

    def await_port(self):
        deadline = time.monotonic() + 150 * ltt.SLOW
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            ltt.check(time.monotonic() < deadline and self.children[-1].poll() is None, f"the store does not start: {self.dir}")
            time.sleep(0.1)

    def restart_gateway(self):
        """Killed; its objects are those of the store."""
        child = self.children.pop()
        child.kill()
        child.wait()
        self.start_gateway()

    def close(self):
        for child in reversed(self.children):
            child.kill()
            child.wait()


# --- checks ----------------------------------------------------------------------------------


def drive(*words, status=0, env=None):
    return ltt.run(CLIENT, *words, status=status, env=env, timeout=100).stdout.splitlines()


def refused(start, *words, env=None):
    line = drive(*words, status=3, env=env)[-1]
    ltt.check(line.startswith(start.split(" ", 1)[0] + " ") and start.split(" ", 1)[1] in line, f"want {start}, got: {line}")


def check_operations(store):
    got = drive("s3://bucket/a=1/b", "put", NAME, "data", "get", NAME, 0, 0, "get", NAME, 6, 5, "get", NAME, -5, 0, "get", NAME, 6, 0)
    ltt.equal("ranges", got, ["ok", "11 hello world", "ok", "5 world", "ok", "5 world", "ok", "5 world", "ok"])
    ltt.equal("pieces", drive("s3://bucket/a=1/b", "request=4", "get", NAME, 0, 11), ["11 hello world", "ok"])
    ltt.equal("list", drive("s3://bucket/a=1", "list", "b/host="), [f"  b/{NAME} 11", "1 objects", "ok"])
    ltt.equal("removed", drive("s3://bucket/a=1/b", "remove", NAME, "remove", NAME, "list", ""), ["ok", "ok", "0 objects", "ok"])
    ltt.equal("pages", drive("s3://bucket/many", "many", "m/", store.objects, 10, "list", "m/")[-2:], [f"{store.objects} objects", "ok"])
    ltt.equal("segments", drive("s3://bucket/large", "many", "m/", 20, 8 << 20, "list", "m/")[-2:], ["20 objects", "ok"])


def check_refusals(store):
    refused("5 NoSuchKey", "s3://bucket/a", "get", "absent", 0, 0)
    refused("5 InvalidRange", "s3://bucket/many", "get", "m/1", 11, 5)
    refused("14 NoSuchBucket", "s3://other/a", "put", "f", "data")
    refused("4 SignatureDoesNotMatch", "s3://bucket/a", "list", "", env={"AWS_SECRET_ACCESS_KEY": "wrong"})
    refused(f"4 {store.unknown_key}", "s3://bucket/a", "list", "", env={"AWS_ACCESS_KEY_ID": "wrong"})


def check_killed(store):
    """The upload goes on when the server that answers is back."""
    with subprocess.Popen([CLIENT, "s3://bucket/killed", "patience=60", "many", "k/", "40", str(8 << 20)], stdout=subprocess.PIPE, text=True) as client:
        for _ in range(3):
            time.sleep(0.7)
            store.restart_gateway()
        ltt.equal("upload", (client.communicate()[0], client.returncode), ("ok\n", 0))
    ltt.equal("objects", drive("s3://bucket/killed", "list", "k/")[-2:], ["40 objects", "ok"])


def check_archive():
    """A trace there and back, in many objects, with the hour's index."""
    guesttrace.stamps("foreign", [(cpu, value) for value in range(100, 4000) for cpu in (0, 1)])
    ltt.run("ltt-archive", "--store=s3://bucket/rack=1", "--segment-size=4k", "foreign")
    ltt.check("0 bytes in 0 segments" in ltt.run("ltt-archive", "--store=s3://bucket/rack=1", "foreign").stdout, "it was put twice")
    ltt.check(f"{os.uname().nodename}/foreign/" in ltt.run("ltt-archive", "--list", "s3://bucket/rack=1").stdout, "it is in no hour")
    ltt.run("lttctl", "fetch", "s3://bucket/rack=1", "back")
    ltt.run("diff", "-r", "foreign", "back")


def check(store):
    with open("data", "w", encoding="utf-8") as f:
        f.write("hello world")
    os.environ.update(AWS_ENDPOINT_URL=store.url, AWS_ACCESS_KEY_ID=store.key, AWS_SECRET_ACCESS_KEY=store.secret, AWS_EC2_METADATA_DISABLED="true")
    ltt.equal("bucket", s3store.send(store.url, "PUT", "/bucket", key=store.key, secret=store.secret), (200, b""))
    check_operations(store)
    check_refusals(store)
    check_archive()
    check_killed(store)
