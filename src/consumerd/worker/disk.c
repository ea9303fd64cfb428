/* SPDX-License-Identifier: GPL-2.0-only */
/* disk.c - state of a worker's output: whether it accepts data, its limits, and how much of it is
 * on the disk; runs in the worker's thread. */
#include "priv.h"

#include <errno.h>
#include <stdio.h>

#include "consumerd/now.h"

#define BACKOFF_MIN_NS 50000000u
#define BACKOFF_MAX_NS 2000000000u

void worker_set_wake(struct worker *w, bool on)
{
	struct ringset *set;

	list_for_each(set, &w->sets, node)
		(on ? ringset_set_state : ringset_clear_state)(set, LTT_RING_WAKE);
}

/* As people write them: 512k, 10M, 1G. */
static void size_text(uint64_t bytes, char ret[32])
{
	static const char units[] = " kMGT";
	unsigned int unit = 0;

	for (; bytes && bytes % 1024 == 0 && unit < 4; unit++)
		bytes /= 1024;
	snprintf(ret, 32, unit ? "%llu%c" : "%llu", (unsigned long long)bytes, units[unit]);
}

const char *worker_limit_text(const struct worker *w, char ret[WORKER_TEXT_BYTES])
{
	struct sink_state state = sink_state(w->sink);
	char size[32];

	snprintf(ret, WORKER_TEXT_BYTES, "%s", state.trouble ? "" : state.problem);
	if (w->at_limit == DISK_KEEP_FREE) {
		size_text(w->disk.keep_free, size);
		snprintf(ret, WORKER_TEXT_BYTES,
			 "nothing is written: it would leave less than the %s free on the file "
			 "system that are to stay free (--keep-free)",
			 size);
	} else if (w->at_limit == DISK_MAX_SIZE) {
		size_text(w->disk.max_size, size);
		snprintf(ret, WORKER_TEXT_BYTES,
			 state.keeps && !state.trouble ?
				 "the relay's store does not have all data yet, and the spool, which "
				 "keeps it, has its greatest size, %s (--spool); recorded data waits "
				 "in the buffers" :
			 w->sink->ops->way == SINK_SPOOLS ?
				 "the relay is unreachable, and the spool has its greatest size, "
				 "%s (--spool); recorded data waits in the buffers" :
				 "nothing more is written: the trace has its greatest size, %s "
				 "(--max-size)",
			 size);
	}
	return ret;
}

static void disk_report(struct worker *w, int error, const char *doing)
{
	struct job *job = job_new(JOB_NOTE, w->owner);
	struct job_note *note = &job->note;
	struct sink_state state = sink_state(w->sink);
	char text[WORKER_TEXT_BYTES];

	note->error = error;
	note->limit = *worker_limit_text(w, text) != '\0';
	snprintf(job->err.text, sizeof(job->err.text), "%s", note->limit ? text : doing);
	w->trouble_reported = state.trouble;
	if (!error && state.trouble) {
		note->error = -state.trouble;
		note->limit = note->spooled = true;
		snprintf(job->err.text, sizeof(job->err.text), "%s", state.problem);
	}
	job_queue_push(w->config.done, job);
}

void worker_note_trouble(struct worker *w)
{
	if (sink_state(w->sink).trouble != w->trouble_reported)
		disk_report(w, w->failing, "writing to the spool");
}

/* Nothing can be cut, but the losses of the rings are counted meanwhile. */
void worker_update(struct worker *w)
{
	struct ringset *set;

	list_for_each(set, &w->sets, node)
		ringset_update(set);
	worker_report_damage(w);
}

void worker_note(struct worker *w, int error, const char *doing)
{
	enum disk_limit limit = error == EDQUOT ? w->disk.limit : DISK_NO_LIMIT;
	bool known = error || !list_empty(&w->sets);
	bool news = error != w->failing || limit != w->at_limit || (w->unreported && known);

	w->at_limit = limit;
	w->disk.stalled = error != 0;
	if (news) {
		w->unreported = false;
		worker_update(w); /* from here on losses have another cause */
		disk_report(w, error, doing);
	}
	if (error) {
		w->backoff_ns =
			w->failing ? MIN(w->backoff_ns * 2, BACKOFF_MAX_NS) : BACKOFF_MIN_NS;
		w->retry_ns = now_ns() + w->backoff_ns;
		/* no thread waits for the doorbell now */
		worker_set_wake(w, false);
		w->pace = PACE_FLOWING;
	}
	w->failing = error;
	worker_note_trouble(w);
}

bool worker_is_any_gone(const struct worker *w)
{
	struct chunk_trace *dir;

	list_for_each(dir, &w->chunk.traces, node)
		if (chunk_trace_is_gone(dir))
			return true;
	return false;
}

/* Files that an earlier consumer has written count too. */
void worker_measure(struct worker *w)
{
	struct chunk_trace *dir;

	w->measure = false;
	w->disk.used = w->closed_bytes;
	list_for_each(dir, &w->chunk.traces, node)
		w->disk.used += chunk_trace_measure(dir);
}

void worker_sync(struct worker *w)
{
	int ret = w->sink->ops->sync ? w->sink->ops->sync(w->sink) : 0;

	w->sync_due_ns = ret < 0; /* at once when the output works again */
	if (ret < 0)
		worker_note(w, -ret, "syncing the trace to the disk");
}
