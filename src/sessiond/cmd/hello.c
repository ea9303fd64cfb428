/* SPDX-License-Identifier: GPL-2.0-only */
/* hello: versions and features of both sides. */
#include "cmd.h"

#include "base/log.h"

enum cmd_now cmd_hello(struct command *cmd, struct req_hello *req, struct rep_hello *rep)
{
	const struct consumer *consumer =
		consumers_waited_for(&cmd->sd->consumers, cmd->caller.uid);

	log_debug("client version %.40s, user %u", req->version, cmd->caller.uid);
	rep->version = LTT_VERSION;
	rep->features = 0;
	rep->pid = (uint32_t)getpid();
	rep->instance = cmd->sd->instance;
	rep->clock = (uint8_t)cmd->sd->clock.kind;
	rep->clock_hz = clock_hz(&cmd->sd->clock);
	rep->clock_why = cmd->sd->clock.why;
	rep->awaits_kernel = cmd->sd->kmod.awaited;
	rep->consumer_pid = (uint32_t)MAX(consumer_pid(consumer), 0);
	rep->consumer_silent_ms = consumer_silence(consumer);
	return CMD_DONE;
}
