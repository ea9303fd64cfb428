/* SPDX-License-Identifier: MIT */
/*
 * ltt/provider.h - events that are described while the program runs: for languages other than C,
 * log libraries, and instrumentation that is loaded. Link with -lltt.
 *
 *	static const struct ltt_field fields[] = {
 *		{ "status", NULL, 0, LTT_KIND_INT, 32, 0, 10, LTT_FIELD_SIGNED, 0 },
 *		{ "path", NULL, 0, LTT_KIND_STRING, 0, 0, 0, 0, 0 },
 *	};
 *	static const struct ltt_provider_event events[] = {
 *		{ sizeof(struct ltt_provider_event), 2, LTT_INFO, 0, "request", fields, NULL, NULL },
 *	};
 *	struct ltt_provider *web;
 *	struct ltt_pieces pieces;
 *
 *	if (ltt_provider_add("web", events, 1, &web) == 0) {	// the event "web:request"
 *		ltt_pieces_begin(&pieces, web, 0);
 *		ltt_pieces_int(&pieces, 404);
 *		ltt_pieces_text(&pieces, path, strlen(path));
 *		ltt_pieces_end(&pieces);
 *		ltt_provider_remove(web);
 *	}
 *
 * Without a listener an emission costs some nanoseconds; while a session records, some 30 ns more
 * than one of a tracepoint (ltt/tracepoint.h) of the same fields.
 */
#ifndef LTT_PROVIDER_H
#define LTT_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#include <ltt/site.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Limits of a description. Lengths in bytes, terminators not included. */
#define LTT_PROVIDER_NAME_MAX 255 /* of "provider:event", and of a field's name */
#define LTT_PROVIDER_FIELDS_MAX 256
#define LTT_PROVIDER_EVENTS_MAX 65536
#define LTT_PROVIDER_LOGGER_MAX 1023  /* of a logger's name */
#define LTT_PROVIDER_LOGGERS_MAX 4096 /* of a process */
/** A point "PROVIDER" LTT_PROVIDER_LOGGER "0001" names a logger, and is not recorded. */
#define LTT_PROVIDER_LOGGER ":ltt__logger_"

/**
 * struct ltt_provider_event - an event of a provider.
 * @size: sizeof(struct ltt_provider_event) where the program was built.
 * @nr_fields: at most LTT_PROVIDER_FIELDS_MAX.
 * @loglevel: enum ltt_loglevel.
 * @reserved: 0.
 * @name: without the provider's: letters, digits and underscores.
 * @fields: in the order of the payload, those with LTT_FIELD_NOWRITE last. Names are those of C.
 * @changed: called with @data when the first listener has come (@listened is 1) and when the last
 *           one has gone (0), in any thread, with signals blocked and libltt's lock held: it calls
 *           no function of libltt. May be NULL.
 */
struct ltt_provider_event {
	uint32_t size;
	uint16_t nr_fields;
	uint8_t loglevel;
	uint8_t reserved;
	const char *name;
	const struct ltt_field *fields;
	void (*changed)(void *data, int listened);
	void *data;
};

/** struct ltt_provider - a provider that is registered. */
struct ltt_provider;

/**
 * ltt_provider_add() - register a provider. Its events can be recorded from now on, also by
 * sessions that record already.
 * @name: letters, digits and underscores. Several providers may have one name.
 * @events, @nr_events: copied, with all that they refer to.
 * @ret_provider: belongs to the caller until ltt_provider_remove().
 *
 * Thread-safe; not for signal handlers. Return: 0; -EINVAL: a description is invalid, or two events
 * have the same name; -ENOMEM. Nothing is registered then.
 */
int ltt_provider_add(const char *name, const struct ltt_provider_event *events, uint32_t nr_events,
		     struct ltt_provider **ret_provider);

/**
 * ltt_provider_remove() - the opposite. Returns when no thread is in an emission of the provider;
 * later ones must not begin. NULL is allowed. Not for signal handlers, nor between
 * ltt_pieces_begin() and ltt_pieces_end().
 */
