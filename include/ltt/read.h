/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt/read.h - read traces from C: libltt-read. See libltt-read(3).
 *
 *   cc ... $(pkg-config --cflags --libs libltt-read)
 *
 * A reader reads all traces below one directory, of ltt-control, LTTng and other tracers that write
 * CTF 1.8, as one series of events ordered by time:
 *
 *   struct ltt_read *reader = ltt_read_new();
 *   struct ltt_read_value size;
 *
 *   if (!reader || ltt_read_open(reader, "trace") != 0)
 *           errx(1, "%s", ltt_read_why(reader));
 *   while (ltt_read_next(reader) > 0)
 *           if (ltt_read_field(reader, "size", &size) && size.type == LTT_READ_UNSIGNED)
 *                   printf("%lld %llu\n", (long long)ltt_read_ns(reader), size.u);
 *   ltt_read_free(reader);
 *
 * Return values. A function that returns int returns a negative errno on failure; ltt_read_why()
 * then returns a sentence. Files are untrusted: a damaged packet is skipped and counted, and
 * reading continues.
 *
 * Ownership. Strings that are passed in are the caller's, and are not kept. Strings and values that
 * are returned belong to the reader, and are valid until its next event or batch, unless stated
 * otherwise. If memory is exhausted (-ENOMEM), the reader can only be freed; memory that it had in
 * use then may stay allocated. No call ends the process, prints, starts a thread or handles
 * signals.
 *
 * Threads. A reader is used by one thread at a time; different ones are independent. Not for signal
 * handlers.
 */
#ifndef LTT_READ_H
#define LTT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ltt_read;

/** ltt_read_new() - Return: a reader; NULL: no memory. Free it with ltt_read_free(). */
struct ltt_read *ltt_read_new(void);
/** ltt_read_free() - NULL is fine. */
void ltt_read_free(struct ltt_read *reader);

/** ltt_read_why() - the sentence of the last failure, without a newline; @reader: NULL: that memory
 *  is exhausted. Valid until the next call. */
const char *ltt_read_why(const struct ltt_read *reader);

/** Receives a sentence about damage, in UTF-8 without control bytes or newline. It must not use the
 *  reader. */
typedef void (*ltt_read_report_fn)(void *priv, const char *sentence);
/** ltt_read_on_report() - before ltt_read_open(): have @fn called; NULL: nothing is called. */
void ltt_read_on_report(struct ltt_read *reader, ltt_read_report_fn fn, void *priv);

/**
 * ltt_read_open() - open all traces below a directory. Their present contents are read, so a trace
 * that is being written can be read at any time. A reader is opened once.
 *
 * Return: 0; -ENOENT: there is no trace below @path; -EPROTO: none has metadata that can be read;
 * -EBUSY: it is open; -ENOMEM; other negative errno.
 */
int ltt_read_open(struct ltt_read *reader, const char *path);

/** enum ltt_read_key - by which events are selected, as by the options of lttctl-view(1). */
enum ltt_read_key {
	LTT_READ_EVENTS = 0,	/* "GLOB[,...]": names */
	LTT_READ_PROCESSES = 1, /* "GLOB|PID[,...]" */
	LTT_READ_THREADS = 2,	/* "GLOB|TID[,...]" */
	LTT_READ_WHERE = 3,	/* an expression of fields and contexts: "size > 100" */
	LTT_READ_BEGIN = 4,	/* from this time on: "HH:MM:SS.frac", "YYYY-MM-DD HH:MM" (local) or
				 * seconds since 1970 */
	LTT_READ_END = 5,	/* up to this time */
};

/**
 * ltt_read_select() - after ltt_read_open() and before the first event: only events for which all
 * keys that are set hold.
 * Return: 0; -EINVAL: @value has no such meaning, or there is no such key; -EBUSY: events have been
 * read; -EBADF: it is not open; -ENOMEM.
 */
int ltt_read_select(struct ltt_read *reader, enum ltt_read_key key, const char *value);

/* --- event by event ------------------------------------------------------------------------ */

/** ltt_read_next() - go to the next event. Return: 1; 0: there are no more; -EBADF: it is not open;
 *  -ENOMEM. */
int ltt_read_next(struct ltt_read *reader);

/* Of the current event; there must be one: ltt_read_next() has returned 1. */

