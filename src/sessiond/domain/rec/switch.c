/* SPDX-License-Identifier: GPL-2.0-only */
/* switch.c - ring sets are switched on and off by the consumer, in force at once. */
#include "base/mem.h"
#include "recording.h"

static void rec_switch_enable(struct recording *rec, struct list rings, bool on, con_done done,
			      void *data)
{
	struct req_con_ring_enable req = { rec->session->id, rings, on };

	CONSUMER_CALL(rec->consumer, con_ring_enable, &req, NULL, done, data);
}

static void enable_one(struct ring *ring, bool on, con_done done)
{
	struct msg_con_ring_ref ref = { ring->id };
	struct encoder enc;
	uint8_t buf[32];

	encoder_init(&enc, buf, sizeof(buf));
	msg_con_ring_ref_add(&enc, &ref);
	rec_switch_enable(ring->trace_channel->trace->rec, encoder_list(&enc), on, done, ring);
}

/* The session may have stopped meanwhile. Without a consumer the ring set is off until the next one
 * has switched it on: see rings_enable(). */
static void ring_enabled(void *data, const struct con_answer *answer)
{
	struct ring *ring = data;
	struct recording *rec = ring->trace_channel->trace->rec;

	if (answer->code == ERR_CONSUMER)
		ring->enable_number = UINT64_MAX;
	ring_step(ring, RING_ON_SWITCHED);
	if (!rec->recording)
		enable_one(ring, false, NULL);
	rec->ops->ready(rec);
}

void ring_switch_on(struct ring *ring)
{
	enable_one(ring, true, ring_enabled);
}

void ring_switch_off(struct ring *ring)
{
	enable_one(ring, false, NULL);
}

/* The consumer has not switched them on; the next one does, by a request with another number. */
static void mark_off(struct recording *rec, uint64_t number)
{
	struct trace *trace;
	struct trace_channel *trace_channel;
	struct ring *ring;

	list_for_each(trace, &rec->traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node)
				if (ring->enable_number == number)
					ring->enable_number = UINT64_MAX;
}

/* Replies arrive in the order of requests, so their number identifies the confirmed ones. */
static void enables_confirmed(void *data, const struct con_answer *answer)
{
	struct recording *rec = data;

	rec->enables_confirmed++;
	if (answer->code == ERR_CONSUMER)
		mark_off(rec, rec->enables_confirmed);
	else
		rec->ops->ready(rec);
}

bool ring_is_on(const struct ring *ring)
{
	return ring_in(ring, 1u << RING_READY | RING_UNADOPTED_STATES) &&
	       ring->enable_number <= ring->trace_channel->trace->rec->enables_confirmed;
}

static void enable_many(struct recording *rec, struct list rings, bool on)
{
	rec->enables_sent += on;
	rec_switch_enable(rec, rings, on, on ? enables_confirmed : NULL, rec);
}

/* A message takes some 5000 references; larger lists go in several. */
#define ENABLE_BYTES 60000u

void rings_enable(struct recording *rec, bool on)
{
	AUTO_FREE uint8_t *buf = xalloc(ENABLE_BYTES);
	struct trace *trace;
	struct trace_channel *trace_channel;
	struct ring *ring;
	struct encoder enc;

	encoder_init(&enc, buf, ENABLE_BYTES);
	list_for_each(trace, &rec->traces, node)
		list_for_each(trace_channel, &trace->channels, node)
			list_for_each(ring, &trace_channel->rings, node) {
				struct msg_con_ring_ref ref = { ring->id };

				if (ring->state != RING_READY)
					continue;
				if (enc.len + 32 > ENABLE_BYTES) {
					enable_many(rec, encoder_list(&enc), on);
					encoder_init(&enc, buf, ENABLE_BYTES);
				}
				msg_con_ring_ref_add(&enc, &ref);
				if (on)
					ring->enable_number = rec->enables_sent + 1;
			}
	if (enc.nr_records)
		enable_many(rec, encoder_list(&enc), on);
}
