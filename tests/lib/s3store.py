#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""s3store - a stand-in for an object store with the S3 API, with faults on demand.

    with s3store.Store() as store:          a thread; http://127.0.0.1:PORT
        with store.environment():           AWS_ENDPOINT_URL and the keys
            ...
        store.fault("503", times=2)         see FAULTS; for the next requests of a method
        store.objects["bucket"]["name"]     its content

Strict about signatures: the canonical request is made from the bytes that were received, so a query that is
not sorted or a byte that is not encoded is answered 403, as by AWS. Alone, as a program:

    s3store.py [--cert FILE --key FILE] [--port N] [--dir DIR] [BUCKET...]      prints its URL
"""
import argparse
import collections
import contextlib
import datetime
import email.utils
import hashlib
import hmac
import http.client
import http.server
import json
import os
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

KEY, SECRET, REGION = "AKIDSTANDIN", "se=cr/et+of:the store", "us-east-1"
EMPTY = hashlib.sha256(b"").hexdigest()
UNRESERVED = "-._~"

# Status, code; or a word that the handler knows. `times` of store.fault(): for how many requests.
FAULTS = {
    "500": (500, "InternalError"),
    "503": (503, "SlowDown"),
    "429": (429, "TooManyRequests"),
    "403": (403, "AccessDenied"),
    "expired": (400, "ExpiredToken"),
    "bucket-gone": (404, "NoSuchBucket"),
    "quota": (403, "QuotaExceeded"),
    "full": (507, "InsufficientStorage"),
    "malformed": (400, "InvalidRequest"),
    "region": (301, "PermanentRedirect"),
    "html": None,  # a proxy's page instead of an answer
    "slow": None,  # no byte for so many seconds
    "torn": None,  # half of an answer
    "lost": None,  # done, then the connection ends without an answer
    "reset": None,  # the connection ends before anything is done
    "nothing": None,  # 200, and nothing is stored
    "half": None,  # 200, and half is stored
    "other": None,  # 200, and other bytes are stored
    "late": None,  # lists lack the newest objects
    "loop": None,  # each page of a list has the same token
    "no-range": None,  # the whole object with status 200
    "xml": None,  # a list that is cut in the middle of an element
    "long": None,  # an error document of many megabytes
}

PLANNED = {"GET": ("500", "503", "reset", "html", "torn"), "PUT": ("500", "503", "reset", "lost", "nothing", "half", "other")}


def encode(text, also=""):
    return urllib.parse.quote(text, safe=UNRESERVED + also)


def sign(secret, date, region, text):
    key = ("AWS4" + secret).encode()
    for part in (date, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def send(url, method, path, body=b"", key=KEY, secret=SECRET):
    """A signed request to any store. Return (status, body)."""
    stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": urllib.parse.urlsplit(url).netloc, "x-amz-content-sha256": hashlib.sha256(body).hexdigest(), "x-amz-date": stamp}
    names, scope = ";".join(headers), f"{stamp[:8]}/{REGION}/s3/aws4_request"
    lines = "".join(f"{n}:{v}\n" for n, v in headers.items())
    request = "\n".join([method, encode(path, "/"), "", lines, names, headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(request.encode()).hexdigest()])
    headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, "
                                f"Signature={sign(secret, stamp[:8], REGION, text)}")
    connection = http.client.HTTPConnection(headers["host"], timeout=60)
    with contextlib.closing(connection):
        connection.request(method, encode(path, "/"), body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


class Refused(Exception):
    def __init__(self, status, code, message="", **headers):
        super().__init__(code)
        self.status, self.code, self.message, self.headers = status, code, message, headers


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # of two writes the second would wait for an acknowledgement, 40 ms
    server_version, sys_version = "stand-in", ""

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + self.store.skew_s, usegmt=True)

    @property
    def store(self):
        return self.server.store

    # --- a request -------------------------------------------------------------------------

    def serve(self):
        self.store.requests.append(f"{self.command} {self.path}")
        self.fault = self.store.take_fault(self.command)
        try:
            body = self.receive()
            self.begin_fault()
            self.check_signature(body)
            bucket, _, name = self.target()
            getattr(self, f"do_{self.command.lower()}")(bucket, name, body)
        except Refused as e:
            self.refuse(e)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = serve  # noqa

    def receive(self):
        if self.fault and self.fault[0] == "reset":
            self.hang_up()
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def begin_fault(self):
        if not self.fault:
            return
        word, value = self.fault
        if word == "slow":
            self.store.ended.wait(value)
        elif word == "html":
            self.answer(502, b"<html><p>Bad gateway</html>")
            raise BrokenPipeError
        elif word == "long":
            self.answer(400, b"<Error><Code>" + b"x" * (20 << 20) + b"</Code></Error>")
            raise BrokenPipeError
        elif FAULTS[word]:
            headers = {"Retry-After": str(value)} if value else {}
            if word == "region":
                headers["x-amz-bucket-region"] = "eu-central-7"
            raise Refused(*FAULTS[word], "on demand", **headers)

    def hang_up(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
        raise BrokenPipeError

    def target(self):
        path = urllib.parse.unquote(self.path.partition("?")[0]).lstrip("/")
        return path.partition("/")

    # --- the signature ---------------------------------------------------------------------

    def check_signature(self, body):
        store = self.store
        given = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
                             r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})", self.headers.get("Authorization", ""))
        if not given:
            raise Refused(403, "AccessDenied", "no signature")
        key, date, region, names, signature = given.groups()
        if key not in store.secrets:
            raise Refused(403, "InvalidAccessKeyId", "The key does not exist")
        if region != store.region:
            raise Refused(400, "AuthorizationHeaderMalformed", f"the region '{region}' is wrong; expecting '{store.region}'")
        secret, token = store.secrets[key]
        if token != self.headers.get("x-amz-security-token"):
            raise Refused(400, "InvalidToken" if token is None or not self.headers.get("x-amz-security-token") else "ExpiredToken",
                          "the token is not valid")
        self.check_time(date)
        self.check_hash(body)
        names = names.split(";")
        if "host" not in names or names != sorted(names):
            raise Refused(403, "SignatureDoesNotMatch", "signed headers")
        if missing := [n.lower() for n in self.headers if n.lower().startswith("x-amz-") and n.lower() not in names]:
            raise Refused(403, "AccessDenied", f"not signed: {missing}")
        request = self.canonical(names)
        scope = f"{date}/{region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", self.headers["x-amz-date"], scope, hashlib.sha256(request.encode()).hexdigest()])
        if not hmac.compare_digest(sign(secret, date, region, text), signature):
            raise Refused(403, "SignatureDoesNotMatch", "The signature does not match")

    def canonical(self, names):
        path, _, query = self.path.partition("?")
        pairs = sorted((encode(urllib.parse.unquote(n)), encode(urllib.parse.unquote(v)))
                       for n, _, v in (p.partition("=") for p in query.split("&") if p))
        headers = [f"{n}:{' '.join(self.headers[n].split()) if n in self.headers else ''}\n" for n in names]
        return "\n".join([self.command, encode(urllib.parse.unquote(path), "/"), "&".join(f"{n}={v}" for n, v in pairs),
                          "".join(headers), ";".join(names), self.headers["x-amz-content-sha256"]])

    def check_time(self, date):
        stamp = self.headers.get("x-amz-date", "")
        try:
            then = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        except ValueError as e:
            raise Refused(403, "AccessDenied", "no x-amz-date") from e
        if not stamp.startswith(date):
            raise Refused(403, "SignatureDoesNotMatch", "two dates")
        if abs(then.timestamp() - time.time() - self.store.skew_s) > 900:
            raise Refused(403, "RequestTimeTooSkewed", "The difference between the times is too large")

    def check_hash(self, body):
        given = self.headers.get("x-amz-content-sha256")
        if not given:
            raise Refused(400, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256")
        if given != "UNSIGNED-PAYLOAD" and given != hashlib.sha256(body).hexdigest():
            raise Refused(400, "XAmzContentSHA256Mismatch", "The hash of the content does not match")
        if given == "UNSIGNED-PAYLOAD" and not self.store.url.startswith("https:"):
            raise Refused(403, "AccessDenied", "a payload in the clear has to be signed")

    # --- operations ------------------------------------------------------------------------

    def bucket(self, name):
        if name not in self.store.objects:
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist")
        return self.store.objects[name]

    def do_put(self, bucket, name, body):
        objects = self.bucket(bucket)
        if self.headers.get("If-None-Match") == "*" and name in objects:
            raise Refused(412, "PreconditionFailed", "it is there")
        if self.store.quota is not None and sum(map(len, objects.values())) + len(body) > self.store.quota:
            raise Refused(403, "QuotaExceeded", "The quota of the bucket is used up")
        word = self.fault[0] if self.fault else None
        kept = {"half": body[:len(body) // 2], "other": bytes(len(body))}.get(word, body)
        if word != "nothing":
            self.store.keep(bucket, name, kept)
        if word == "lost":
            self.hang_up()
        self.answer(200, b"", ETag=f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"')

    def do_get(self, bucket, name, _):
        if not name:
            return self.list(bucket)
        data = self.object(bucket, name)
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not wanted or (self.fault and self.fault[0] == "no-range"):
            return self.answer(200, data)
        first, last = wanted.groups()
        if not first:
            first, last = max(0, len(data) - int(last)), len(data) - 1
        first, last = int(first), min(int(last or len(data) - 1), len(data) - 1)
        if first > last:
            raise Refused(416, "InvalidRange", "The requested range is not satisfiable")
        return self.answer(206, data[first:last + 1], Content_Range=f"bytes {first}-{last}/{len(data)}")

    def do_head(self, bucket, name, _):
        self.answer(200, self.object(bucket, name))

    def do_delete(self, bucket, name, _):
        self.bucket(bucket)
        self.store.drop(bucket, name)
        self.answer(204, b"")

    def object(self, bucket, name):
        objects = self.bucket(bucket)
        if name not in objects:
            raise Refused(404, "NoSuchKey", "The specified key does not exist")
        return objects[name]

    def list(self, bucket):
        query = dict(urllib.parse.parse_qsl(self.path.partition("?")[2], keep_blank_values=True))
        if query.get("list-type") != "2":
            raise Refused(501, "NotImplemented", "only ListObjectsV2")
        prefix, after = query.get("prefix", ""), query.get("continuation-token", "")
        if after and not after.startswith("after="):
            raise Refused(400, "InvalidArgument", "The continuation token is not valid")
        word = self.fault[0] if self.fault else None
        hidden = self.store.newest if word == "late" else ()
        names = sorted(n for n in self.bucket(bucket) if n.startswith(prefix) and n not in hidden)
        if word != "loop":
            names = [n for n in names if n > after[6:]]
        most = min(int(query.get("max-keys", 1000)), self.store.page)
        form = encode if query.get("encoding-type") == "url" else escape
        entries = "".join(f"<Contents><Key>{form(n)}</Key><Size>{len(self.store.objects[bucket][n])}</Size></Contents>"
                          for n in names[:most])
        more = len(names) > most or word == "loop"
        token = f"after={names[:most][-1] if word != 'loop' else 'x'}" if more else ""
        text = ('<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<Name>{bucket}</Name><Prefix>{form(prefix)}</Prefix><KeyCount>{len(names[:most])}</KeyCount>"
                f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"
                + (f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if more else "")
                + ("<EncodingType>url</EncodingType>" if form is encode else "") + entries + "</ListBucketResult>")
        self.answer(200, text.encode()[:-30 if word == "xml" else None])

    # --- answers ---------------------------------------------------------------------------

    def refuse(self, e):
        text = (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{e.code}</Code><Message>{escape(e.message)}</Message>'
                "<RequestId>1</RequestId></Error>")
        self.answer(e.status, text.encode(), **e.headers)

    def answer(self, status, body, **headers):
        torn = self.fault and self.fault[0] == "torn"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command == "HEAD" or status == 204:
            return
        self.store.sent += len(body)
        self.wfile.write(body[:len(body) // 2] if torn else body)
        if torn:
            self.wfile.flush()
            self.hang_up()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, request, client_address):
        pass  # a client that ends, or whose handshake fails


class Store:
    """@cert: files of certificate and key; then it is https. @directory: objects are files there, too."""

    def __init__(self, *buckets, cert=None, port=0, page=1000, directory=None):
        self.objects = {b: {} for b in buckets or ("bucket",)}
        self.secrets = {KEY: (SECRET, None)}
        self.region, self.skew_s, self.page, self.quota = REGION, 0, page, None
        self.requests, self.faults, self.newest, self.directory = [], [], set(), directory
        self.planned, self.counted, self.sent = {}, collections.Counter(), 0  # bytes of objects and lists
        self.ended, self.lock = threading.Event(), threading.Lock()
        if directory:
            self.load()
        self.server = Server(("127.0.0.1", port), Handler)
        self.server.store = self
        if cert:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*cert)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.url = f"{'https' if cert else 'http'}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def fault(self, word, times=1, method=None, value=0):
        """The next @times requests (None: all) of a method (None: any) fail so. @value: seconds."""
        assert word in FAULTS, word
        with self.lock:
            self.faults.append([word, times, method, value])

    def plan(self, times, *methods):
        """Every second request of a method fails, until each of its PLANNED faults has occurred @times times."""
        with self.lock:
            self.planned, self.counted = {m: list(PLANNED[m]) * times for m in methods}, collections.Counter()

    def clear(self):
        with self.lock:
            self.faults, self.newest, self.planned = [], set(), {}
        self.requests.clear()

    def take_fault(self, method):
        with self.lock:
            for fault in self.faults:
                if fault[1] == 0 or fault[2] not in (None, method):
                    continue
                if fault[1] is not None:
                    fault[1] -= 1
                return fault[0], fault[3]
            self.counted[method] += 1
            left = self.planned.get(method)
            return (left.pop(0), 0) if left and self.counted[method] % 2 == 0 else None

    def keep(self, bucket, name, body):
        with self.lock:
            if name not in self.objects[bucket]:
                self.newest.add(name)
            self.objects[bucket][name] = body
        if self.directory:
            os.makedirs(f"{self.directory}/{bucket}", exist_ok=True)
            path = f"{self.directory}/{bucket}/{encode(name)}"
            with open(path + ".new", "wb") as f:
                f.write(body)
            os.rename(path + ".new", path)

    def drop(self, bucket, name):
        with self.lock:
            self.objects[bucket].pop(name, None)
        if self.directory:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self.directory}/{bucket}/{encode(name)}")

    def load(self):
        for bucket in self.objects:
            with contextlib.suppress(FileNotFoundError):
                for file in os.listdir(f"{self.directory}/{bucket}"):
                    if not file.endswith(".new"):
                        with open(f"{self.directory}/{bucket}/{file}", "rb") as f:
                            self.objects[bucket][urllib.parse.unquote(file)] = f.read()

    def variables(self, key=KEY):
        secret, token = self.secrets[key]
        found = {"AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret,
                 "AWS_EC2_METADATA_DISABLED": "true"}
        return dict(found, AWS_SESSION_TOKEN=token) if token else found

    @contextlib.contextmanager
    def environment(self, key=KEY):
        """For programs that start meanwhile."""
        wanted = self.variables(key)
        before = {n: os.environ.get(n) for n in wanted}
        os.environ.update(wanted)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


class Metadata(Store):
    """The metadata service of a machine: credentials that expire after @seconds."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format, *args):  # pylint: disable=redefined-builtin
            pass

        def reply(self, status, text):
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def do_PUT(self):
            self.server.store.requests.append(f"PUT {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            good = self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
            status = 503 if self.server.store.down else 200 if good else 400
            self.reply(status, "a-token" if status == 200 else "")

        def do_GET(self):
            self.server.store.requests.append(f"GET {self.path}")
            role = "/latest/meta-data/iam/security-credentials/"
            if self.headers.get("X-aws-ec2-metadata-token") != "a-token":
                return self.reply(401, "")
            if self.path == role:
                return self.reply(200, "the-role\n")
            return self.reply(200, json.dumps(self.server.store.document())) if self.path == role + "the-role" else self.reply(404, "")

    def __init__(self, store, seconds=3600):  # pylint: disable=super-init-not-called
        self.store, self.seconds, self.nr, self.down, self.requests = store, seconds, 0, False, []
        self.ended = threading.Event()
        self.server = Server(("127.0.0.1", 0), Metadata.Handler)
        self.server.store = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def document(self):
        """Each fetch makes another key, which the store knows from now on, beside the one before."""
        self.nr += 1
        key = f"ROLE{self.nr}"
        self.store.secrets[key] = (f"secret{self.nr}", f"token{self.nr}")
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=self.seconds)
        return {"Code": "Success", "AccessKeyId": key, "SecretAccessKey": f"secret{self.nr}", "Token": f"token{self.nr}",
                "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--dir")
    parser.add_argument("bucket", nargs="*", default=["bucket"])
    args = parser.parse_args()
    with Store(*args.bucket, cert=(args.cert, args.key) if args.cert else None, port=args.port, directory=args.dir) as store:
        print(store.url, flush=True)
        for name, value in store.variables().items():
            print(f"{name}='{value}'", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            store.thread.join()


if __name__ == "__main__":
    main()
