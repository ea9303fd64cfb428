/* SPDX-License-Identifier: GPL-2.0-only */
#include "priv.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"

/* Without a directory the buffers have a doorbell. */
static bool is_kept(const struct run *run)
{
	return run->outdir >= 0 || run->doorbell >= 0;
}

void run_keep(struct run *run)
{
	const int fds[KEEPER_FDS] = { run->outdir, run->doorbell, -1 };

	if (run->config.keeper && is_kept(run))
		keeper_put(run->config.keeper, "output", run->session->id, fds);
}

static void replace_fd(int *fd, int by)
{
	if (by < 0)
		return;
	close_fd(*fd);
	*fd = by;
}

/* The applications' buffers have the doorbell of the first one; the kernel's have none. */
void run_on_output_opened(struct run_part *part, const struct con_answer *answer)
{
	struct rep_con_output_open rep = { -1, -1 };
	struct run *run = part->run;

	part->open = true;
	if (rep_con_output_open_decode(answer->dec, &rep) == 0) {
		if (part == &run->parts[RUN_KERNEL])
			rep.doorbell = close_fd(rep.doorbell);
		replace_fd(&run->doorbell, rep.doorbell);
		replace_fd(&run->outdir, rep.dir);
	}
	run_keep(run);
	run_save(run);
}

/* Data stays in buffers no longer than the most impatient channel, or a viewer, wants. */
uint32_t run_flush_us(const struct run *run)
{
	const struct channel *channel;
	uint32_t period = run->session->live_us;

	list_for_each(channel, &run->session->channels, node)
		if (channel->switch_timer_us && (!period || channel->switch_timer_us < period))
			period = channel->switch_timer_us;
	return period;
}


void run_stamp(const struct session *session, char ret[RUN_STAMP_BYTES])
{
	time_t s = (time_t)(session->created_ns / 1000000000);
	struct tm tm = { 0 };

	localtime_r(&s, &tm);
	strftime(ret, RUN_STAMP_BYTES, "%Y%m%d-%H%M%S", &tm);
}

char *run_place_at_relay(const struct session *session, const char *url, const char *name)
{
	char stamp[RUN_STAMP_BYTES];
	size_t len = strlen(session->name);
	bool stamped;

	run_stamp(session, stamp);
	stamped = len > strlen(stamp) && strcmp(session->name + len - strlen(stamp), stamp) == 0;
	return xasprintf("%s/%s%s%s/%s", url, session->name, stamped ? "" : "-",
			 stamped ? "" : stamp, name);
}

static const char *dir_path(const struct session *session)
{
	return *session->relay ? session->spool : session->path;
}

static void add_unreported(const struct msg_con_stream *sum, void *data)
{
	*(uint64_t *)data += sum->unreported;
}

static bool has_gap(const struct run *run)
{
	uint64_t unreported = 0;

	domains_each_final(run->config.domains, run->session, add_unreported, &unreported);
	return unreported != 0;
}

void run_open_output(struct run_part *part, bool later, con_done done, void *data)
{
	const struct run *run = part->run;
	const struct session *session = run->session;
	char stamp[RUN_STAMP_BYTES], turning[TURN_NAME_BYTES];
	struct req_con_output_open req = {
		.output = session->id,
		.dir = run->outdir,
		.uid = session->uid,
		.gid = session->gid,
		.flush_us = run_flush_us(run),
		.doorbell = part == &run->parts[RUN_KERNEL] ? -1 : run->doorbell,
		.path = run->outdir < 0 ? dir_path(session) : "",
		.path_dev = run->dir.dev,
		.path_ino = run->dir.ino,
		.path_born_ns = run->dir.born_ns,
		.keep_free = session->keep_free,
		.max_size = *session->spool ? session->spool_size : session->max_size,
		.sync = (uint8_t)session->sync,
		.sync_us = session->sync_us,
		.relay = session->relay,
		.relay_name = session->name,
		.relay_stamp = stamp,
		.relay_id = { session->relay_id, sizeof(session->relay_id) },
		.relay_clear = (uint8_t)session->relay_clear,
		.relay_host = session->relay_host,
		.relay_later = later,
		.relay_live_us = session->live_us,
		.relay_compress = session->compress,
		.snapshots = session->snapshots,
		.relay_url = *session->relay ? session->path : "",
		.turning = turning,
		.part = part == &run->parts[RUN_KERNEL],
		.gap = has_gap(run),
	};

	chunk_turn_name(&session->chunk, (unsigned int)(part - run->parts), turning);
	run_stamp(session, stamp);
	CONSUMER_CALL(part->consumer, con_output_open, &req, NULL, done, data);
}

static void report_opened(struct run_part *part, const char *why)
{
	enum trouble trouble =
		part == &part->run->parts[RUN_KERNEL] ? TROUBLE_KERNEL_OUTPUT : TROUBLE_OUTPUT;

	if (*why || *part->run->session->troubles[trouble])
		run_trouble(part->run, trouble, why);
}

static void kernel_opened(void *data, const struct con_answer *answer)
{
	struct run_part *part = data;

	if (answer->code == 0)
		run_on_output_opened(part, answer);
	part->open = !answer->code || answer->code == ERR_CONSUMER; /* the next one is sent it */
	report_opened(part, answer->code ? answer->text : "");
}

/* Requests that follow are executed after this one: there is no need to wait for its answer. */
void run_prepare(struct run *run, enum domain_id domain)
{
	struct run_part *part = &run->parts[RUN_KERNEL];

	if (domain != DOMAIN_KERNEL || part->open || !run->session->kernel_consumer ||
	    !run->config.kernel_consumer)
		return;
	if (!part->consumer)
		part->consumer = run->config.kernel_consumer(run->session);
	part->open = true;
	run_open_output(part, false, kernel_opened, part);
}

static void readopted(void *data, const struct con_answer *answer)
{
	struct run_part *part = data;

	if (answer->code == 0)
		run_on_output_opened(part, answer);
	if (answer->code == 0 && part == &part->run->parts[RUN_KERNEL])
		report_opened(part, "");
	else if (answer->code && !answer->superseded)
		report_opened(part, answer->text);
}

void run_adopt(struct run *run, struct consumer *consumer)
{
	struct run_part *part;

	run_each_open(part, run)
	{
		if (part->consumer != consumer)
			continue;
		consumer_forget(consumer, part); /* an unanswered request is replaced by this one */
		run_open_output(part, true, readopted, part);
		domains_adopt(run->config.domains, run->session, consumer);
	}
}
