/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool.c - what a worker with a spool does about its link: sends what waits, asks
 * again after a while, and sees to it that no ring fills up while a relay is mute. Runs in
 * its thread.
 */
#include "priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "consumerd/now.h"
#include "io/lockfile.h"
#include "io/spoolfacts.h"
#include "trace/metapacket.h"

#define DRAIN_NS 20000000u
#define PAUSE_MS 20
#define CLAIM_TRIES 15 /* one that only looks has it for an instant */

static bool any_presses(const struct worker *w)
{
	const struct ringset *set;

	list_for_each(set, &w->sets, node)
		if (ringset_is_half_full(set))
			return true;
	return false;
}

static int worker_spool_is_wanted(struct worker *w)
{
	return w->awaited || !job_queue_is_empty(&w->inbox);
}

/* A packet on its way out of its ring has no copy yet: it has to be given up for that. */
int worker_meanwhile(void *data)
{
	struct worker *w = data;
	struct ringset *set;
	int error = 0; /* the next round has it, too */

	if (!any_presses(w))
		return worker_spool_is_wanted(w);
	if (w->spool->direct || (relay_conn_is_posting(w->link) && !w->spool->nr_ahead))
		return -ETIMEDOUT;
	w->spool->filling = w->spool->waited_for = true;
	list_for_each(set, &w->sets, node)
		ringset_cut(set, STREAM_TAKE, false, &error);
	w->spool->waited_for = false;
	return worker_spool_is_wanted(w);
}

int worker_link_result(struct worker *w, int error)
{
	if (error >= 0 || !w->spool)
		return error;
	spool_link_failed(w->spool, error);
	worker_note_link(w);
	return 0;
}

bool worker_check_link(struct worker *w)
{
	int error = w->link ? relay_conn_check(w->link) : 0;

	if (worker_link_result(w, error) < 0)
		worker_note(w, -error, "asking the relay");
	return error < 0;
}

static void finish_closing(struct worker *w)
{
	struct job *job, *tmp;

	list_for_each_safe(job, tmp, &w->closing, node) {
		list_remove(&job->node);
		worker_close_trace(w, worker_find_trace(w, job->id));
		job_queue_push(w->config.done, job);
	}
}

bool worker_drain(struct worker *w, uint64_t now)
{
	struct spool *spool = w->spool;
	uint64_t before;
	int ret;

	if (!spool || !spool->filling || (spool->error && now < spool->retry_ns))
		return false;
	before = spool->waiting;
	ret = spool_drain(spool, DRAIN_NS);
	if (ret == 0) {
		worker_update(w); /* what has been missed is to be seen */
		finish_closing(w);
	}
	if (spool->waiting < before) /* there may be room again */
		w->retry_ns = 0;
	worker_note_link(w);
	return ret >= 0;
}

uint64_t worker_drain_due(const struct worker *w)
{
	if (!w->spool || !w->spool->filling)
		return DOORBELL_FOREVER;
	return w->spool->error ? w->spool->retry_ns : 0;
}

void worker_wait_for_drain(struct worker *w, uint64_t timeout_ns, uint64_t most_ns)
{
	uint64_t now = now_ns(), end = now + timeout_ns, last = now + most_ns;

	while (w->spool && w->spool->filling && now < MIN(end, last)) {
		uint64_t before = w->spool->waiting;

		if (!worker_drain(w, now))
			poll(NULL, 0, PAUSE_MS);
		now = now_ns();
		if (w->spool->waiting < before)
			end = now + timeout_ns;
	}
}

uint64_t worker_spooled(const struct worker *w)
{
	return w->spool ? __atomic_load_n(&w->spool->waiting, __ATOMIC_RELAXED) : 0;
}

void worker_clock(const struct worker *w, int64_t *ret_offset_ns, uint64_t *ret_error_ns)
{
	*ret_offset_ns = 0;
	*ret_error_ns = 0;
	if (w->link)
		relay_conn_clock(w->link, ret_offset_ns, ret_error_ns);
}

/* --- whose it is -------------------------------------------------------------------- */

