// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Providers that are described while the program runs (ltt/provider.h): sites in memory of their
 * own. An emission is between reader_enter() and reader_exit(), so that ltt_provider_remove() can
 * wait for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/provider.h>

#include "emit.h"
#include "ltt_ring.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/sys.h"
#include "tracer/site/describe.h"
#include "tracer/site/registry.h"
#include "view.h"

#define IDLE 1 /* result: there is no listener */
#define FLAG_WAIT_NS 3600000000000u /* then the flag is read again */

struct dynamic {
	struct ltt_site site;
	struct ltt_event *event;
	uint32_t nr_written; /* fields that are recorded */
	void (*changed)(void *data, int listened);
	void *data;
};

struct ltt_provider {
	uint32_t nr;
	struct ltt_site **sites;
	struct dynamic events[];
};

/* --- descriptions ----------------------------------------------------------------------- */

static bool dynamic_is_name(const char *name)
{
	size_t len = name ? strnlen(name, LTT_PROVIDER_NAME_MAX + 1) : 0;

	if (!len || len > LTT_PROVIDER_NAME_MAX)
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
	       len;
}

static bool has_valid_labels(const struct ltt_enum *labels)
{
	if (!labels || !labels->name || (labels->nr_entries && !labels->entries))
		return false;
	for (uint32_t i = 0; i < labels->nr_entries; i++)
		if (!labels->entries[i].label)
			return false;
	return true;
}

static bool is_size(unsigned int bits)
{
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool is_valid_field(const struct ltt_field *field)
{
	const bool is_float = field->flags & LTT_FIELD_FLOAT_ELEM;

	if (!dynamic_is_name(field->name) || (field->name[0] >= '0' && field->name[0] <= '9'))
		return false;
	switch (field->kind) {
	case LTT_KIND_STRING:
		return true;
	case LTT_KIND_FLOAT:
		return field->size_bits == 32 || field->size_bits == 64;
	case LTT_KIND_INT:
		return is_size(field->size_bits);
	case LTT_KIND_ENUM:
		return is_size(field->size_bits) && has_valid_labels(field->enumeration);
	case LTT_KIND_ARRAY:
	case LTT_KIND_SEQUENCE:
		if (field->kind == LTT_KIND_SEQUENCE && !is_size(field->length_bits))
			return false;
		if (field->flags & LTT_FIELD_TEXT)
			return field->size_bits == 8;
		return is_size(field->size_bits) && (!is_float || field->size_bits >= 32);
	default:
		return false;
	}
}

static bool is_valid_event(const struct ltt_provider_event *event)
{
	bool hidden = false;

	if (event->size < sizeof(*event) || !dynamic_is_name(event->name) ||
	    event->nr_fields > LTT_PROVIDER_FIELDS_MAX || (event->nr_fields && !event->fields) ||
	    event->loglevel > LTT_DEBUG)
		return false;
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		const bool nowrite = event->fields[i].flags & LTT_FIELD_NOWRITE;

		if (!is_valid_field(&event->fields[i]) || (hidden && !nowrite))
			return false;
		hidden = nowrite;
	}
	return true;
}

