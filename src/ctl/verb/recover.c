/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recover.c - lttctl recover: after daemons were killed, have new daemons
 * write the data in the buffers, and report it. Any request
 * starts them; this verb waits until they have finished.
 */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "libctl/calls.h"
#include "ctl/loss.h"
#include "ctl/options.h"
#include "ctl/record.h"
#include "ctl/print.h"
#include "ctl/target.h"
#include "ctl/totals.h"

#define WAIT_MS 10000u
#define POLL_MS 20u

static int stop;

static const struct poptOption options[] = {
	OPTION_FLAG("stop", 's', &stop, "stop the sessions whose applications have all ended"),
	POPT_TABLEEND,
};

static struct json_object *totals_of(struct json_object *session)
{
	return record_get(session, "totals");
}

/* Has all that was published when we came been written, or counted as lost? */
static bool recover_is_written(struct json_object *now, struct json_object *then)
{
	struct json_object *before = totals_of(then), *t = totals_of(now);

	if (!before || !t || !*record_str(then, "output"))
		return true;
	return record_num(t, "written") + record_num(record_get(t, "lost_by_cause"), "output") >=
	       record_num(before, "recorded");
}

static bool all_written(struct json_object *now, struct json_object *then)
{
	for (size_t i = 0; i < json_object_array_length(then); i++) {
		struct json_object *was = json_object_array_get_idx(then, i);
		struct json_object *is = target_find(now, record_str(was, "name"));

		if (is && !recover_is_written(is, was))
			return false;
	}
	return true;
}

static void pause_ms(unsigned int ms)
{
	struct timespec t = { .tv_nsec = (long)ms * 1000000 };

	nanosleep(&t, NULL);
}

/* Return: the final state of the sessions; NULL: ctl->err is set. */
static struct json_object *recover_await(struct ctl *ctl)
{
	struct json_object *then AUTO_RECORD = NULL;
	struct json_object *now = NULL;
	bool done;

	if (target_sessions_recovered(ctl, &then, &ctl->err) != 0)
		return NULL;
	for (unsigned int waited = 0;; waited += POLL_MS) {
		if (target_sessions(ctl, &now, &ctl->err) != 0)
			return NULL;
		done = all_written(now, then);
		if (done || waited >= WAIT_MS)
			break;
		json_object_put(now);
		pause_ms(POLL_MS);
	}
	if (!done)
		print_warning(ctl, "some data in the buffers can't be written; `lttctl status` "
				   "shows why");
	return now;
}

static enum status stop_one(struct ctl *ctl, struct json_object *session)
{
	struct req_session_stop req = { .session = record_str(session, "name") };
	struct rep_session_stop rep;

	if (call_session_stop(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return STATUS_ERROR;
	record_set(session, "totals", record_totals(rep.totals));
	record_set_str(session, "state", "stopped");
	return STATUS_OK;
}

static bool recover_is_over(struct json_object *session)
{
	return strcmp(record_str(session, "state"), "recording") == 0 &&
	       record_num(session, "applications") == 0;
}

static enum status recover_run(struct ctl *ctl)
{
	struct json_object *sessions = recover_await(ctl);
	enum status status = STATUS_OK;

	if (!sessions)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	record_set(ctl->record, "sessions", sessions);
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		if (stop && recover_is_over(session))
			status = target_worse(status, stop_one(ctl, session));
		status = target_worse(status, loss_unknown_in(ctl, record_str(session, "name"),
							      totals_of(session)));
	}
	return status;
}

static void recover_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < record_len(record, "sessions"); i++) {
		struct json_object *session = record_at(record, "sessions", i);

		fprintf(out, "%s (%s): ", record_str(session, "name"),
			record_str(session, "state"));
		totals_text(out, totals_of(session));
		fputc('\n', out);
	}
	if (record_len(record, "sessions") == 0)
		fputs("there are no sessions\n", out);
}

const struct verb verb_recover = {
	.name = "recover",
	.operands = "",
	.help = "After daemons were killed: write what is in the buffers",
	.options = options,
	.daemon = DAEMON_STARTED,
	.run = recover_run,
	.text = recover_text,
};