void ltt_provider_remove(struct ltt_provider *provider);

/**
 * ltt_provider_listened() - whether an event has a listener now: only then are its values worth
 * computing. @event: its number in the description. Any thread, any signal handler.
 */
int ltt_provider_listened(const struct ltt_provider *provider, uint32_t event);

/** A function for @changed, for languages in which none can be written: @data is an int, which is 1
 *  while the event has a listener, else 0. */
void ltt_provider_flag(void *data, int listened);

/** Wait until the int at @data, which ltt_provider_flag() sets, is another one than @listened; not
 *  for signal handlers. Return: the int. */
int ltt_provider_flag_wait(void *data, int listened);

/**
 * ltt_provider_logger() - name a logger whose messages are events of the provider, for lists
 * (lttctl list --python): as a point that has the name as its file and is never emitted. It stays
 * until the process ends, and is not to be named twice. Does not wait for the daemons. Thread-safe;
 * not for signal handlers. @provider: with one event at least.
 *
 * Return: 0; -EINVAL: the name is empty or too long; -ENOSPC: there are LTT_PROVIDER_LOGGERS_MAX;
 * -ENOMEM.
 */
int ltt_provider_logger(const struct ltt_provider *provider, const char *name);

/**
 * ltt_provider_emit() - emit an event, whose payload is serialised already: the fields one behind
 * the other without padding, numbers in the machine's byte order (or as LTT_FIELD_BIG_ENDIAN has
 * it), strings with their terminators, sequences behind their lengths.
 * @payload, @len: read before it returns. Nothing behind it is read.
 *
 * Any thread, any signal handler; keeps errno. Return: 0: emitted, or there is no listener;
 * -EINVAL: there is no such event, or the payload is not as described, and nothing is emitted;
 * -EMSGSIZE: no listener can record such a large event; it is counted as lost.
 */
int ltt_provider_emit(struct ltt_provider *provider, uint32_t event, const void *payload,
		      size_t len);

#define LTT_PIECES_BYTES 512

/** struct ltt_pieces - an event that is being written. Its members are libltt's. */
struct ltt_pieces {
	struct ltt_provider *provider;
	unsigned char *memory;
	size_t used, room; /* bytes */
	uint32_t event, field;
	uint32_t token;
	int32_t result;
	const void *address;
	unsigned char bytes[LTT_PIECES_BYTES + LTT_PAYLOAD_SLACK];
};

/**
 * Emit an event field by field, in the order of the description. The same thread calls
 * ltt_pieces_begin(), the functions below once for each field, and ltt_pieces_end(), which emits;
 * in between it does not leave by longjmp(). Any thread, any signal handler, also nested; errno is
 * kept. The values are copied. An error of one field is the result of ltt_pieces_end(), and
 * nothing is emitted.
 */
void ltt_pieces_begin(struct ltt_pieces *pieces, struct ltt_provider *provider, uint32_t event);
/** An integer or enumeration. */
void ltt_pieces_int(struct ltt_pieces *pieces, int64_t value);
void ltt_pieces_uint(struct ltt_pieces *pieces, uint64_t value);
void ltt_pieces_float(struct ltt_pieces *pieces, double value);
/** A string, up to @len bytes or the first that is 0; or an array or sequence of text: an array is
 *  filled with bytes that are 0, or cut. @text may be NULL if @len is 0. */
void ltt_pieces_text(struct ltt_pieces *pieces, const char *text, size_t len);
/** An array or sequence. @elements: @count of the field's size, in its byte order, not aligned. */
void ltt_pieces_elements(struct ltt_pieces *pieces, const void *elements, size_t count);
/** Return: as ltt_provider_emit(); -EINVAL: a field is of another kind, or there are more or fewer;
 *  -ERANGE: a value or count does not fit its field. */
int ltt_pieces_end(struct ltt_pieces *pieces);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
