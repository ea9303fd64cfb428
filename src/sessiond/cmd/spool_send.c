/* SPDX-License-Identifier: GPL-2.0-only */
/* spool_send: sends the rest of a destroyed session from its spool to its relay. For the
 * consumer it is an output that is opened and closed. */
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd.h"
#include "io/relayurl.h"
#include "io/spoolfacts.h"
#include "proto/relay.h"

#define MAX_SENDING 8u		/* at a time: each has a thread */
#define MAX_BYTES (1ull << 40)	/* nothing is added to it */
#define OUTPUT_BIT (1ull << 63) /* no session has such an id */

struct sending {
	struct command *cmd;
	struct consumer *consumer;
	uint64_t output;
};

static void spool_send_end(struct sending *s, const struct con_answer *answer)
{
	struct command *cmd = s->cmd;
	struct rep_spool_send rep = { .problem = answer->code ? answer->text : "" };

	cmd->sd->nr_sending--;
	free(s);
	reply_spool_send(cmd, &rep);
}

static void spool_send_on_close(void *data, const struct con_answer *answer)
{
	spool_send_end(data, answer);
}

static void spool_send_on_opened(void *data, const struct con_answer *answer)
{
	struct rep_con_output_open rep = { -1, -1 };
	struct sending *s = data;
	struct req_con_output_close req = { s->output };

	if (answer->code) {
		spool_send_end(s, answer);
		return;
	}
	if (rep_con_output_open_decode(answer->dec, &rep) == 0) {
		close_fd(rep.doorbell);
		close_fd(rep.dir);
	}
	CONSUMER_CALL(s->consumer, con_output_close, &req, NULL, spool_send_on_close, s);
}

static enum cmd_now spool_send_check(struct command *cmd, const struct req_spool_send *req)
{
	struct relayurl url;

	if (req->dir < 0 || req->id.len != 16 || relayurl_parse(req->url, &url) < 0 ||
	    strlen(req->url) >= SPOOLFACTS_URL_BYTES || req->relay_clear > RELAY_LINK_TLS ||
	    req->sync > SYNC_PERIOD || name_check(req->name) || name_check(req->stamp))
		return command_error(cmd, ERR_INVALID, "this is not a spool that can be sent");
	if (cmd->sd->nr_sending >= MAX_SENDING || !admission_has_room(req->dir, ADMISSION_KEPT))
		return command_error(cmd, ERR_LIMIT,
				     "the session daemon has too much to do; try again later");
	return CMD_DONE;
}

int cmd_spool_send(struct command *cmd, struct req_spool_send *req, struct rep_spool_send *rep)
{
	struct req_con_output_open open = {
		.dir = req->dir,
		.uid = cmd->caller.uid,
		.gid = cmd->caller.gid,
		.doorbell = -1,
		.path = "",
		.max_size = MAX_BYTES,
		.sync = req->sync,
		.sync_us = req->sync_us,
		.relay = RELAY_ADDRS_UNKNOWN,
		.relay_name = req->name,
		.relay_stamp = req->stamp,
		.relay_id = req->id,
		.relay_clear = req->relay_clear,
		.relay_live_us = req->live_us,
		.relay_host = "",
		.relay_compress = req->compress,
		.relay_url = req->url,
		.relay_rest = 1,
	};
	struct sending *s;

	(void)rep;
	if (spool_send_check(cmd, req) != CMD_DONE)
		return CMD_FAILED;
	if (getrandom(&open.output, sizeof(open.output), 0) != (ssize_t)sizeof(open.output))
		return command_error(cmd, ERR_INTERNAL, "can't generate random bytes");
	open.output |= OUTPUT_BIT;
	s = xalloc(sizeof(*s));
	s->cmd = cmd;
	s->consumer = &cmd->sd->consumers.own.consumer; /* it has the keys of relays */
	s->output = open.output;
	cmd->sd->nr_sending++;
	CONSUMER_CALL(s->consumer, con_output_open, &open, NULL, spool_send_on_opened, s);
	return CMD_WAIT;
}
