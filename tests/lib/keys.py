# SPDX-License-Identifier: GPL-2.0-only
"""keys - keys and certificates made by ltt-keys for a test, and a relay that requires them.

    ca = keys.Authority()                 in ./ltt-ca
    ca.relay("relay", "127.0.0.1")        a path: its directory of keys
    with keys.used(ca.host("web1")):      this host's, for daemons that begin meanwhile
"""
import contextlib
import os
import ssl

import ltt
import relay


class Authority:
    def __init__(self, where="ltt-ca"):
        self.dir = os.path.abspath(where)
        self.run("ca")

    def run(self, *words, **kw):
        return ltt.run("ltt-keys", "-d", self.dir, *words, **kw)

    def of(self, name):
        return os.path.join(self.dir, name)

    def relay(self, name, *others):
        self.run("relay", name, *others)
        return self.of(name)

    def host(self, name):
        self.run("host", name)
        return self.of(name)

    def viewer(self, name):
        self.run("viewer", name)
        return self.of(name)

    def psk(self, relay_name, name, *options):
        self.run("psk", relay_name, name, *options)
        return self.of(name)


@contextlib.contextmanager
def used(path):
    """Daemons read the keys at each connection to a relay: start them within this context."""
    before = os.environ.get("LTT_KEYS")
    os.environ["LTT_KEYS"] = path
    try:
        yield
    finally:
        if before is None:
            del os.environ["LTT_KEYS"]
        else:
            os.environ["LTT_KEYS"] = before


def context(path, **kw):
    """Python's TLS with a directory of keys; accepts any relay with a certificate of that authority."""
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.check_hostname = False
    ctx.load_verify_locations(f"{path}/ca.crt")
    ctx.load_cert_chain(f"{path}/own.crt", f"{path}/own.key")
    for name, value in kw.items():
        setattr(ctx, name, value)
    return ctx


def wrap(path, **kw):
    return lambda s: context(path, **kw).wrap_socket(s)


class Relay(relay.Relay):
    """A relay that uses TLS on loopback addresses, too; its debug log is relay.err."""

    scheme = "tls"

    def __init__(self, t, path, *options, out="relay"):
        self.err = os.path.abspath(f"{out}.err")
        super().__init__(t, "-v", "--keys", path, *options, out=out)

    def said(self):
        with open(self.err, errors="replace") as f:
            return f.read()
