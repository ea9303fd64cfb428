/* SPDX-License-Identifier: GPL-2.0-only */
#include "run_priv.h"

#include <time.h>

/* A session at a relay needs no directory but for a spool, and its buffers have a doorbell. */
static bool is_kept(const struct run *run)
{
	return run->outdir >= 0 || (*run->session->relay.addr && run->doorbell >= 0);
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
	uint32_t period = run->session->relay.live_us;

	list_for_each(channel, &run->session->channels, node)
		if (channel->attr.switch_timer_us &&
		    (!period || channel->attr.switch_timer_us < period))
			period = channel->attr.switch_timer_us;
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
	return *session->relay.addr ? session->relay.spool : session->path;
}

void run_open_output(struct run *run, bool later, con_done done, void *data)
{
	const struct session_relay *relay = &run->session->relay;
	char stamp[STAMP_BYTES];
	struct req_con_output_open req = {
		.output = run->session->id,
		.dir = run->outdir,
		.uid = run->session->uid,
		.gid = run->session->gid,
		.flush_us = run_flush_us(run),
		.doorbell = run->doorbell,
		.path = run->outdir < 0 ? dir_path(run->session) : "",
		.path_dev = run->dir.dev,
		.path_ino = run->dir.ino,
		.path_born_ns = run->dir.born_ns,
		.keep_free = run->session->disk.keep_free,
		.max_size = *relay->spool ? relay->spool_size : run->session->disk.max_size,
		.sync = (uint8_t)run->session->disk.sync,
		.sync_us = run->session->disk.sync_us,
		.relay = relay->addr,
		.relay_name = run->session->name,
		.relay_stamp = stamp,
		.relay_id = { relay->id, sizeof(relay->id) },
		.relay_clear = (uint8_t)relay->link,
		.relay_host = relay->host,
		.relay_later = later,
		.relay_live_us = relay->live_us,
		.relay_compress = relay->compress,
		.snapshots = run->session->snapshots,
		.relay_url = *relay->addr ? run->session->path : "",
	};

	make_stamp(run->session, stamp);
	CONSUMER_CALL(run->config.consumer, con_output_open, &req, NULL, done, data);
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
	run->config.tracer->ops->adopt(run->config.tracer, run->session);
}
