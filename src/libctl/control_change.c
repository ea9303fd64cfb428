/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control_change.c - calls of ltt/control.h that change sessions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "calls.h"
#include "control.h"
#include "creation.h"

/* --- create --------------------------------------------------------------------------- */

static int control_check_create(struct ltt_ctl *ctl, const struct ltt_ctl_create_options *o)
{
	if (control_check_enum(ctl, CONTROL_SYNC, o->sync) != 0 ||
	    control_check_enum(ctl, CONTROL_TRACE_FORMAT, o->trace_format) != 0)
		return ctl->err.code;
	if (!!o->output + !!o->url + !!o->no_output > 1)
		return err_set(&ctl->err, ERR_INVALID,
			       "output, url and no_output exclude each other");
	if (o->live_us && (o->output || o->no_output))
		return err_set(&ctl->err, ERR_INVALID,
			       "live_us needs a relay; output and no_output have none");
	if (o->live_us && o->live_us < LIVE_MIN_US)
		return err_set(&ctl->err, ERR_INVALID, "live_us is %u; %u is the least", o->live_us,
			       LIVE_MIN_US);
	if ((o->spool_size || o->compress || o->relay_clear) && !o->url && !o->live_us)
		return err_set(&ctl->err, ERR_INVALID,
			       "spool_size, compress and relay_clear need a url");
	if (o->snapshots && (o->url || o->live_us))
		return err_set(&ctl->err, ERR_INVALID,
			       "snapshots are sent to a relay by ltt_ctl_set_snapshot_output(): "
			       "omit url and live_us");
	if (o->data_url && !o->url)
		return err_set(&ctl->err, ERR_INVALID, "data_url needs a url");
	if (o->data_url && url_same_host(o->url, o->data_url, &ctl->err) != 0)
		return ctl->err.code;
	if ((o->sync == LTT_CTL_SYNC_PERIOD) != (o->sync_us != 0))
		return err_set(&ctl->err, ERR_INVALID,
			       "sync_us belongs to LTT_CTL_SYNC_PERIOD, and is not 0 then");
	return 0;
}

static void control_warn_relay(struct ltt_ctl *ctl, const struct relay_url *relay)
{
	if (relay->unknown)
		control_warn(
			ctl,
			"can't resolve the relay's host '%s' now (%s): recorded data goes to the "
			"spool",
			relay->host, relay->unknown);
	if (relay->away)
		control_warn(ctl, "no relay answers at %s now: recorded data goes to the spool",
			     relay->text);
}

/* @relayd: NULL: the installed one. */
static int control_make(struct ltt_ctl *ctl, struct creation *c, const char *relayd)
{
	char *installed AUTO_FREE = NULL;

	if (c->asked->live_us && !c->asked->url && !relayd) {
		relayd = installed = control_installed(ctl, "ltt-relayd");
		if (!relayd)
			return ctl->err.code;
	}
	if (creation_prepare(c, relayd, &ctl->err) != 0)
		return ctl->err.code;
	control_warn_relay(ctl, &c->relay);
	return creation_make(c, ctl->client, &ctl->err);
}

/* The directory of a new session is remembered in place of the last one's. Without memory for its
 * path it would be emptied, and stay. */
static void control_keep_made(struct ltt_ctl *ctl, struct outdir *dir)
{
	outdir_fini(&ctl->made);
	ctl->made = *dir;
	ctl->made.path = dir->path ? strdup(dir->path) : NULL;
	dir->fd = -1;
}

void ltt_ctl_discard(struct ltt_ctl *ctl)
{
	outdir_remove(&ctl->made);
	outdir_fini(&ctl->made);
}

