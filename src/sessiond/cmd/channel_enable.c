/* SPDX-License-Identifier: GPL-2.0-only */
/* channel_enable: make a channel, also while recording; or enable a disabled one. */
#include "cmd.h"

#include <string.h>

#include "base/mem.h"
#include "io/memfile.h"
#include "io/memgroup.h"
#include "io/tcp.h"

static void channel_enable_in_force(void *data, uint32_t apps, uint32_t late,
				    const struct err *problem)
{
	struct rep_channel_enable rep = { 0 };

	(void)apps, (void)late, (void)problem;
	reply_channel_enable(data, &rep);
}

static int enable_again(struct command *cmd, struct channel *channel,
			const struct channel_attr *asked)
{
	struct domain_tracer *tracer = command_tracer(cmd, (uint8_t)channel->domain);
	const struct channel_attr has = channel_attr_of(channel);

	if (!channel_attr_agrees(&has, asked))
		return command_error(cmd, ERR_INVALID,
				     "channel '%s' exists with other attributes, which can't be "
				     "changed; create another channel",
				     channel->name);
	if (channel->enabled)
		return command_error(cmd, ERR_CHANNEL_EXISTS,
				     "channel '%s' exists already and is enabled", channel->name);
	channel->enabled = true;
	tracer->ops->refresh(tracer, cmd->session, channel_enable_in_force, cmd);
	return CMD_WAIT;
}

/* The share of one more buffer that leaves room for others, and for the applications: a sixteenth
 * of the machine's free memory, a quarter of the rest of cgroup limits and quota. */
static uint64_t room(const struct command *cmd)
{
	const struct account_id account = { .uid = cmd->session->uid };
	uint64_t machine = memfile_available() / 16, group = memgroup_available() / 4;
	uint64_t quota = quota_left(&cmd->sd->quotas, account, QUOTA_MEMORY) / 4;

	return MIN(machine, MIN(group, quota));
}

static bool is_encrypted(const struct session *session)
{
	AUTO_FREE char *addrs = xstrdup(session->relay);
	char *rest = addrs, *one;
	struct tcp_addr addr;

	if (session->relay_clear != RELAY_LINK_DEFAULT)
		return session->relay_clear == RELAY_LINK_TLS;
	while ((one = strsep(&rest, ",")))
		if (tcp_parse(one, &addr) < 0 || !tcp_is_local(&addr))
			return true;
	return false;
}

/* Return: the reason, a phrase; "": packets are spliced. */
static const char *why_unspliced(const struct session *session, bool overwrites)
{
	if (session->snapshots)
		return "snapshots are copied from the buffers first";
	if (overwrites)
		return "data is copied from buffers that are overwritten first";
	if (*session->relay && session->compress)
		return "data is compressed before it is sent to the relay";
	if (*session->relay && is_encrypted(session))
		return "data is encrypted before it is sent to the relay";
	if (!*session->relay && !*session->path)
		return "the session has no output";
	return "";
}

/* Whether only snapshots have the events of all its channels. */
static bool channel_enable_keeps_all(const struct session *session)
{
	const struct channel *channel;

	list_for_each(channel, &session->channels, node)
		if (!channel->overwrite && !channel->remember)
			return false;
	return true;
}

/* As LTTng's manual has it, a session without output whose channels all overwrite, or remember, is
 * for snapshots. */
static void channel_enable_choose_snapshots(struct session *session,
					    const struct req_channel_enable *req)
{
	if (req->domain != DOMAIN_KERNEL ||
	    (req->overwrite != CHANNEL_OVERWRITE && !req->remember) || *session->path ||
	    *session->relay || !channel_enable_keeps_all(session) || run_output_open(session->run))
		return;
	session->snapshots = true;
	session->kernel_consumer = false;
}

/* Snapshots beside the trace are copied by one consumer: where the kernel's has no part in it yet,
 * it gets none. */
static void channel_enable_choose_consumer(struct session *session)
{
	if (run_consumer(session->run, DOMAIN_KERNEL) == run_consumer(session->run, DOMAIN_USER))
		session->kernel_consumer = false;
}

int cmd_channel_enable(struct command *cmd, struct req_channel_enable *req,
		       struct rep_channel_enable *rep)
{
	struct channel_attr attr = {
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)req->name,
#include "model/channel.def"
	};
	struct channel *channel;

	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	channel_enable_choose_snapshots(cmd->session, req);
	if (session_choose_mode(cmd->session, (enum domain_id)req->domain, req->overwrite, &attr,
				&cmd->err))
		return CMD_FAILED;
	channel = session_find_channel(cmd->session, (enum domain_id)req->domain, req->name);
	if (channel && req->overwrite == CHANNEL_DEFAULT)
		attr.overwrite = channel->overwrite;
	if (channel)
		return enable_again(cmd, channel, &attr);
	command_channel_preset(cmd, req->domain, req->name, &attr);
	attr.roomy = false; /* only if no size is given, see below */
	if (req->roomy)
		channel_attr_roomy(&attr, room(cmd), &cmd->sd->limits);
	if (channel_attr_resolve(&attr, (enum domain_id)req->domain, &cmd->sd->limits, &cmd->err) ||
	    session_add_channel(cmd->session, req->name, (enum domain_id)req->domain, &attr,
				&channel, &cmd->err))
		return CMD_FAILED;
	if (req->domain == DOMAIN_KERNEL && attr.overwrite)
		channel_enable_choose_consumer(cmd->session);
	rep->tracefile_size = attr.tracefile_size;
	if (attr.output_type == OUTPUT_TYPE_SPLICE)
		rep->unspliced = why_unspliced(cmd->session, attr.overwrite);
	return CMD_DONE;
}
