/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * deferred.h - events that are decoded later, also by other threads than the one that reads their
 * view: the reader has checked them, and each is a position in a packet. Only classes that have
 * plans (plan.h), so that nothing of the reader is needed.
 */
#ifndef READ_DEFERRED_H
#define READ_DEFERRED_H

#include "view_priv.h"

struct deferred_packet;

/** deferred_can_be() - whether the event that event_next() returned last can be decoded later. Its
 *  class has to be known: one event of it was decoded. */
static inline bool deferred_can_be(const struct view *view)
{
	const struct feed *feed = view->current;
	const struct ctf_event_class *ec = feed->ec;

	return ec->skipped && ec->task_is_known && !feed->packet.sc->header_is_referred &&
	       feed->window.file;
}

/** The packet of that event. */
struct deferred_packet *deferred_packet_new(const struct view *view);
/** Return: @packet, which one more owner has. By any thread, like the release. */
struct deferred_packet *deferred_packet_ref(struct deferred_packet *packet);
void deferred_packet_unref(struct deferred_packet *packet);

/** A part of a packet in memory: @len bytes from byte @from on. @last: where its last event
 *  begins. */
struct deferred_part {
	struct deferred_packet *packet;
	uint64_t from, last;
	uint64_t end; /* in bits of the packet */
	uint8_t *bytes;
	size_t len, size;
};

#define DEFERRED_SPARES 256u

/** Memory of parts that are not used any more. */
struct deferred_spare {
	uint8_t *bytes;
	size_t size;
};

/** The memory of decoding: owned by one thread. All zero: not used yet. */
struct deferred_decoder {
	struct values values;
	uint64_t *slots;
	uint32_t nr_slots;
	struct reader reader;
	const struct deferred_packet *packet; /* of the slots */
	const struct deferred_part *part;     /* of the reader */
	struct deferred_spare spares[DEFERRED_SPARES];
	uint32_t nr_spares;
	size_t spared; /* bytes */
};

/** The packets that were decoded may have been released. */
static inline void deferred_decoder_forget(struct deferred_decoder *decoder)
{
	decoder->packet = NULL;
	decoder->part = NULL;
}

/** The events of a part were decoded. */
void deferred_part_release(struct deferred_decoder *decoder, struct deferred_part *part);

void deferred_decoder_fini(struct deferred_decoder *decoder);

/** deferred_decode() - decode the event of a class at bit @at. @part: from and last are the bytes
 *  at which its first and last events begin; they are read when they are needed.
 *  Return: whether it was decoded: else the file was changed meanwhile. */
bool deferred_decode(struct deferred_decoder *decoder, struct deferred_part *part, uint64_t at,
		     struct ctf_event_class *ec, int64_t ns, struct event *ret);

/** The same, but its values are only found: see event_locate(). */
bool deferred_locate(struct deferred_decoder *decoder, struct deferred_part *part, uint64_t at,
		     struct ctf_event_class *ec, int64_t ns, const uint8_t **bases,
		     struct event *ret);

#endif
