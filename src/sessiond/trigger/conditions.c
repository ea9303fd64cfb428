/* SPDX-License-Identifier: GPL-2.0-only */
#include "conditions.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/realtime.h"
#include "firing.h"
#include "increments.h"
#include "proto/counters.h"
#include "sessiond/sessiond.h"
#include "sessiond/state/triggers.h"

#define SECOND_NS 1000000000ull
#define MILLION 1000000u

static bool condition_is_looked_at(enum condition condition)
{
	return condition >= CONDITION_RATE && condition <= CONDITION_CONSUMED;
}

/* --- firing --------------------------------------------------------------------------- */

static void condition_fire(struct conditions *conditions, struct trigger *trigger, uint64_t value)
{
	const struct firing firing = {
		.at_ns = realtime_ns(),
		.value = value,
		.event = *trigger->pattern ? trigger->pattern : NULL,
		.session = *trigger->session ? trigger->session : NULL,
	};

	firing_decided(conditions->sd, trigger, &firing);
}

/* @holds: now. */
static void condition_is(struct conditions *conditions, struct trigger *trigger, bool holds,
			 uint64_t value)
{
	bool changes = holds != trigger->look.held;

	trigger->look.held = holds;
	if (changes && holds)
		condition_fire(conditions, trigger, value);
	else if (changes)
		state_save_triggers_later(conditions->sd);
}

/* --- events ---------------------------------------------------------------------------- */

static struct domain_tracer *conditions_domain(const struct conditions *conditions,
					       enum domain_id id)
{
	return domains_find(&conditions->sd->domains, id);
}

static const struct domain_trigger_ops *conditions_ops(const struct domain_tracer *domain)
{
	return domain->ops->triggers;
}

static uint64_t condition_count(const struct conditions *conditions, const struct trigger *trigger)
{
	struct domain_tracer *domain = conditions_domain(conditions, trigger->domain);

	return conditions_ops(domain)->count(domain, trigger);
}

static void condition_look_at_rate(struct conditions *conditions, struct trigger *trigger)
{
	uint64_t now = loop_now_ns(), since = trigger->look.since_ns;
	uint64_t count = condition_count(conditions, trigger), rate;

	if (now - since < SECOND_NS)
		return;
	rate = (uint64_t)((unsigned __int128)(count - trigger->look.last) * SECOND_NS /
			  (now - since));
	trigger->look.last = count;
	trigger->look.since_ns = now;
	condition_is(conditions, trigger, rate > trigger->threshold, rate);
}

static void condition_look_at_silence(struct conditions *conditions, struct trigger *trigger)
{
	uint64_t now = loop_now_ns();
	uint64_t count = condition_count(conditions, trigger);

	if (count != trigger->look.last) {
		trigger->look.last = count;
		trigger->look.since_ns = now;
	}
	condition_is(conditions, trigger, now - trigger->look.since_ns > trigger->threshold,
		     now - trigger->look.since_ns);
}

/* --- histograms ------------------------------------------------------------------------- */

struct conditions_histogram {
	const struct trigger *trigger;
	uint64_t buckets[LTT_COUNTS_BUCKETS];
	uint64_t count;
};

static void conditions_add_counted(const struct domain_counted *counted, void *data)
{
	struct conditions_histogram *h = data;

	if (strcmp(counted->event, h->trigger->pattern) != 0 || !counted->field ||
	    strcmp(counted->field, h->trigger->key) != 0)
		return;
	for (uint32_t k = 0; k < LTT_COUNTS_BUCKETS; k++) {
		h->buckets[k] += counted->sums.buckets[k];
		h->count += counted->sums.buckets[k];
	}
}

/* The least value that the quantile can have: the begin of its bucket. */
static uint64_t conditions_quantile(const struct conditions_histogram *h)
{
	uint64_t rank = (uint64_t)((unsigned __int128)h->count * h->trigger->quantile / MILLION);
	uint64_t below = 0;

	for (uint32_t k = 0; k < LTT_COUNTS_BUCKETS; k++) {
		below += h->buckets[k];
		if (below > rank)
			return k ? 1ull << (k - 1) : 0;
	}
	return 0;
}

static void condition_look_at_quantile(struct conditions *conditions, struct trigger *trigger,
				       const struct session *session)
{
	struct conditions_histogram h = { .trigger = trigger };
	const struct domain_counted_ops ops = { .counted = conditions_add_counted };
	uint64_t value;

	domains_each_counted(&conditions->sd->domains, session, &ops, &h);
	value = conditions_quantile(&h);
	condition_is(conditions, trigger, h.count && value > trigger->threshold, value);
}

/* --- figures of sessions ------------------------------------------------------------------ */

struct conditions_request {
	struct conditions *conditions;
	uint64_t trigger, session; /* ids */
	void (*done)(void *data);  /* or NULL */
	void *data;
};

/* The greatest usage of a buffer of the channel, in parts of a million. One that lost events was
 * full meanwhile. */
