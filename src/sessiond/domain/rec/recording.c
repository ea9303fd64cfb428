/* SPDX-License-Identifier: GPL-2.0-only */
#include "recording.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

uint64_t recorder_next_turn(const struct recorder *recorder, uint64_t begin_ns)
{
	uint64_t end_ns = loop_now_ns();

	return end_ns - begin_ns >= recorder->long_ns ? end_ns + (end_ns - begin_ns) : end_ns;
}

static void wanted_enough(struct loop_timer *timer)
{
	struct recording *rec = container_of(timer, struct recording, enough);

	rec->ops->wanted_done(rec);
}

void recording_init(struct recording *rec, const struct recording_ops *ops,
		    struct recorder *recorder, enum domain_id domain, struct session *session,
		    const struct clock_facts *clock)
{
	list_init(&rec->node);
	list_init(&rec->traces);
	list_init(&rec->finals);
	loop_timer_init(&rec->enough, recorder->config.loop, wanted_enough);
	loop_timer_init(&rec->metadata_save, recorder->config.loop, traces_save_metadata_sizes);
	rec->ops = ops;
	rec->recorder = recorder;
	rec->consumer = recorder->config.consumer(session, domain);
	rec->domain = domain;
	rec->session = session;
	rec->clock = clock;
}

void recording_fini(struct recording *rec)
{
	struct trace *trace, *next;

	consumer_forget(rec->consumer, rec);
	list_for_each_safe(trace, next, &rec->traces, node)
		trace_free(trace);
	loop_timer_cancel(&rec->enough);
	loop_timer_cancel(&rec->metadata_save);
	notes_free(rec);
	list_remove(&rec->node);
}

struct recording *recording_find(struct domain_tracer *domain, const struct session *session)
{
	struct recording *rec;

	list_for_each(rec, &domain->recordings, node)
		if (rec->session == session)
			return rec;
	return NULL;
}

void recording_saved(struct recording *rec)
{
	uint64_t begin_ns = loop_now_ns();

	if (!rec->recorder->config.save)
		return;
	rec->recorder->config.save(rec->session);
	rec->recorder->save_turn_ns = recorder_next_turn(rec->recorder, begin_ns);
}

void recording_problem(struct recording *rec, enum trouble trouble, enum err_code code,
		       const char *what, const char *text)
{
	char sentence[256];

	snprintf(sentence, sizeof(sentence), "%s: %s", what, text);
	if (!rec->problem.code)
		err_set(&rec->problem, code, "%s", sentence);
	rec->recorder->config.trouble(rec->session, trouble, sentence);
}

void recording_begin(struct recording *rec)
{
	struct trace *trace, *next_trace;
	struct trace_channel *trace_channel;
	struct ring *ring, *next;

	memset(&rec->problem, 0, sizeof(rec->problem));
	rec->recorder->config.trouble(rec->session, TROUBLE_BUFFERS, "");
	rec->recorder->config.trouble(rec->session, TROUBLE_ADOPTION, "");
	rec->recorder->config.trouble(rec->session, TROUBLE_PROGRAMS, "");
	if (rec->domain == DOMAIN_USER)
		rec->recorder->config.trouble(rec->session, TROUBLE_DAMAGE, "");
	list_for_each_safe(trace, next_trace, &rec->traces, node) {
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each_safe(ring, next, &trace_channel->rings, node)
				if (ring->state == RING_FAILED)
					ring_drop(ring);
		if (trace->state == TRACE_FAILED)
			trace_free(trace);
		else
			trace_readopt(trace);
	}
	if (*rec->session->troubles[TROUBLE_NAMES])
		list_for_each(trace, &rec->traces, node)
			trace_send_kallsyms(trace);
}

void recording_retry(struct domain_tracer *domain, struct session *session)
{
	struct recording *rec = recording_find(domain, session);
	struct trace *trace;

	if (!rec)
		return;
	list_for_each(trace, &rec->traces, node)
		trace_retry(trace);
	if (!session_is_writable(session, rec->domain))
		rec->ops->metadata_done(rec);
}

void recording_adopt(struct domain_tracer *domain, struct session *session,
		     const struct consumer *consumer)
{
	struct recording *rec = recording_find(domain, session);
	struct trace *trace;
	struct trace_channel *trace_channel;
	struct ring *ring, *next;

	if (!rec || rec->consumer != consumer)
		return;
	list_for_each(trace, &rec->traces, node) {
		trace_adopt(trace);
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each_safe(ring, next, &trace_channel->rings, node)
				ring_adopt(ring);
	}
	rings_enable(rec, rec->recording);
}

void recording_keep(struct domain_tracer *domain, struct session *session)
{
	struct recording *rec = recording_find(domain, session);
	struct trace *trace;
	struct trace_channel *trace_channel;
	struct ring *ring;

	if (!rec)
		return;
	list_for_each(trace, &rec->traces, node) {
		trace_keep(trace);
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node)
				ring_keep(ring);
	}
}

void recording_clock_remark(struct domain_tracer *domain, struct session *session,
			    const char *remark)
{
	struct recording *rec = recording_find(domain, session);
	struct trace *trace;

	if (!rec)
		return;
	list_for_each(trace, &rec->traces, node)
		trace_remark(trace, xstrdup(remark));
}
