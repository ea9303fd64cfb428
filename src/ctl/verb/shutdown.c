/* SPDX-License-Identifier: GPL-2.0-only */
/* shutdown.c - lttctl shutdown: end the session daemon. */
#include <inttypes.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"
#include "libctl/calls.h"
#include "ctl/options.h"
#include "ctl/record.h"
#include "ctl/text.h"
#include "ctl/verb.h"

#define END_MS 5000 /* the daemon takes two seconds at most */

static struct {
	int force;
} opt;

static const struct poptOption options[] = {
	OPTION_FLAG("force", 'f', &opt.force, "destroy its sessions, too"),
	POPT_TABLEEND,
};

/* Until the process is gone, so that the next command finds it there no more. */
static bool shutdown_await_end(int pidfd)
{
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };

	return pidfd < 0 || poll(&pfd, 1, END_MS) > 0;
}

static enum status shutdown_run(struct ctl *ctl)
{
	struct req_daemon_end req = { .force = opt.force != 0 };
	struct rep_daemon_end rep;
	int pidfd AUTO_FD = -1;
	uint32_t pid;

	if (!ctl->client) {
		err_set(&ctl->err, ERR_NO_DAEMON, "no session daemon runs");
		return STATUS_WARNING;
	}
	pid = client_daemon(ctl->client)->pid;
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (call_daemon_end(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return STATUS_ERROR;
	if (!shutdown_await_end(pidfd)) {
		err_set(&ctl->err, ERR_BUSY,
			"the session daemon (pid %u) has not ended within 5 s; 'kill -9 %u' ends it",
			pid, pid);
		return STATUS_ERROR;
	}
	ctl->record = json_object_new_object();
	record_set_num(ctl->record, "pid", pid);
	record_set_num(ctl->record, "sessions", rep.sessions);
	return STATUS_OK;
}

static void shutdown_text(FILE *out, struct json_object *record)
{
	uint64_t sessions = record_num(record, "sessions");

	fprintf(out, "Session daemon (pid %" PRIu64 ") ended", record_num(record, "pid"));
	if (sessions)
		fprintf(out, ", and %" PRIu64 " session%s with it", sessions,
			text_plural(sessions));
	fputc('\n', out);
}

const struct verb verb_shutdown = {
	.name = "shutdown",
	.operands = "",
	.help = "End the session daemon",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.run = shutdown_run,
	.text = shutdown_text,
};