static uint64_t conditions_usage(const struct conditions *conditions, struct trigger *trigger,
				 const struct session *session, const struct stats *stats)
{
	uint64_t most = 0, lost = 0;
	bool lost_more;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct msg_con_stream *s = &stats->streams[i];
		struct domain_ring ring;

		if (!s->size ||
		    !domains_find_ring(&conditions->sd->domains, session, s->ring, &ring) ||
		    ring.channel->domain != trigger->domain ||
		    strcmp(ring.channel->name, trigger->channel) != 0)
			continue;
		most = MAX(most, (uint64_t)((unsigned __int128)s->used * MILLION / s->size));
		lost += s->lost_full;
	}
	lost_more = trigger->look.known && lost > trigger->look.last;
	trigger->look.last = lost;
	return lost_more ? MILLION : most;
}

static void condition_compare_usage(struct conditions *conditions, struct trigger *trigger,
				    uint64_t usage)
{
	bool high = trigger->condition == CONDITION_USAGE_HIGH;
	bool holds = high ? usage >= trigger->threshold : usage <= trigger->threshold;

	if (!high && !trigger->look.known) /* it falls to it, and does not begin there */
		trigger->look.held = holds;
	trigger->look.known = true;
	condition_is(conditions, trigger, holds, usage);
}

static void condition_compare_losses(struct conditions *conditions, struct trigger *trigger,
				     uint64_t lost)
{
	uint64_t more;

	if (!trigger->look.known || lost < trigger->look.last)
		trigger->look.last = lost;
	trigger->look.known = true;
	more = lost - trigger->look.last;
	if (more < trigger->threshold)
		return;
	trigger->look.last = lost;
	condition_fire(conditions, trigger, more);
}

static void condition_compare(struct conditions *conditions, struct trigger *trigger,
			      const struct session *session, const struct stats *stats)
{
	struct msg_con_stream sum = { 0 };

	for (size_t i = 0; i < stats->nr; i++)
		COUNTERS_ADD(&sum, &stats->streams[i]);
	switch (trigger->condition) {
	case CONDITION_LOSSES:
		condition_compare_losses(conditions, trigger,
					 sum.lost_full + sum.lost_size + sum.lost_busy +
						 sum.lost_output + sum.lost_buffers);
		break;
	case CONDITION_CONSUMED:
		condition_is(conditions, trigger, sum.bytes >= trigger->threshold, sum.bytes);
		break;
	default:
		condition_compare_usage(conditions, trigger,
					conditions_usage(conditions, trigger, session, stats));
	}
}

static void conditions_on_figures(void *data, const struct run_result *result)
{
	struct conditions_request *request = data;
	struct conditions *conditions = request->conditions;
	struct trigger *trigger = trigger_by_id(&conditions->sd->triggers, request->trigger);
	const struct session *session =
		session_by_id(&conditions->sd->sessions, request->session);

	if (trigger)
		trigger->look.asking = false;
	if (trigger && session && result->stats->known)
		condition_compare(conditions, trigger, session, result->stats);
	if (request->done)
		request->done(request->data);
	free(request);
}

static struct session *conditions_session(const struct conditions *conditions,
					  const struct trigger *trigger)
{
	const struct caller owner = { trigger->uid, trigger->gid };
	struct err ignored = { 0 };
	struct session *session;

	return session_find(&conditions->sd->sessions, &owner, trigger->session, &session,
			    &ignored) ?
		       NULL :
		       session;
}

static void condition_request(struct conditions *conditions, struct trigger *trigger,
			      const struct session *session, void (*done)(void *data), void *data)
{
	struct conditions_request *request = xalloc(sizeof(*request));

	*request = (struct conditions_request){ conditions, trigger->id, session->id, done, data };
	trigger->look.asking = true;
	run_stats(session->run, conditions_on_figures, request);
}

static void condition_look_at_session(struct conditions *conditions, struct trigger *trigger)
{
	struct session *session = conditions_session(conditions, trigger);

	if (!session || session->state == SESSION_DESTROYING || trigger->look.asking)
		return;
	if (trigger->condition == CONDITION_QUANTILE)
		condition_look_at_quantile(conditions, trigger, session);
	else
		condition_request(conditions, trigger, session, NULL, NULL);
}

bool conditions_first(struct conditions *conditions, struct trigger *trigger,
		      void (*done)(void *data), void *data)
{
	bool has_figures = trigger->condition == CONDITION_LOSSES ||
			   trigger->condition == CONDITION_USAGE_HIGH ||
			   trigger->condition == CONDITION_USAGE_LOW;
	struct session *session = has_figures ? conditions_session(conditions, trigger) : NULL;
	struct domain_tracer *domain = conditions_domain(conditions, trigger->domain);

	if (trigger_is_watched(trigger))
		return conditions_ops(domain)->settle(domain, trigger, done, data);
	if (!session || session->state == SESSION_DESTROYING)
		return false;
	condition_request(conditions, trigger, session, done, data);
	return true;
}

/* --- the timer ---------------------------------------------------------------------------- */

