/* SPDX-License-Identifier: GPL-2.0-only */
/* session_list: one item for each session that the caller may see. */
#include "cmd.h"

#include "base/mem.h"
#include "sessiond/domain/user.h"
#include "proto/counters.h"

struct entry {
	struct listing *listing;
	uint64_t session;
	struct stats sum; /* one stream: the sum, or none */
	struct msg_con_stream stream;
};

struct listing {
	struct command *cmd;
	size_t nr, missing;
	struct entry entries[];
};

static void finish(struct listing *listing)
{
	struct command *cmd = listing->cmd;
	struct rep_session_list rep;

	for (size_t i = 0; i < listing->nr; i++) {
		struct entry *entry = &listing->entries[i];
		struct session *session = session_by_id(&cmd->sd->sessions, entry->session);

		if (session && session_visible(session, &cmd->caller))
			item_of_session(cmd, session, &entry->sum);
	}
	free(listing);
	reply_session_list(cmd, &rep);
}

static void arrived(struct listing *listing)
{
	if (--listing->missing == 0)
		finish(listing);
}

/* Only the sum is kept: a thousand sessions have many streams. */
static void got_stats(void *data, const struct run_result *result)
{
	struct entry *entry = data;
	struct msg_totals t;

	stats_totals(result->stats, entry->listing->cmd->sd->tracer, NULL, NULL, &t);
	entry->stream = (struct msg_con_stream){ .waiting = t.waiting };
	COUNTERS_COPY(&entry->stream, &t);
	entry->sum = *result->stats;
	entry->sum.nr = 1;
	entry->sum.streams = &entry->stream;
	arrived(entry->listing);
}

static void list_all(void *data)
{
	struct command *cmd = data;
	struct sessions *sessions = &cmd->sd->sessions;
	struct listing *listing;
	struct session *session;

	listing = xalloc(sizeof(*listing) + sessions->nr * sizeof(listing->entries[0]));
	listing->cmd = cmd;
	listing->missing = 1; /* ourselves: some answers come at once */
	list_for_each(session, &sessions->list, node) {
		struct entry *entry = &listing->entries[listing->nr];

		if (!session_visible(session, &cmd->caller))
			continue;
		listing->nr++;
		listing->missing++;
		entry->listing = listing;
		entry->session = session->id;
		run_stats(session->run, got_stats, entry);
	}
	arrived(listing);
}

enum cmd_result cmd_session_list(struct command *cmd, struct req_session_list *req,
				 struct rep_session_list *rep)
{
	(void)rep;
	if (req->settled)
		user_await_offers(cmd->sd->user, list_all, cmd);
	else
		list_all(cmd);
	return CMD_WAIT;
}
