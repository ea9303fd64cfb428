/* SPDX-License-Identifier: GPL-2.0-only */
/* session_list: one item for each session that the caller may see, or for the one it names. */
#include "cmd.h"

#include "base/mem.h"
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

static void session_list_finish(struct listing *listing)
{
	struct command *cmd = listing->cmd;
	struct rep_session_list rep = { .loading = cmd->sd->loading };

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
		session_list_finish(listing);
}

/* Only the sum is kept: a thousand sessions have many streams. */
static void got_stats(void *data, const struct run_result *result)
{
	struct entry *entry = data;
	struct msg_totals t;

	stats_totals(result->stats, &entry->listing->cmd->sd->domains, NULL, NULL, &t);
	entry->stream = (struct msg_con_stream){ .waiting = t.waiting };
	COUNTERS_COPY(&entry->stream, &t);
	entry->sum = *result->stats;
	entry->sum.nr = 1;
	entry->sum.streams = &entry->stream;
	arrived(entry->listing);
}

/* @cmd->session_id: of the only requested session, 0: all. */
static bool session_list_is_wanted(const struct command *cmd, const struct session *session)
{
	return (!cmd->session_id || session->id == cmd->session_id) &&
	       session_visible(session, &cmd->caller);
}

static void list_wanted(void *data)
{
	struct command *cmd = data;
	struct sessions *sessions = &cmd->sd->sessions;
	const size_t room = cmd->session_id ? 1 : sessions->nr;
	struct listing *listing;
	struct session *session;

	listing = xalloc(sizeof(*listing) + room * sizeof(listing->entries[0]));
	listing->cmd = cmd;
	listing->missing = 1; /* ourselves: some answers come at once */
	list_for_each(session, &sessions->list, node) {
		struct entry *entry = &listing->entries[listing->nr];

		if (!session_list_is_wanted(cmd, session))
			continue;
		listing->nr++;
		listing->missing++;
		entry->listing = listing;
		entry->session = session->id;
		run_stats(session->run, got_stats, entry);
	}
	arrived(listing);
}

/* Return: 0; ERR_NO_SESSION: an empty list is the reply; another code: set in cmd->err. */
static int find_named(struct command *cmd, const char *name)
{
	struct session *session;
	int code = session_find(&cmd->sd->sessions, &cmd->caller, name, &session, &cmd->err);

	if (code == 0)
		cmd->session_id = session->id;
	return code;
}

static void offers_settled(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	(void)apps, (void)late, (void)problem;
	list_wanted(data);
}

int cmd_session_list(struct command *cmd, struct req_session_list *req,
		     struct rep_session_list *rep)
{
	int code = *req->name ? find_named(cmd, req->name) : 0;

	rep->loading = cmd->sd->loading;
	if (code == ERR_NO_SESSION) {
		cmd->err = (struct err){ 0 };
		return CMD_DONE;
	}
	if (code)
		return CMD_FAILED;
	if (req->settled)
		domains_await_offers(&cmd->sd->domains, offers_settled, cmd);
	else
		list_wanted(cmd);
	return CMD_WAIT;
}
