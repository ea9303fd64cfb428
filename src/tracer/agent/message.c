/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "message.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "announce.h"
#include "buffers.h"
#include "channels.h"
#include "counts.h"
#include "fired.h"
#include "tracer/base/env.h"
#include "link.h"
#include "points.h"
#include "tracer/base/sys.h"
#include "thread.h"
#include "traces.h"
#include "proto/app.h"
#include "tracer/ring/admit.h"
#include "tracer/ring/context.h"
#include "tracer/ring/prepare.h"
#include "tracer/ring/ring.h"
#include "tracer/site/site.h"
#include "tracer/statedump/statedump.h"

/* --- messages to the daemon ------------------------------------------------------------------ */

static void agent_message_begin(struct agent_link *link, struct encoder *enc, uint16_t type)
{
	encoder_init(enc, link->tx, MSG_MAX_BYTES);
	encode_header(enc, type, 0, 0);
}

/* The name of the process: this thread's own is another. */
static void read_procname(char *ret_name, size_t size)
{
	int fd = sys_open("/proc/self/comm", O_RDONLY);
	ssize_t len = fd >= 0 ? sys_read(fd, ret_name, size - 1) : 0;

	sys_close(fd);
	ret_name[len > 0 ? len : 0] = '\0';
	ret_name[strcspn(ret_name, "\n")] = '\0';
	if (!ret_name[0])
		strncat(ret_name, program_invocation_short_name, size - 1);
}

void agent_send_hello(struct agent_link *link)
{
	uint32_t ids[CONTEXT_NR_IDS];
	char procname[32];
	struct timespec now;
	struct msg_app_hello m = {
		.abi = LTT_SITE_ABI,
		.features = APP_FEATURE_TRIGGERS,
		.pid = (uint32_t)getpid(),
		.procname = procname,
		.producer = (uint8_t)ring_producer(),
		.bits = 8 * sizeof(void *),
		.scopes = tracer_env.scopes,
	};
	struct encoder enc;

	read_procname(procname, sizeof(procname));
	context_ids(ids);
	m.vuid = ids[0];
	m.vgid = ids[CONTEXT_NR_IDS / 2];
	if (agent_buffers_any(link->index))
		m.recorded = link->answered ? link->answered : 1; /* no point has a lower id */
	clock_gettime(CLOCK_REALTIME, &now);
	m.start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	link->sent_producer = m.producer;
	agent_message_begin(link, &enc, MSG_app_hello);
	msg_app_hello_encode(&enc, &m);
	agent_link_send(link, &enc);
}

static void send_producer(struct agent_link *link)
{
	struct msg_app_producer m = { .producer = (uint8_t)ring_producer() };
	struct encoder enc;

	link->sent_producer = m.producer;
	agent_message_begin(link, &enc, MSG_app_producer);
	msg_app_producer_encode(&enc, &m);
	agent_link_send(link, &enc);
}

static void send_silence(struct agent_link *link, struct agent_silence now)
{
	struct msg_app_silent m = { .silence = now.silence, .reason = now.reason };
	struct encoder enc;

	agent_message_begin(link, &enc, MSG_app_silent);
	msg_app_silent_encode(&enc, &m);
	agent_link_send(link, &enc);
	__atomic_store(&link->sent_silence, &now, __ATOMIC_RELEASE);
}

static void send_begun(struct agent_link *link, int64_t begun_ms)
{
	struct msg_app_begun m = { .ago_ms = (uint64_t)(agent_now_ms() - begun_ms),
				   .first = __atomic_load_n(&link->begun_first, __ATOMIC_RELAXED) };
	struct encoder enc;

	agent_message_begin(link, &enc, MSG_app_begun);
	msg_app_begun_encode(&enc, &m);
	agent_link_send(link, &enc);
	link->sent_begun = begun_ms;
}

static void send_channels(struct agent_link *link)
{
	struct encoder enc;

	agent_message_begin(link, &enc, MSG_app_channels);
	link->sent_channels = agent_channels_encode(&enc);
	agent_link_send(link, &enc);
}