static const struct ltt_provider_event *event_at(const struct ltt_provider_event *events,
						 uint32_t i)
{
	return (const struct ltt_provider_event *)((const char *)events + (size_t)i * events->size);
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Return: 0; -EINVAL: two are equal; -ENOMEM. */
static int check_unique(const struct ltt_provider_event *events, uint32_t nr)
{
	const char **names = calloc(nr + 1, sizeof(*names));
	int res = names ? 0 : -ENOMEM;

	for (uint32_t i = 0; names && i < nr; i++)
		names[i] = event_at(events, i)->name;
	if (names)
		qsort(names, nr, sizeof(*names), compare_names);
	for (uint32_t i = 1; names && i < nr; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			res = -EINVAL;
	free(names);
	return res;
}

static int check_all(const char *name, const struct ltt_provider_event *events, uint32_t nr)
{
	if (!dynamic_is_name(name) || nr > LTT_PROVIDER_EVENTS_MAX || (nr && !events))
		return -EINVAL;
	for (uint32_t i = 0; i < nr; i++)
		if (event_at(events, i)->size != events->size ||
		    !is_valid_event(event_at(events, i)) ||
		    strlen(name) + strlen(event_at(events, i)->name) >= LTT_PROVIDER_NAME_MAX)
			return -EINVAL;
	return check_unique(events, nr);
}

/* --- adding and removing ------------------------------------------------------------------ */

static void dynamic_changed(struct ltt_site *site, int listened)
{
	const struct dynamic *dynamic = (const struct dynamic *)site; /* its first member */

	dynamic->changed(dynamic->data, listened);
}

static int dynamic_fill(struct dynamic *dynamic, const char *provider,
			const struct ltt_provider_event *from)
{
	char name[2 * LTT_PROVIDER_NAME_MAX + 2];
	const struct ltt_event event = {
		.size = sizeof(event),
		.field_size = sizeof(struct ltt_field),
		.name = name,
		.kind = LTT_EVENT_TRACEPOINT,
		.loglevel = from->loglevel,
		.reserved = { LTT_EVENT_TELLS_IP },
	};

	stpcpy(stpcpy(stpcpy(name, provider), ":"), from->name);
	dynamic->event = describe_event(&event, from->fields, from->nr_fields);
	if (!dynamic->event)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->nr_fields; i++)
		dynamic->nr_written += !(from->fields[i].flags & LTT_FIELD_NOWRITE);
	dynamic->changed = from->changed;
	dynamic->data = from->data;
	dynamic->site.size = sizeof(dynamic->site);
	dynamic->site.event = dynamic->event;
	dynamic->site.changed = from->changed ? dynamic_changed : NULL;
	return 0;
}

static void dynamic_free(struct ltt_provider *provider)
{
	for (uint32_t i = 0; i < provider->nr; i++)
		free(provider->events[i].event);
	free(provider->sites);
	free(provider);
}

int ltt_provider_add(const char *name, const struct ltt_provider_event *events, uint32_t nr_events,
		     struct ltt_provider **ret_provider)
{
	struct ltt_provider *provider;
	int res = check_all(name, events, nr_events);

	if (res < 0)
		return res;
	provider = calloc(1, sizeof(*provider) + nr_events * sizeof(provider->events[0]));
	if (!provider)
		return -ENOMEM;
	provider->sites = calloc(nr_events + 1, sizeof(*provider->sites));
	for (; provider->sites && provider->nr < nr_events; provider->nr++) {
		struct dynamic *dynamic = &provider->events[provider->nr];

		if (dynamic_fill(dynamic, name, event_at(events, provider->nr)) < 0)
			break;
		provider->sites[provider->nr] = &dynamic->site;
	}
	if (!provider->sites || provider->nr < nr_events) {
		dynamic_free(provider);
		return -ENOMEM;
	}
	ltt_sites_register(provider->sites, provider->sites + nr_events, LTT_SITE_ABI);
	*ret_provider = provider;
	return 0;
}

/* While the program exits, sites go on recording: their memory stays. */
void ltt_provider_remove(struct ltt_provider *provider)
{
	bool stays = false;

	if (!provider)
		return;
	ltt_sites_unregister(provider->sites, provider->sites + provider->nr);
	for (uint32_t i = 0; i < provider->nr; i++)
		stays |= provider->events[i].site.owner != NULL;
	if (stays)
		return;
	reader_synchronize();
	dynamic_free(provider);
}

int ltt_provider_listened(const struct ltt_provider *provider, uint32_t event)
{
	return event < provider->nr && ltt_site_armed(&provider->events[event].site);
}

void ltt_provider_flag(void *data, int listened)
{
	__atomic_store_n((uint32_t *)data, (uint32_t)listened, __ATOMIC_RELEASE);
	ring_futex_wake(data);
}

int ltt_provider_flag_wait(void *data, int listened)
{
	uint32_t value;

	do {
		value = __atomic_load_n((uint32_t *)data, __ATOMIC_ACQUIRE);
		if (value != (uint32_t)listened)
			return (int)value;
		ring_futex_wait(data, value, FLAG_WAIT_NS);
	} while (true);
}

/* --- loggers ------------------------------------------------------------------------------ */

/* A point without fields, whose file is the logger's name. Points of one event are one point, so
 * that each has a number in its own. */
struct logger {
	struct ltt_site *sites[1];
	struct ltt_site site;
	struct ltt_event event;
	char text[];
};

int ltt_provider_logger(const struct ltt_provider *provider, const char *name)
{
	static uint32_t nr_loggers;
	const char *event = provider->nr ? provider->events[0].event->name : ":";
	size_t len = strnlen(name, LTT_PROVIDER_LOGGER_MAX + 1), nr_event = strcspn(event, ":");
	size_t room = nr_event + sizeof(LTT_PROVIDER_LOGGER "4095");
	struct logger *logger;
	uint32_t number;

	if (!len || len > LTT_PROVIDER_LOGGER_MAX || !nr_event || room > LTT_PROVIDER_NAME_MAX)
		return -EINVAL;
	number = __atomic_fetch_add(&nr_loggers, 1, __ATOMIC_RELAXED);
	if (number >= LTT_PROVIDER_LOGGERS_MAX) {
		__atomic_sub_fetch(&nr_loggers, 1, __ATOMIC_RELAXED);
		return -ENOSPC;
	}
	logger = calloc(1, sizeof(*logger) + len + 1 + room);
	if (!logger)
		return -ENOMEM;
	memcpy(logger->text, name, len);
	snprintf(logger->text + len + 1, room, "%.*s" LTT_PROVIDER_LOGGER "%04u", (int)nr_event,
		 event, number);
	logger->event.size = sizeof(logger->event);
	logger->event.field_size = sizeof(struct ltt_field);
	logger->event.name = logger->text + len + 1;
	logger->event.file = logger->text;
	logger->event.kind = LTT_EVENT_TRACEPOINT;
	logger->event.loglevel = LTT_DEBUG;
	logger->site.size = sizeof(logger->site);
	logger->site.event = &logger->event;
	logger->sites[0] = &logger->site;
	if (site_register_name(logger->sites))
		return 0; /* it stays */
	free(logger);
	return -ENOMEM;
}

/* --- emitting ------------------------------------------------------------------------------- */

/* Return: 0; -EINVAL: the payload is not as described. */
static int dynamic_check(const struct dynamic *dynamic, const void *payload, size_t len,
			 size_t *ret_written)
{
	const struct ltt_event_view view = {
		.size = sizeof(view),
		.fields = dynamic->event->fields,
		.nr_fields = dynamic->event->nr_fields,
		.payload = payload,
		.len = len,
	};
	size_t all;

	if (view_measure(&view, dynamic->event->nr_fields, &all) < 0 || all != len)
		return -EINVAL;
	return view_measure(&view, dynamic->nr_written, ret_written);
}

/* @payload has the slack behind it. */
static int dynamic_emit(struct dynamic *dynamic, const void *payload, size_t len,
			const void *address)
{
	size_t written = 0;
	int res = dynamic_check(dynamic, payload, len, &written);

	if (res == 0)
		ltt_emit_at(&dynamic->site, payload, written, len - written, address);
	return res;
}

static int dynamic_emit_copy(struct dynamic *dynamic, const void *payload, size_t len,
			     const void *address)
{
	unsigned char memory[LTT_PIECES_BYTES + LTT_PAYLOAD_SLACK];
	unsigned char *copy = len <= LTT_PIECES_BYTES ? memory : ltt_stage(&dynamic->site, len);
	int res;

	if (!copy)
		return -EMSGSIZE;
	if (len)
		memcpy(copy, payload, len);
	memset(copy + len, 0, LTT_PAYLOAD_SLACK);
	res = dynamic_emit(dynamic, copy, len, address);
	if (copy != memory)
		ltt_unstage(copy);
	return res;
}

int ltt_provider_emit(struct ltt_provider *provider, uint32_t event, const void *payload,
		      size_t len)
{
	const int saved = errno;
	unsigned int token;
	int res;

	if (event >= provider->nr)
		return -EINVAL;
	if (!ltt_site_armed(&provider->events[event].site))
		return 0;
	token = reader_enter();
	res = dynamic_emit_copy(&provider->events[event], payload, len,
				__builtin_return_address(0));
	reader_exit(token);
	errno = saved;
	return res;
}

/* --- in pieces ------------------------------------------------------------------------------- */

void ltt_pieces_begin(struct ltt_pieces *pieces, struct ltt_provider *provider, uint32_t event)
{
	const int saved = errno;

	pieces->provider = provider;
	pieces->event = event;
	pieces->field = 0;
	pieces->used = 0;
	pieces->memory = pieces->bytes;
	pieces->room = LTT_PIECES_BYTES;
	pieces->address = __builtin_return_address(0);
	pieces->result = event >= provider->nr			       ? -EINVAL :
			 ltt_site_armed(&provider->events[event].site) ? 0 :
									 IDLE;
	if (pieces->result == 0)
		pieces->token = reader_enter();
	errno = saved;
}

static bool pieces_is_open(const struct ltt_pieces *pieces)
{
	return pieces->memory && pieces->result == 0;
}

/* The next field; NULL: there is none, or an error before. */
static const struct ltt_field *pieces_next(struct ltt_pieces *pieces)
{
	const struct ltt_event *event;

	if (!pieces_is_open(pieces))
		return NULL;
	event = pieces->provider->events[pieces->event].event;
	if (pieces->field < event->nr_fields)
		return &event->fields[pieces->field++];
	pieces->result = -EINVAL;
	return NULL;
}

/* The event does not fit: more memory, which is as large as a record can be. */
static bool pieces_grow(struct ltt_pieces *pieces, size_t len)
{
	unsigned char *staged = NULL;

	if (pieces->memory == pieces->bytes && len <= LTT_RING_MAX_RECORD - pieces->used)
		staged = ltt_stage(&pieces->provider->events[pieces->event].site,
				   LTT_RING_MAX_RECORD);
	else
		emit_lost_oversize(&pieces->provider->events[pieces->event].site);
	if (!staged) {
		pieces->result = -EMSGSIZE;
		return false;
	}
	memcpy(staged, pieces->bytes, pieces->used);
	pieces->memory = staged;
	pieces->room = LTT_RING_MAX_RECORD;
	return true;
}

static unsigned char *pieces_take(struct ltt_pieces *pieces, size_t len)
{
	unsigned char *at;

	if (len > pieces->room - pieces->used && !pieces_grow(pieces, len))
		return NULL;
	at = pieces->memory + pieces->used;
	pieces->used += len;
	return at;
}

static void pieces_number(struct ltt_pieces *pieces, uint64_t bits, unsigned int size_bits,
			  bool is_swapped)
{
	unsigned char *to = pieces_take(pieces, size_bits / 8);

	if (is_swapped)
		bits = __builtin_bswap64(bits) >> (64 - size_bits);
	if (to)
		memcpy(to, &bits, size_bits / 8);
}

static void pieces_integer(struct ltt_pieces *pieces, uint64_t bits, bool is_negative)
{
	const struct ltt_field *field = pieces_next(pieces);
	unsigned int shift;
	bool fits;

	if (!field)
		return;
	if (field->kind != LTT_KIND_INT && field->kind != LTT_KIND_ENUM) {
		pieces->result = -EINVAL;
		return;
	}
	shift = 64 - field->size_bits;
	if (field->flags & LTT_FIELD_SIGNED)
		fits = (uint64_t)((int64_t)(bits << shift) >> shift) == bits &&
		       ((int64_t)bits < 0) == is_negative;
	else
		fits = bits << shift >> shift == bits && !is_negative;
	if (fits)
		pieces_number(pieces, bits, field->size_bits, field->flags & LTT_FIELD_BIG_ENDIAN);
	else
		pieces->result = -ERANGE;
}

void ltt_pieces_int(struct ltt_pieces *pieces, int64_t value)
{
	pieces_integer(pieces, (uint64_t)value, value < 0);
}

void ltt_pieces_uint(struct ltt_pieces *pieces, uint64_t value)
{
	pieces_integer(pieces, value, false);
}

void ltt_pieces_float(struct ltt_pieces *pieces, double value)
{
	const struct ltt_field *field = pieces_next(pieces);
	const float narrow = (float)value;
	uint64_t bits = 0;

	if (!field)
		return;
	if (field->kind != LTT_KIND_FLOAT) {
		pieces->result = -EINVAL;
		return;
	}
	if (field->size_bits == 32)
		memcpy(&bits, &narrow, sizeof(narrow));
	else
		memcpy(&bits, &value, sizeof(value));
	pieces_number(pieces, bits, field->size_bits, field->flags & LTT_FIELD_BIG_ENDIAN);
}

static void pieces_bytes(struct ltt_pieces *pieces, const void *from, size_t len, size_t zeros)
{
	unsigned char *to = pieces_take(pieces, len + zeros);

	if (to && len)
		memcpy(to, from, len);
	if (to)
		memset(to + len, 0, zeros);
}

/* Return: whether a sequence of the field can have so many elements. */
static bool pieces_length(struct ltt_pieces *pieces, const struct ltt_field *field, size_t count)
{
	if (field->length_bits < 64 && (uint64_t)count >> field->length_bits)
		pieces->result = -ERANGE;
	else
		pieces_number(pieces, count, field->length_bits, false);
	return pieces->result == 0;
}

void ltt_pieces_text(struct ltt_pieces *pieces, const char *text, size_t len)
{
	const struct ltt_field *field = pieces_next(pieces);
	size_t room;

	if (!field)
		return;
	if (field->kind == LTT_KIND_STRING) {
		pieces_bytes(pieces, text, len ? strnlen(text, len) : 0, 1);
	} else if (!(field->flags & LTT_FIELD_TEXT)) {
		pieces->result = -EINVAL;
	} else if (field->kind == LTT_KIND_ARRAY) {
		room = len < field->count ? field->count - len : 0;
		pieces_bytes(pieces, text, field->count - room, room);
	} else if (pieces_length(pieces, field, len)) {
		pieces_bytes(pieces, text, len, 0);
	}
}

void ltt_pieces_elements(struct ltt_pieces *pieces, const void *elements, size_t count)
{
	const struct ltt_field *field = pieces_next(pieces);

	if (!field)
		return;
	if (field->kind == LTT_KIND_ARRAY && count != field->count)
		pieces->result = -ERANGE;
	else if (field->kind != LTT_KIND_ARRAY && field->kind != LTT_KIND_SEQUENCE)
		pieces->result = -EINVAL;
	else if (count > LTT_RING_MAX_RECORD)
		(void)pieces_grow(pieces, LTT_RING_MAX_RECORD + 1);
	else if (field->kind == LTT_KIND_ARRAY || pieces_length(pieces, field, count))
		pieces_bytes(pieces, elements, count * field->size_bits / 8, 0);
}

int ltt_pieces_end(struct ltt_pieces *pieces)
{
	const int saved = errno;
	struct dynamic *dynamic;

	if (pieces->result == IDLE || pieces->event >= pieces->provider->nr)
		return pieces->result == IDLE ? 0 : pieces->result;
	dynamic = &pieces->provider->events[pieces->event];
	if (pieces->result == 0)
		pieces->result =
			dynamic_emit(dynamic, pieces->memory, pieces->used, pieces->address);
	if (pieces->memory != pieces->bytes)
		ltt_unstage(pieces->memory);
	pieces->memory = NULL;
	reader_exit(pieces->token);
	errno = saved;
	return pieces->result;
}