/** Nanoseconds since 1970-01-01 00:00:00 UTC; negative: before. */
int64_t ltt_read_ns(const struct ltt_read *reader);
/** "PROVIDER:NAME", or as its tracer names it. Valid as long as the reader. */
const char *ltt_read_name(const struct ltt_read *reader);
/** The host that recorded it; "": unknown. Valid as long as the reader. */
const char *ltt_read_host(const struct ltt_read *reader);
/** The CPU. Return: false: unknown; @ret is unchanged. */
bool ltt_read_cpu(const struct ltt_read *reader, uint32_t *ret);
/** Process and thread, according to contexts. Return: false: unknown; @ret is unchanged. */
bool ltt_read_pid(const struct ltt_read *reader, int64_t *ret);
bool ltt_read_tid(const struct ltt_read *reader, int64_t *ret);

/** enum ltt_read_type - of a value. More types may follow. */
enum ltt_read_type {
	LTT_READ_NONE = 0, /* no value */
	LTT_READ_INTEGER = 1,
	LTT_READ_UNSIGNED = 2,
	LTT_READ_REAL = 3,
	LTT_READ_TEXT = 4,
	LTT_READ_ARRAY = 5,  /* of elements: ltt_read_member() */
	LTT_READ_STRUCT = 6, /* of members, or a variant of one */
};

/**
 * struct ltt_read_value - a value of an event.
 * @name: of the field, without quotes; NULL: of an element of an array.
 * @label: of an enumeration's number, which is in @i or @u; NULL: none.
 * @text: of @len bytes, any bytes, not terminated.
 * @nr: of elements or members.
 */
struct ltt_read_value {
	enum ltt_read_type type;
	const char *name;
	const char *label;
	union {
		int64_t i;
		uint64_t u;
		double d;
		const char *text;
	};
	size_t len, nr;
	const void *source; /* of the library */
};

/** Number of fields of its payload. */
size_t ltt_read_nr_fields(const struct ltt_read *reader);
/** ltt_read_field_at() - a field by its place. Return: false: there is none; @ret is unchanged. */
bool ltt_read_field_at(const struct ltt_read *reader, size_t at, struct ltt_read_value *ret);
/** ltt_read_field() - a field of the payload, else a context, by its name. Return: likewise. */
bool ltt_read_field(const struct ltt_read *reader, const char *name, struct ltt_read_value *ret);
/** ltt_read_member() - an element or member. @of: of the current event. Return: likewise. */
bool ltt_read_member(const struct ltt_read_value *of, size_t at, struct ltt_read_value *ret);

/* --- columns in batches -------------------------------------------------------------------- */

/**
 * struct ltt_read_column - values of many events, of the type that was chosen.
 * @missing: of @nr bytes: 1: the event has no such field, or one that this type can't hold.
 * @integers, @reals: of @nr numbers; NULL: it has another type. 0 where missing.
 * @text: all texts, one behind the other; @ends: of @nr offsets in it: text I begins at
 *        ends[I - 1], the first one at 0. NULL: it has another type.
 */
struct ltt_read_column {
	enum ltt_read_type type;
	const char *name;
	const uint8_t *missing;
	const int64_t *integers;
	const double *reals;
	const char *text;
	const uint64_t *ends;
};

/**
 * ltt_read_columns() - choose columns, before the first event: "ts" (in ns), "name", "host", "cpu",
 * "pid", "tid", or the name of a field or context. A field of such a name is "field.NAME".
 * @types: LTT_READ_INTEGER (an unsigned number above 2^63 - 1 is missing), LTT_READ_REAL (of
 *         integers, too) or LTT_READ_TEXT (an enumeration's label, a number in decimal).
 * @nr: 1 to 64.
 * Return: 0; -EINVAL; -EBUSY: events have been read; -EBADF: it is not open; -ENOMEM.
 */
int ltt_read_columns(struct ltt_read *reader, const char *const *names,
		     const enum ltt_read_type *types, size_t nr);
/**
 * ltt_read_batch() - the columns of the next events, at most @most of them, 1 to 2^20.
 * @ret: an array of as many columns as were chosen, valid until the next batch.
 * Return: the number of events; 0: there are no more; -EINVAL: no columns were chosen, or @most is
 * out of range; -ENOMEM.
 */
int ltt_read_batch(struct ltt_read *reader, size_t most, const struct ltt_read_column **ret);

/* --- after the last event ------------------------------------------------------------------ */

/**
 * struct ltt_read_totals
 * @events: that were read. @lost: events that were lost when the trace was recorded.
 * @problems: sentences about damage. @first_ns, @last_ns: 0: there are no events.
 */
struct ltt_read_totals {
	uint64_t events, lost, problems;
	int64_t first_ns, last_ns;
};

/** ltt_read_summary() - Return: 0; -EBADF: it is not open; -ENOMEM. */
int ltt_read_summary(struct ltt_read *reader, struct ltt_read_totals *ret);

#ifdef __cplusplus
}
#endif

#endif