static void send_sync_done(struct agent_link *link, uint32_t serial)
{
	struct msg_app_synced m = { .serial = serial };
	struct encoder enc;

	agent_message_begin(link, &enc, MSG_app_synced);
	msg_app_synced_encode(&enc, &m);
	agent_link_send(link, &enc);
}

bool agent_send_news(struct agent_link *link)
{
	struct agent_silence silence = agent_links_silence();
	int64_t begun_ms = __atomic_load_n(&link->begun_ms, __ATOMIC_ACQUIRE);
	uint32_t before = link->announced;
	struct encoder enc;

	if (begun_ms && link->sent_begun != begun_ms) {
		send_begun(link, begun_ms);
		return true;
	}
	if (link->sent_silence.silence != silence.silence) {
		send_silence(link, silence);
		return true;
	}
	if (link->sent_producer != ring_producer()) {
		send_producer(link);
		return true;
	}
	if (link->sent_channels != agent_channels_generation()) {
		send_channels(link);
		return true;
	}
	agent_message_begin(link, &enc, MSG_app_points_remove);
	if (agent_announce_gone(link->index, &enc)) {
		agent_link_send(link, &enc);
		return true;
	}
	agent_message_begin(link, &enc, MSG_app_points_add);
	if (!agent_announce_points(link->index, link->unanswered, &link->announced, &enc))
		return false;
	if (link->announced != before) {
		link->unanswered = true;
		link->announced_begun = link->sent_begun;
	}
	agent_link_send(link, &enc);
	return true;
}

/* --- messages from the daemon --------------------------------------------------------------- */