int ltt_ctl_create(struct ltt_ctl *ctl, const struct ltt_ctl_create_options *create,
		   char **ret_name, char **ret_output)
{
	struct ltt_ctl_create_options o;
	struct creation c CLEANUP(creation_fini) = CREATION_INIT(&o);
	char *output AUTO_FREE = NULL;

	if (control_begin(ctl) != 0)
		return ctl->err.code;
	ltt_ctl_create_options_init(&o);
	if (create && control_take(ctl, create, &o, sizeof(o)) != 0)
		return ctl->err.code;
	if (control_check_create(ctl, &o) != 0)
		return ctl->err.code;
	output = malloc(sizeof(c.relay.text)); /* before there is a session */
	if (!output)
		return err_memory(&ctl->err);
	if (control_make(ctl, &c, o.relayd_path) != 0)
		return control_failed(ctl);
	control_keep_made(ctl, &c.dir);
	snprintf(output, sizeof(c.relay.text), "%s", c.relay.text);
	if (!*c.relay.addr && c.dir.path) {
		free(output);
		output = TAKE(c.dir.path);
	}
	if (ret_output)
		*ret_output = TAKE(output);
	if (ret_name)
		*ret_name = TAKE(c.session);
	return 0;
}

/* --- channels and rules ------------------------------------------------------------------ */

