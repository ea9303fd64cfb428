# SPDX-License-Identifier: GPL-2.0-only
"""machines - hosts in namespaces of their own: network, files below /etc and /var/lib, name.
Their changes are gone with them. Needs root.

    with machines.Net("relay", "web1", "db1") as net:
        net.join("relay", "web1", "relay.example")
        net["web1"].run("lttctl create demo")

A machine that joins knows the first one by that name, at another address each.
"""
import os
import signal
import subprocess

import ltt

# Becomes the machine: prints a line, and lives until its standard input ends.
INIT = """
set -e
mount --make-rprivate /
for dir in etc var/lib; do
    mkdir -p "$1/$dir.new" "$1/$dir.work"
    mount -t overlay overlay -o "lowerdir=/$dir,upperdir=$1/$dir.new,workdir=$1/$dir.work" "/$dir"
done
hostname "$2"
echo 127.0.0.1 localhost >/etc/hosts
rm -rf /etc/ltt /var/lib/ltt
ip link set lo up
echo ready
read -r line || true
"""


class Machine:
    def __init__(self, name):
        self.name = name
        self.nr = 0
        self.dir = os.path.abspath(f"machine-{name}")
        os.makedirs(f"{self.dir}/run", mode=0o700)
        self.env = dict(os.environ, LTT_RUNDIR=f"{self.dir}/run", LTT_HOME=self.dir, HOME=self.dir)
        self.proc = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", "sh", "-c", INIT, "sh", self.dir, name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.proc.stdout.readline() != "ready\n":
            self.proc.stdin.close()
            ltt.skip(f"no machine of our own: {self.proc.stderr.read().strip()}")
        self.within = ["nsenter", f"--net=/proc/{self.proc.pid}/ns/net",
                       f"--mount=/proc/{self.proc.pid}/ns/mnt", f"--uts=/proc/{self.proc.pid}/ns/uts",
                       "--wd=" + self.dir]

    def command(self, line):
        return [*self.within, "sh", "-c", line]

    def run(self, line, status=0, path=None, **kw):
        env = dict(self.env, PATH=f"{path}:{self.env['PATH']}") if path else self.env
        return ltt.run(*self.command(line), status=status, env=env, **kw)

    def end(self, t):
        """End its daemons, then the machine."""
        before, os.environ["LTT_RUNDIR"] = os.environ["LTT_RUNDIR"], self.env["LTT_RUNDIR"]
        late = t.stop_daemon()
        relays = ltt.daemons("ltt-relayd")
        os.environ["LTT_RUNDIR"] = before
        for pid in relays:
            os.kill(pid, signal.SIGTERM)
        ltt.until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in relays), 5,
                  f"the relay at {self.name} to end")
        self.proc.stdin.close()
        self.proc.wait()
        ltt.check(not late, f"{self.name}: {late}")


class Net:
    def __init__(self, t, *names):
        for program in "ip", "unshare", "nsenter":
            if subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True).returncode:
                ltt.skip(f"needs {program}")
        if os.geteuid():
            ltt.skip("needs root, for machines in namespaces of their own")
        self.t = t
        self.machines = {}
        for name in names:
            self.machines[name] = Machine(name)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for machine in self.machines.values():
            machine.end(self.t)

    def __getitem__(self, name):
        return self.machines[name]

    def join(self, first, second, called):
        """A cable between the two: 10.77.N.1 and 10.77.N.2. Return: N."""
        a, b = self[first], self[second]
        a.nr += 1
        near = f"{first[:8]}{a.nr}"
        done = a.run(f"ip link add {near} type veth peer name eth0 netns {b.proc.pid}", status=None)
        if done.returncode:
            ltt.skip(f"no cable between machines: {done.stderr.strip()}")
        a.run(f"ip addr add 10.77.{a.nr}.1/24 dev {near} && ip link set {near} up")
        b.run(f"ip addr add 10.77.{a.nr}.2/24 dev eth0 && ip link set eth0 up")
        b.run(f"echo 10.77.{a.nr}.1 {called} >>/etc/hosts")
        return a.nr
