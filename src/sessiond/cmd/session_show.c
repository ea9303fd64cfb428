/* SPDX-License-Identifier: GPL-2.0-only */
/* session_show: a session, its channels, their rules and conflicts. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TRACKED_BYTES (16u * TRACKER_MAX) /* of all ids of one kind */
#define PRODUCED_MAX 1024u
#define PRODUCED_BYTES (32u * PRODUCED_MAX)

struct usage {
	uint64_t owner, used, size;
};

/* The fullest owner's sums, and the memory of all. */
static void fill_usage(const struct stats *stats, struct command *cmd, struct session *session,
		       const struct channel *channel, struct msg_channel *item)
{
	struct usage *owners = xalloc((stats->nr + 1) * sizeof(*owners));
	struct domain_ring ring;
	size_t nr = 0, at;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct msg_con_stream *s = &stats->streams[i];

		if (!domains_find_ring(&cmd->sd->domains, session, s->ring, &ring) ||
		    ring.channel != channel || !ring.open)
			continue;
		/* streams of one owner mostly follow one another */
		for (at = nr; at > 0 && owners[at - 1].owner != ring.owner; at--)
			;
		if (at == 0)
			owners[(at = ++nr) - 1].owner = ring.owner;
		owners[at - 1].used += s->used;
		owners[at - 1].size += s->size;
		item->memory += s->memory;
	}
	for (at = 0; at < nr; at++) {
		if (at && owners[at].used <= item->used)
			continue;
		item->used = owners[at].used;
		item->size = owners[at].size;
	}
	free(owners);
}

static void fill_produced(const struct stats *stats, struct command *cmd, struct session *session,
			  const struct channel *channel, uint8_t *buf, struct msg_channel *item)
{
	struct domain_ring ring;
	struct encoder enc;
	size_t nr = 0;

	encoder_init(&enc, buf, PRODUCED_BYTES);
	for (size_t i = 0; i < stats->nr && nr < PRODUCED_MAX; i++) {
		const struct msg_con_stream *s = &stats->streams[i];
		const struct msg_produced produced = { s->ring, s->cpu, s->produced };

		if (!domains_find_ring(&cmd->sd->domains, session, s->ring, &ring) ||
		    ring.channel != channel || !ring.open)
			continue;
		msg_produced_add(&enc, &produced);
		nr++;
	}
	item->produced = encoder_list(&enc);
}

static void session_show_rules(struct command *cmd, struct session *session,
			       const struct channel *channel)
{
	struct domain_tracer *tracer = command_tracer(cmd, (uint8_t)channel->domain);
	const struct rule *rule;

	list_for_each(rule, &channel->rules, node) {
		uint32_t never;
		struct domain_files files = { rule->places, "" };
		char *behind = "";
		uint32_t points = tracer->ops->count_points(tracer, session, rule, &never);
		struct msg_rule item = {
#define SHOWN(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))rule->name,
#include "model/rule.def"
			.points = points,
			.points_never = never,
		};

		if (*rule->places && tracer->ops->find_files)
			tracer->ops->find_files(tracer, session, rule, &files);
		if (*files.places) /* DEVICE,INODE,... */
			item.file_device = strtoull(files.places, &behind, 10);
		if (*behind == ',')
			item.file_inode = strtoull(behind + 1, NULL, 10);
		item.earlier_files = files.earlier;
		item_rule(cmd, &item);
	}
}

static void show_channel(struct command *cmd, struct session *session, struct channel *channel,
			 const struct stats *stats)
{
	AUTO_FREE uint8_t *produced = session->snapshots ? xalloc(PRODUCED_BYTES) : NULL;
	uint8_t buf[TOTALS_BYTES];
	struct msg_totals totals;
	struct msg_channel item = {
		.name = channel->name,
		.domain = channel->domain,
#define SHOWN(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))channel->name,
#include "model/channel.def"
	};

	fill_usage(stats, cmd, session, channel, &item);
	if (produced)
		fill_produced(stats, cmd, session, channel, produced, &item);
	if (stats->known) {
		stats_totals(stats, &cmd->sd->domains, session, channel, &totals);
		item.totals = totals_list(&totals, buf);
	}
	item_channel(cmd, &item);
	session_show_rules(cmd, session, channel);
	items_of_conflicts(cmd, session, channel, NULL);
	items_of_refusals(cmd, session, channel, NULL);
}

static void show_tracked(struct command *cmd, const struct session *session, enum domain_id domain,
			 uint8_t kind, uint8_t *buf)
{
	const struct tracker *tracker = &session->trackers[domain][kind];
	struct msg_tracked item = { .domain = (uint8_t)domain, .kind = kind };
	struct encoder enc;

	if (!tracker->limited)
		return;
	encoder_init(&enc, buf, TRACKED_BYTES);
	for (uint32_t i = 0; i < tracker->nr; i++) {
		const struct msg_track_id id = { tracker->ids[i] };

		msg_track_id_add(&enc, &id);
	}
	item.ids = encoder_list(&enc);
	item_tracked(cmd, &item);
}

static void session_show_trackers(struct command *cmd, const struct session *session)
{
	AUTO_FREE uint8_t *buf = xalloc(TRACKED_BYTES);

	for (uint8_t kind = 0; kind < TRACK_NR_KINDS; kind++)
		show_tracked(cmd, session, DOMAIN_KERNEL, kind, buf);
	for (uint8_t kind = 0; kind < TRACK_NR_KINDS; kind++)
		show_tracked(cmd, session, DOMAIN_USER, kind, buf);
}

static void session_show_facts(void *data, const struct run_result *result)
{
	struct command *cmd = data;
	struct session *session = command_session(cmd);
	struct rep_session_show rep;
	struct channel *channel;

	if (!session) {
		command_error(cmd, ERR_NO_SESSION, "the session has just been destroyed");
		command_fail(cmd);
		return;
	}
	item_of_session(cmd, session, result->stats);
	session_show_trackers(cmd, session);
	list_for_each(channel, &session->channels, node)
		show_channel(cmd, session, channel, result->stats);
	reply_session_show(cmd, &rep);
}

int cmd_session_show(struct command *cmd, struct req_session_show *req,
		     struct rep_session_show *rep)
{
	(void)req, (void)rep;
	run_stats(cmd->session->run, session_show_facts, cmd);
	return CMD_WAIT;
}
