/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "relay_local.h"

#include <string.h>

#include "base/macros.h"
#include "base/str.h"
#include "daemon.h"

static const char local_url[] = "net://127.0.0.1";

/* Regardless of its result: another process may have started one at the same moment, which can
 * be used as well. */
static int relay_local_start(const char *path, char *words, size_t len, struct err *err)
{
	AUTO_FD int fd = daemon_words("ltt-relayd says");
	char *argv[] = { (char *)path, (char *)"--daemonize", NULL };
	pid_t pid;
	int error, status;

	error = daemon_spawn(argv, fd, &pid);
	if (error < 0)
		return err_errno(err, ERR_OUTPUT, -error,
				 "no relay runs here, and '%s' can't be "
				 "started",
				 path);
	if (daemon_reap(-1, pid, &status) < 0)
		return err_set(err, ERR_OUTPUT,
			       "no relay runs here, and '%s' (pid %d), which was started, does "
			       "not get ready",
			       path, (int)pid);
	daemon_read_words(fd, words, len);
	return 0;
}

int relay_local(const char *path, struct relay_url *ret, struct err *err)
{
	struct err first = { 0 }, second = { 0 };
	char words[200];

	if (url_relay(local_url, false, ret, &first) == 0)
		return 0;
	if (relay_local_start(path, words, sizeof(words), err) != 0)
		return err->code;
	if (url_relay(local_url, false, ret, &second) == 0)
		return 0;
	return err_set(err, ERR_OUTPUT,
		       "a live session needs a relay, and none could be started here%s%s",
		       *words ? ": " : "", words);
}