static void condition_look(struct conditions *conditions, struct trigger *trigger)
{
	if (trigger->condition == CONDITION_RATE)
		condition_look_at_rate(conditions, trigger);
	else if (trigger->condition == CONDITION_SILENCE)
		condition_look_at_silence(conditions, trigger);
	else
		condition_look_at_session(conditions, trigger);
}

static void conditions_look(struct loop_timer *timer)
{
	struct conditions *conditions = container_of(timer, struct conditions, look);
	struct trigger *trigger, *next;
	bool any = false;

	list_for_each_safe(trigger, next, &conditions->sd->triggers.list, node) {
		if (!condition_is_looked_at(trigger->condition))
			continue;
		condition_look(conditions, trigger);
		any = true;
	}
	if (any)
		loop_timer_set(&conditions->look, CONDITIONS_US);
}

void conditions_init(struct conditions *conditions, struct sessiond *sd)
{
	conditions->sd = sd;
	ends_init(&conditions->ends, sd);
	loop_timer_init(&conditions->look, sd->loop, conditions_look);
}

void conditions_fini(struct conditions *conditions)
{
	loop_timer_cancel(&conditions->look);
	ends_fini(&conditions->ends);
}

int conditions_check(struct conditions *conditions, const struct trigger_spec *spec, uid_t uid,
		     struct err *err)
{
	struct domain_tracer *domain = conditions_domain(conditions, spec->domain);

	if (spec->condition == CONDITION_SIGNAL)
		return ends_check(&conditions->ends, err);
	return conditions_ops(domain)->check(domain, spec, uid, err);
}

void conditions_begin(struct conditions *conditions, struct trigger *trigger)
{
	struct domain_tracer *domain = conditions_domain(conditions, trigger->domain);

	if (!trigger->look.since_ns)
		trigger->look.since_ns = loop_now_ns();
	if (trigger_is_watched(trigger))
		conditions_ops(domain)->watch(domain, trigger);
	if (trigger->condition == CONDITION_SIGNAL)
		ends_refresh(&conditions->ends);
	if (condition_is_looked_at(trigger->condition) && !conditions->look.at_ns)
		loop_timer_set(&conditions->look, CONDITIONS_US);
}

void conditions_end(struct conditions *conditions, struct trigger *trigger)
{
	struct domain_tracer *domain = conditions_domain(conditions, trigger->domain);

	if (trigger_is_watched(trigger))
		conditions_ops(domain)->unwatch(domain, trigger);
}

void conditions_problem(struct conditions *conditions, const struct trigger *trigger,
			uint32_t *ret_points, char *ret, size_t len)
{
	struct domain_tracer *domain = conditions_domain(conditions, trigger->domain);

	*ret = '\0';
	*ret_points = 0;
	if (condition_is_on_events(trigger->condition)) {
		*ret_points = conditions_ops(domain)->matched(domain, trigger, ret, len);
		increments_problem(conditions->sd, trigger, ret, len);
	} else if (trigger->condition == CONDITION_SIGNAL) {
		*ret_points = ends_matching(&conditions->ends, trigger);
		if (!*ret_points)
			snprintf(ret, len,
				 "waits for its program: no running application has its name");
		else if (ends_lost(&conditions->ends))
			snprintf(ret, len,
				 "more processes were ended by signals at once than the kernel has "
				 "room for (%llu times): ends may be missing",
				 (unsigned long long)ends_lost(&conditions->ends));
	} else if (*trigger->session && !conditions_session(conditions, trigger)) {
		snprintf(ret, len, "waits for its session: there is no session '%.200s'",
			 trigger->session);
	} else if (conditions->sd->triggers_error) {
		snprintf(ret, len, "its counts can't be saved (%s); make room in %.200s",
			 strerror(conditions->sd->triggers_error), conditions->sd->state_dir);
	}
}

void conditions_lost(struct conditions *conditions, const struct trigger *trigger,
		     uint64_t *ret_evicted, uint64_t *ret_unread)
{
	struct domain_tracer *domain = conditions_domain(conditions, trigger->domain);

	*ret_evicted = *ret_unread = 0;
	if (trigger->condition == CONDITION_PAIR)
		conditions_ops(domain)->lost(domain, trigger, ret_evicted, ret_unread);
}

void conditions_module_came(struct conditions *conditions)
{
	struct trigger *trigger;

	list_for_each(trigger, &conditions->sd->triggers.list, node)
		if (trigger->domain == DOMAIN_KERNEL)
			conditions_begin(conditions, trigger);
}

void conditions_rotation(struct conditions *conditions, const struct session *session, bool begun)
{
	enum condition condition = begun ? CONDITION_ROTATION_BEGUN : CONDITION_ROTATION_ENDED;
	struct trigger *trigger, *next;

	list_for_each_safe(trigger, next, &conditions->sd->triggers.list, node)
		if (trigger->condition == condition &&
		    conditions_session(conditions, trigger) == session)
			condition_fire(conditions, trigger, 0);
}