int ltt_ctl_enable_channel(struct ltt_ctl *ctl, const struct ltt_ctl_channel_options *channel)
{
	struct ltt_ctl_channel_options o;
	struct req_channel_enable req;
	struct rep_channel_enable rep;

	if (control_begin(ctl) != 0 || control_take(ctl, channel, &o, sizeof(o)) != 0 ||
	    control_check_given(ctl, o.session, "the session of the channel") != 0 ||
	    control_check_given(ctl, o.name, "the name of the channel") != 0 ||
	    control_check_enum(ctl, CONTROL_DOMAIN, o.domain) != 0 ||
	    control_check_enum(ctl, CONTROL_OWNER, o.ownership) != 0 ||
	    control_check_enum(ctl, CONTROL_OUTPUT_TYPE, o.output_type) != 0)
		return ctl->err.code;
	if (o.tracefile_count && !o.tracefile_size)
		return err_set(&ctl->err, ERR_INVALID,
			       "tracefile_count needs tracefile_size: files without a size are "
			       "never full");
	req = (struct req_channel_enable){
		.session = o.session,
		.domain = (uint8_t)o.domain,
		.name = o.name,
#define ASKED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))(MODEL_TYPE_##type)o.name,
#include "model/channel.def"
	};
	req.overwrite = o.overwrite ? CHANNEL_OVERWRITE :
			o.discard   ? CHANNEL_DISCARD :
				      CHANNEL_DEFAULT;
	if (call_channel_enable(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	if (rep.tracefile_size > o.tracefile_size)
		control_warn(ctl,
			     "trace files of %llu bytes can't hold a buffer; their size is set to "
			     "%llu",
			     (unsigned long long)o.tracefile_size,
			     (unsigned long long)rep.tracefile_size);
	if (*rep.unspliced)
		control_warn(ctl, "channel '%s' is written and sent without splice(): %s", o.name,
			     rep.unspliced);
	return 0;
}

int ltt_ctl_disable_channel(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			    const char *channel)
{
	struct req_channel_disable req = { .session = session,
					   .domain = (uint8_t)domain,
					   .name = channel };
	struct rep_channel_disable rep;

	if (control_begin(ctl) != 0 ||
	    control_check_given(ctl, session, "the session of the channel") != 0 ||
	    control_check_given(ctl, channel, "the name of the channel") != 0 ||
	    control_check_enum(ctl, CONTROL_DOMAIN, domain) != 0)
		return ctl->err.code;
	if (call_channel_disable(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	return 0;
}

static int control_check_event(struct ltt_ctl *ctl, const struct ltt_ctl_event_options *o)
{
	bool is_place = o->kind == LTT_CTL_RULE_USER;

	if (control_check_given(ctl, o->session, "the session of the event rule") != 0 ||
	    control_check_given(ctl, o->pattern, "the pattern of the event rule") != 0 ||
	    control_check_enum(ctl, CONTROL_DOMAIN, o->domain) != 0 ||
	    control_check_enum(ctl, CONTROL_LEVEL_TYPE, o->loglevel_type) != 0 ||
	    control_check_enum(ctl, CONTROL_RULE_KIND, o->kind) != 0)
		return ctl->err.code;
	if (!is_place && (o->file || o->places))
		return err_set(&ctl->err, ERR_INVALID,
			       "file and places belong to LTT_CTL_RULE_USER");
	if (is_place && (control_check_given(ctl, o->file, "the file of the places") != 0 ||
			 control_check_given(ctl, o->places, "the list of places") != 0))
		return ctl->err.code;
	return 0;
}

int ltt_ctl_enable_event(struct ltt_ctl *ctl, const struct ltt_ctl_event_options *event,
			 char *ret_channel, uint32_t *ret_points)
{
	struct ltt_ctl_event_options o;
	struct req_event_enable req;
	struct rep_event_enable rep;

	if (control_begin_outcome(ctl) != 0 || control_take(ctl, event, &o, sizeof(o)) != 0 ||
	    control_check_event(ctl, &o) != 0)
		return ctl->err.code;
	req = (struct req_event_enable){
		.session = o.session,
		.domain = (uint8_t)o.domain,
		.channel = o.channel,
#define ASKED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))(MODEL_TYPE_##type)o.name,
#include "model/rule.def"
		.more = o.more != 0,
		.nearest = o.nearest != 0,
	};
	if (call_event_enable(ctl->client, &req, control_outcome_item, ctl, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	ctl->outcome->nearest = pool_str(pool_of(ctl->outcome), rep.nearest);
	control_outcome_problem(ctl, rep.problem);
	if (*rep.problem)
		control_warn(ctl, "session '%s': %s", o.session, rep.problem);
	if (ret_channel)
		snprintf(ret_channel, LTT_CTL_NAME_BYTES, "%s", rep.channel);
	if (ret_points)
		*ret_points = rep.points;
	return 0;
}

int ltt_ctl_disable_event(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			  const char *channel, const char *pattern)
{
	struct req_event_disable req = { .session = session,
					 .domain = (uint8_t)domain,
					 .channel = channel,
					 .pattern = pattern ? pattern : "*",
					 .all = !pattern };
	struct rep_event_disable rep;

	if (control_begin(ctl) != 0 ||
	    control_check_given(ctl, session, "the session of the event rule") != 0 ||
	    control_check_enum(ctl, CONTROL_DOMAIN, domain) != 0)
		return ctl->err.code;
	if (call_event_disable(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	return 0;
}

int ltt_ctl_add_context(struct ltt_ctl *ctl, const char *session, enum ltt_ctl_domain domain,
			const char *channel, const char *type, uint32_t *ret_channels)
{
	struct req_context_add req = {
		.session = session, .domain = (uint8_t)domain, .channel = channel, .type = type
	};
	struct rep_context_add rep;

	if (control_begin(ctl) != 0 ||
	    control_check_given(ctl, session, "the session of the context") != 0 ||
	    control_check_given(ctl, type, "the type of the context") != 0 ||
	    control_check_enum(ctl, CONTROL_DOMAIN, domain) != 0)
		return ctl->err.code;
	if (call_context_add(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	if (ret_channels)
		*ret_channels = rep.channels;
	return 0;
}

/* --- tracking ------------------------------------------------------------------------------- */

#define CONTROL_IDS_BYTES 40960u /* of a message; more ids than a daemon takes */

static int control_check_track(struct ltt_ctl *ctl, const struct ltt_ctl_track_options *o)
{
	bool with_ids = o->op == LTT_CTL_TRACK_ADD || o->op == LTT_CTL_TRACK_REMOVE;

	if (control_check_enum(ctl, CONTROL_DOMAIN, o->domain) != 0 ||
	    control_check_enum(ctl, CONTROL_TRACK_KIND, o->kind) != 0 ||
	    control_check_enum(ctl, CONTROL_TRACK_OP, o->op) != 0)
		return ctl->err.code;
	if (!with_ids && o->nr_ids)
		return err_set(&ctl->err, ERR_INVALID,
			       "ids belong to LTT_CTL_TRACK_ADD and LTT_CTL_TRACK_REMOVE");
	return control_check_given(ctl, o->session, "the session of the ids");
}

/* Return: 0 or the code in ctl->err. */
static int control_encode_ids(struct ltt_ctl *ctl, const struct ltt_ctl_track_options *o,
			      struct encoder *enc)
{
	for (size_t i = 0; i < o->nr_ids; i++) {
		const struct msg_track_id item = { o->ids[i] };

		msg_track_id_add(enc, &item);
		if (encoder_finish(enc) < 0)
			return err_set(&ctl->err, ERR_LIMIT, "too many ids");
	}
	return 0;
}

int ltt_ctl_track(struct ltt_ctl *ctl, const struct ltt_ctl_track_options *track,
		  uint32_t *ret_changed)
{
	uint8_t *buf AUTO_FREE = NULL;
	struct ltt_ctl_track_options o;
	struct req_track req;
	struct rep_track rep;
	struct encoder enc;

	if (control_begin(ctl) != 0 || control_take(ctl, track, &o, sizeof(o)) != 0 ||
	    control_check_track(ctl, &o) != 0)
		return ctl->err.code;
	buf = malloc(CONTROL_IDS_BYTES);
	if (!buf)
		return err_memory(&ctl->err);
	encoder_init(&enc, buf, CONTROL_IDS_BYTES);
	if (control_encode_ids(ctl, &o, &enc) != 0)
		return ctl->err.code;
	req = (struct req_track){
		.session = o.session,
		.domain = (uint8_t)o.domain,
		.kind = (uint8_t)o.kind,
		.op = (uint8_t)o.op,
		.ids = encoder_list(&enc),
	};
	if (call_track(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	if (ret_changed)
		*ret_changed = rep.changed;
	return 0;
}

/* --- start, regenerate, flush, stop, destroy ------------------------------------------------ */

int ltt_ctl_start(struct ltt_ctl *ctl, const char *session, uint32_t *ret_applications)
{
	struct req_session_start req = { .session = session };
	struct rep_session_start rep;

	if (control_begin_outcome(ctl) != 0)
		return ctl->err.code;
	if (call_session_start(ctl->client, &req, control_outcome_item, ctl, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	ctl->outcome->late = rep.late;
	control_outcome_problem(ctl, rep.problem);
	if (rep.late)
		control_warn(ctl,
			     "session '%s': %u of %u applications have not answered within a "
			     "second; they record as soon as they do",
			     session, rep.late, rep.apps);
	if (*rep.problem)
		control_warn(ctl, "session '%s': %s", session, rep.problem);
	if (ret_applications)
		*ret_applications = rep.apps;
	return 0;
}

int ltt_ctl_regenerate(struct ltt_ctl *ctl, const char *session, uint32_t *ret_channels,
		       uint32_t *ret_applications, uint32_t *ret_late)
{
	struct req_statedump req = { .session = session };
	struct rep_statedump rep;

	if (control_begin(ctl) != 0 ||
	    control_check_given(ctl, session, "the session of the state") != 0)
		return ctl->err.code;
	if (call_statedump(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	if (rep.late)
		control_warn(ctl, "%u application%s not dumped its state yet", rep.late,
			     rep.late == 1 ? " has" : "s have");
	if (ret_channels)
		*ret_channels = rep.channels;
	if (ret_applications)
		*ret_applications = rep.applications;
	if (ret_late)
		*ret_late = rep.late;
	return 0;
}

int ltt_ctl_flush(struct ltt_ctl *ctl, const char *session, uint64_t *ret_spooled)
{
	struct req_flush req = { .session = session };
	struct rep_flush rep;

	if (control_begin(ctl) != 0 ||
	    control_check_given(ctl, session, "the session to flush") != 0)
		return ctl->err.code;
	if (call_flush(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	if (rep.spooled)
		control_warn(ctl,
			     "session '%s': %" PRIu64 " bytes wait in its spool until the relay "
			     "receives them",
			     session, rep.spooled);
	if (ret_spooled)
		*ret_spooled = rep.spooled;
	return 0;
}

int ltt_ctl_reclaim_memory(struct ltt_ctl *ctl, const char *session, const char *channel,
			   uint64_t age_us, unsigned int flags, uint64_t *ret_bytes)
{
	struct req_memory_reclaim req = { .session = session,
					  .channel = channel ? channel : "",
					  .age_us = age_us,
					  .no_wait = flags & LTT_CTL_NO_WAIT };
	struct rep_memory_reclaim rep;

	if (control_begin(ctl) != 0 || control_check_flags(ctl, flags, LTT_CTL_NO_WAIT) != 0 ||
	    control_check_given(ctl, session, "the session of the buffers") != 0)
		return ctl->err.code;
	if (call_memory_reclaim(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0)
		return control_failed(ctl);
	if (rep.left)
		control_warn(ctl,
			     "session '%s': %u buffers keep their memory: of programs without "
			     "restartable sequences, or of CPUs on which the consumer can't run",
			     session, rep.left);
	if (ret_bytes)
		*ret_bytes = rep.bytes;
	return 0;
}

/* The result of stop and destroy. Consumes @totals. */
static int control_conclude(struct ltt_ctl *ctl, struct ltt_ctl_totals *totals, struct list list,
			    const char *problem, struct ltt_ctl_totals **ret_totals)
{
	struct msg_totals m;

	control_outcome_problem(ctl, problem);
	if (*problem)
		control_warn(ctl, "%s", problem);
	if (msg_totals_next(&list, &m)) {
		control_fill_totals(totals, &m);
	} else {
		free(totals);
		totals = NULL;
	}
	if (ret_totals)
		*ret_totals = totals;
	else
		free(totals);
	return 0;
}

static int control_check_end(struct ltt_ctl *ctl, unsigned int flags)
{
	if (control_begin_outcome(ctl) != 0)
		return ctl->err.code;
	return control_check_flags(ctl, flags, LTT_CTL_NO_WAIT);
}

int ltt_ctl_stop(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		 struct ltt_ctl_totals **ret_totals)
{
	struct req_session_stop req = { .session = session, .no_wait = flags & LTT_CTL_NO_WAIT };
	struct ltt_ctl_totals *totals;
	struct rep_session_stop rep;

	if (control_check_end(ctl, flags) != 0)
		return ctl->err.code;
	totals = calloc(1, sizeof(*totals)); /* before anything changes */
	if (!totals)
		return err_memory(&ctl->err);
	if (call_session_stop(ctl->client, &req, control_outcome_item, ctl, &rep, &ctl->err) != 0) {
		free(totals);
		return control_failed(ctl);
	}
	return control_conclude(ctl, totals, rep.totals, rep.problem, ret_totals);
}

int ltt_ctl_destroy(struct ltt_ctl *ctl, const char *session, unsigned int flags,
		    struct ltt_ctl_totals **ret_totals)
{
	struct req_session_destroy req = { .session = session, .no_wait = flags & LTT_CTL_NO_WAIT };
	struct ltt_ctl_totals *totals;
	struct rep_session_destroy rep;

	if (control_check_end(ctl, flags) != 0)
		return ctl->err.code;
	totals = calloc(1, sizeof(*totals));
	if (!totals)
		return err_memory(&ctl->err);
	if (call_session_destroy(ctl->client, &req, NULL, NULL, &rep, &ctl->err) != 0) {
		free(totals);
		return control_failed(ctl);
	}
	return control_conclude(ctl, totals, rep.totals, rep.problem, ret_totals);
}

void ltt_ctl_totals_free(struct ltt_ctl_totals *totals)
{
	free(totals);
}
