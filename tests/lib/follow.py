# SPDX-License-Identifier: GPL-2.0-only
"""follow - reads the output of `lttctl --json status --follow`, or of `lttctl --json watch`, line by line."""
import json
import subprocess
import threading

import ltt
import schema


class Lines:
    """The lines of a verb of lttctl, which are objects."""

    def __init__(self, t, *verb, **kw):
        self.lines = []
        self.at = 0  # of the first that until() has not seen
        self.proc = t.spawn("lttctl", "--json", *verb, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.proc.stdout:
            self.lines.append(json.loads(line))

    def find(self, wanted):
        for i in range(self.at, len(self.lines)):
            if all(self.lines[i].get(k) == v for k, v in wanted.items()):
                self.at = i + 1
                return self.lines[i]
        return None

    def until_line(self, seconds=10, **wanted):
        """Wait for the next matching line, which may have been received already."""
        try:
            return ltt.until(lambda: self.find(wanted), seconds, f"{wanted}")
        except ltt.Failure:
            print(f"came: {self.lines[self.at:]}")
            raise


class Watch(Lines):
    """Watches triggers until it is ended."""

    def __init__(self, t, *names, **kw):
        super().__init__(t, "watch", *names, **kw)

    def end(self):
        self.proc.terminate()
        ltt.equal("status of watch", self.proc.wait(20 * ltt.PATIENCE), 0)
        self.reader.join(10)
        for line in self.lines:
            schema.answer(line, "notification")


class Follow(Lines):
    """Follows a session until it is destroyed, or stop() is called."""

    def __init__(self, t, session, **kw):
        super().__init__(t, "status", "--follow", session, **kw)

    def until(self, news, seconds=10, **fields):
        return self.until_line(seconds, **dict(fields, news=news))

    def last(self, *news):
        """Last received line of these; a later until() only finds lines received after this call."""
        self.at = len(self.lines)
        return next((line["news"] for line in reversed(self.lines[:self.at])
                     if line["news"] in news), None)

    def none(self, news, **fields):
        wanted = dict(fields, news=news)
        for line in self.lines[self.at:]:
            ltt.check(any(line.get(k) != v for k, v in wanted.items()), f"not expected: {line}")

    def end(self, status):
        """Wait for the end of the program; check that every line fits the schema."""
        try:
            got = self.proc.wait(20 * ltt.PATIENCE)
        except subprocess.TimeoutExpired:
            ltt.fail("it follows for ever")
        self.reader.join(10)
        err = self.proc.stderr.read()
        if got != status:
            print(f"came: {self.lines}")
        ltt.equal(f"exit status ({err})", got, status)
        for line in self.lines:
            schema.answer(line, "news_line")
        return err

    def stop(self, signo, status=0):
        self.proc.send_signal(signo)
        ltt.equal("words at the end", self.end(status), "")
