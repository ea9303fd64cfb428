/* SPDX-License-Identifier: GPL-2.0-only */
#include "run_priv.h"

#include <time.h>

/* A session at a relay needs no directory but for a spool, and its buffers have a doorbell. */
static bool is_kept(const struct run *run)
{
	return run->outdir >= 0 || (*run->session->relay && run->doorbell >= 0);
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

void run_on_output_opened(struct run *run, const struct con_answer *answer)
{
	struct rep_con_output_open rep = { -1, -1 };

	if (rep_con_output_open_decode(answer->dec, &rep) == 0) {
		replace_fd(&run->doorbell, rep.doorbell);
		replace_fd(&run->outdir, rep.dir);
	}
	run->output_open = true;
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

#define STAMP_BYTES 32

/* When it was made, as its directory at a relay is called. */
static void make_stamp(const struct session *session, char ret[STAMP_BYTES])
{
	time_t s = (time_t)(session->created_ns / 1000000000);
	struct tm tm = { 0 };

	localtime_r(&s, &tm);
	strftime(ret, STAMP_BYTES, "%Y%m%d-%H%M%S", &tm);
}

static const char *dir_path(const struct session *session)
{
	return *session->relay ? session->spool : session->path;
}

void run_open_output(struct run *run, bool later, con_done done, void *data)
{
	const struct session *session = run->session;
	char stamp[STAMP_BYTES];
	struct req_con_output_open req = {
		.output = session->id,
		.dir = run->outdir,
		.uid = session->uid,
		.gid = session->gid,
		.flush_us = run_flush_us(run),
		.doorbell = run->doorbell,
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
	};

	make_stamp(session, stamp);
	CONSUMER_CALL(run->consumer, con_output_open, &req, NULL, done, data);
}

static void readopted(void *data, const struct con_answer *answer)
{
	struct run *run = data;

	if (answer->code == 0)
		run_on_output_opened(run, answer);
	else if (!answer->superseded)
		run_trouble(run, TROUBLE_OUTPUT, answer->text);
}

void run_adopt(struct run *run)
{
	if (!run->output_open)
		return;
	run_open_output(run, true, readopted, run);
	domains_adopt(run->config.domains, run->session);
}