static int write_facts(const struct worker *w)
{
	const struct relay_conn_config *config = relay_conn_config(w->link);
	struct spoolfacts facts = {
		.link = (uint8_t)config->link,
		.sync = (uint8_t)config->sync,
		.compress = config->compress,
		.sync_us = config->sync_us,
		.live_us = config->live_us,
	};

	if (!config->url)
		return 0; /* a session of an earlier version's; the file is a lock all the same */
	snprintf(facts.name, sizeof(facts.name), "%s", config->name);
	snprintf(facts.stamp, sizeof(facts.stamp), "%s", config->stamp);
	snprintf(facts.url, sizeof(facts.url), "%s", config->url);
	memcpy(facts.id, config->id, sizeof(facts.id));
	return spoolfacts_write(w->spool_lock, &facts);
}

static void note_choice(void *data, const char *url)
{
	const struct worker *w = data;
	struct spoolfacts facts;

	if (w->spool_lock < 0 || spoolfacts_read(w->spool_lock, &facts) < 0)
		return;
	snprintf(facts.chosen, sizeof(facts.chosen), "%s", url);
	if (spoolfacts_write(w->spool_lock, &facts) < 0)
		log_warn("the spool of '%s' can't say which relay has the session", facts.name);
}

/* Of some relays one has the session already, if an earlier consumer got so far. */
static int take_facts(struct worker *w)
{
	struct spoolfacts facts;

	relay_conn_set_choice(w->link, note_choice, w);
	if (spoolfacts_read(w->spool_lock, &facts) == 0) {
		if (*facts.chosen)
			relay_conn_choose(w->link, facts.chosen);
		return 0;
	}
	return w->config.rest ? 0 : write_facts(w);
}

/* A disk that has no room for it costs no event: then the rest can only be read where it is. */
int worker_claim_spool(struct worker *w, struct err *err)
{
	int ret = -EWOULDBLOCK;

	for (unsigned int i = 0; i < CLAIM_TRIES && ret == -EWOULDBLOCK; i++) {
		if (i > 0)
			poll(NULL, 0, PAUSE_MS);
		worker_leave_spool(w);
		ret = lockfile_take(w->config.dir_fd, SPOOLFACTS_FILE, &w->spool_lock);
	}
	if (ret == -EWOULDBLOCK) {
		worker_leave_spool(w);
		return err_set(err, ERR_STATE,
			       "the spool is in use: its session has it, or it is being sent or "
			       "removed");
	}
	if (ret == 0)
		ret = take_facts(w);
	if (ret < 0)
		log_warn("the spool of '%s' can't say whose it is: %s",
			 relay_conn_config(w->link)->name, strerror(-ret));
	return 0;
}

void worker_leave_spool(struct worker *w)
{
	w->spool_lock = close_fd(w->spool_lock);
}

/* --- the rest of a session that is over ------------------------------------------------ */

static int adopt_rest(struct worker *w, const char *path, int metadata_fd, struct err *err)
{
	struct metapacket_header head;
	struct tracedir *dir;
	struct stat st;

	if (fstat(metadata_fd, &st) < 0 ||
	    pread(metadata_fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    head.magic != METAPACKET_MAGIC)
		return err_set(err, ERR_OUTPUT, "%s: its metadata makes no sense", path);
	if (tracedir_adopt_behind(++w->nr_rest, w->config.dir_fd, path, head.uuid,
				  (uint64_t)st.st_size, &w->disk, &dir, err))
		return err->code;
	list_append(&w->traces, &dir->node);
	spool_find(w->spool, dir);
	return 0;
}

/* A directory with metadata is a trace. Nothing else that lies there matters. */
static int find_rest(struct worker *w, int at_fd, const char *name, const char *path,
		     unsigned int depth, struct err *err)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	AUTO_FD int metadata = dir ? tracedir_open_file(dirfd(dir), "metadata") : -1;
	struct dirent *entry;

	if (metadata >= 0)
		return adopt_rest(w, path, metadata, err);
	while (!err->code && depth < TRACEDIR_MAX_DEPTH && (entry = dir_next(dir))) {
		AUTO_FREE char *below = xasprintf("%s%s%s", path, *path ? "/" : "", entry->d_name);

		if (entry->d_type != DT_REG && *entry->d_name != '.')
			(void)!find_rest(w, dirfd(dir), entry->d_name, below, depth + 1, err);
	}
	return err->code;
}

int worker_find_rest(struct worker *w, struct err *err)
{
	w->spool->filling = true; /* metadata is sent also where nothing else waits */
	return find_rest(w, w->config.dir_fd, ".", "", 0, err);
}