static int on_welcome(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_welcome m;

	if (msg_app_welcome_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	if (link->has_instance && link->instance != m.instance) {
		agent_buffers_forget(link->index);
		agent_counts_forget(link->index);
		agent_fired_forget(link->index);
		__atomic_store_n(&link->answered, 0, __ATOMIC_RELAXED);
	}
	link->instance = m.instance;
	link->has_instance = true;
	agent_unlock();
	agent_traces_report();
	agent_buffers_reap();
	agent_counts_reap();
	return 0;
}

static void send_buffer_failed(struct agent_link *link, uint64_t ring, int err)
{
	struct msg_app_buffer_failed m = { .ring = ring, .error = (uint32_t)-err };
	struct encoder enc;

	tracer_debug("can't use buffer %llu: %s", (unsigned long long)ring, strerror(-err));
	agent_message_begin(link, &enc, MSG_app_buffer_failed);
	msg_app_buffer_failed_encode(&enc, &m);
	agent_link_send(link, &enc);
}

static int on_buffer(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_buffer m;
	int err;

	if (msg_app_buffer_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	err = agent_buffer_add(link->index, link->round, &m);
	agent_unlock();
	sys_close(m.data);
	sys_close(m.ctl);
	sys_close(m.doorbell);
	agent_buffers_reap();
	if (err)
		send_buffer_failed(link, m.ring, err);
	return 0;
}

/* Sent whether the ring set exists or not: the daemon waits for an answer. */
static int on_buffer_want(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_buffer_offer offer = { .data = -1, .ctl = -1 };
	struct msg_app_buffer_want m;
	struct encoder enc;

	if (msg_app_buffer_want_decode(dec, &m) < 0)
		return -EBADMSG;
	offer.ring = m.ring;
	agent_buffer_offer(link->index, &offer);
	agent_message_begin(link, &enc, MSG_app_buffer_offer);
	msg_app_buffer_offer_encode(&enc, &offer);
	agent_link_send(link, &enc);
	return 0;
}

/* New traces are reported to the program before their first event. */
static void announce_traces(const struct agent_link *link, struct list armings,
			    uint32_t preparation)
{
	struct msg_app_arming arming;

	agent_lock();
	while (msg_app_arming_next(&armings, &arming))
		agent_buffer_expect(link->index, &arming, preparation);
	agent_buffers_show();
	agent_unlock();
	agent_traces_report();
}

static int on_arm(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_arm m;
	struct msg_app_arming arming;
	uint32_t contexts, filter;

	if (msg_app_arm_decode(dec, &m) < 0)
		return -EBADMSG;
	if (!context_set(m.contexts, &contexts)) {
		tracer_debug("no such contexts, or too many of them: %s", m.contexts);
		return 0;
	}
	if (!admit_filter(m.filter.data, m.filter.len, m.filter_contexts, &filter)) {
		tracer_debug("can't use a filter: it is invalid, or there is no memory");
		return 0;
	}
	announce_traces(link, m.armings, preparation(filter, contexts));
	agent_lock();
	while (msg_app_arming_next(&m.armings, &arming))
		agent_buffer_arm(link->index, link->round, &arming, preparation(filter, contexts));
	admit_unref(filter);
	agent_buffers_show();
	agent_unlock();
	agent_traces_report();
	agent_buffers_reap();
	return 0;
}

static int on_disarm(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_disarm m;
	struct msg_app_arming arming;

	if (msg_app_disarm_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	while (msg_app_arming_next(&m.armings, &arming))
		agent_buffer_disarm(link->index, &arming);
	agent_buffers_show();
	agent_unlock();
	agent_traces_report();
	agent_buffers_reap();
	return 0;
}

static int on_buffer_drop(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_buffer_drop m;

	if (msg_app_buffer_drop_decode(dec, &m) < 0)
		return -EBADMSG;
	agent_lock();
	agent_buffer_drop(link->index, m.ring);
	agent_unlock();
	agent_traces_report();
	agent_buffers_reap();
	return 0;
}

static void sweep(const struct agent_link *link)
{
	agent_lock();
	agent_buffers_sweep(link->index, link->round);
	agent_counts_sweep(link->index, link->round);
	agent_fired_sweep(link->index, link->round);
	agent_unlock();
	agent_traces_report();
	agent_buffers_reap();
	agent_counts_reap();
}

static void on_answer(struct agent_link *link)
{
	int64_t reported = link->announced_begun;

	link->penalty_ms = 0;
	link->unanswered = false;
	__atomic_store_n(&link->answered, link->announced, __ATOMIC_RELAXED);
	if (reported) /* unless another thread has begun since */
		__atomic_compare_exchange_n(&link->begun_ms, &reported, 0, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED);
	tracer_debug("%s is ready", tracer_env.dir[link->index]);
}

static int on_ready(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_ready m;

	if (msg_app_ready_decode(dec, &m) < 0)
		return -EBADMSG;
	if (m.part != APP_READY_BEGIN)
		sweep(link);
	if (m.part != APP_READY_SWEEP)
		on_answer(link);
	return 0;
}

static int on_statedump(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_statedump m;
	uint32_t session;

	if (msg_app_statedump_decode(dec, &m) < 0)
		return -EBADMSG;
	session = agent_buffers_session(link->index, m.session);
	if (session)
		statedump_run(session);
	send_sync_done(link, m.serial);
	return 0;
}

static int on_sync(struct agent_link *link, struct decoder *dec)
{
	struct msg_app_sync m;

	if (msg_app_sync_decode(dec, &m) < 0)
		return -EBADMSG;
	send_sync_done(link, m.serial);
	return 0;
}

static int on_point_refused(struct decoder *dec)
{
	struct msg_app_point_refused m;

	if (msg_app_point_refused_decode(dec, &m) < 0)
		return -EBADMSG;
	tracer_debug("%s %s: the session daemon does not record it", m.name, m.why);
	return 0;
}

int agent_message(struct agent_link *link, struct decoder *dec)
{
	struct msg_header header;

	if (decode_header(dec, &header) < 0)
		return -EBADMSG;
	switch (header.type) {
	case MSG_app_welcome:
		return on_welcome(link, dec);
	case MSG_app_buffer:
		return on_buffer(link, dec);
	case MSG_app_buffer_want:
		return on_buffer_want(link, dec);
	case MSG_app_arm:
		return on_arm(link, dec);
	case MSG_app_disarm:
		return on_disarm(link, dec);
	case MSG_app_buffer_drop:
		return on_buffer_drop(link, dec);
	case MSG_app_ready:
		return on_ready(link, dec);
	case MSG_app_statedump:
		return on_statedump(link, dec);
	case MSG_app_sync:
		return on_sync(link, dec);
	case MSG_app_point_refused:
		return on_point_refused(dec);
	default:
		return agent_count_message(link, header.type, dec);
	}
}
