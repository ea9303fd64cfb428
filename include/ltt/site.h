/* SPDX-License-Identifier: MIT */
/*
 * ltt/site.h - the interface between an instrumented program and libltt.
 *
 * Programs include ltt/tracepoint.h, ltt/marker.h, ltt/log.h or ltt/probe.h;
 * those include this file. It is the binary interface between instrumentation and
 * libltt: a site consists of a constant description and one word that is not 0 while
 * there is a listener or a tool. The layout of buffers is not compiled into applications, so
 * any libltt works with any program built against it.
 *
 * Every structure begins with, or is described by, its size: newer headers
 * append, older libraries ignore unknown members, and newer libraries accept shorter structures.
 */
#ifndef LTT_SITE_H
#define LTT_SITE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LTT_SITE_ABI 1

/** Log levels: syslog's, then LTTng's finer debug levels; same numbers. */
enum ltt_loglevel {
	LTT_EMERG = 0,
	LTT_ALERT = 1,
	LTT_CRIT = 2,
	LTT_ERR = 3,
	LTT_WARNING = 4,
	LTT_NOTICE = 5,
	LTT_INFO = 6,
	LTT_DEBUG_SYSTEM = 7,
	LTT_DEBUG_PROGRAM = 8,
	LTT_DEBUG_PROCESS = 9,
	LTT_DEBUG_MODULE = 10,
	LTT_DEBUG_UNIT = 11,
	LTT_DEBUG_FUNCTION = 12,
	LTT_DEBUG_LINE = 13, /* the default */
	LTT_DEBUG = 14
};

enum ltt_field_kind {
	LTT_KIND_INT = 1,
	LTT_KIND_FLOAT = 2,
	LTT_KIND_STRING = 3,   /* NUL-terminated */
	LTT_KIND_ARRAY = 4,    /* count elements of size_bits */
	LTT_KIND_SEQUENCE = 5, /* length of length_bits, then the elements */
	LTT_KIND_ENUM = 6
};

enum ltt_field_flags {
	LTT_FIELD_SIGNED = 1,
	LTT_FIELD_BIG_ENDIAN = 2, /* network byte order */
	LTT_FIELD_TEXT = 4,       /* array or sequence of UTF-8 bytes */
	LTT_FIELD_NOWRITE = 8,    /* for filters only: never recorded */
	LTT_FIELD_FLOAT_ELEM = 16 /* array or sequence of floats */
};

struct ltt_site;
struct ltt_typed_request;

struct ltt_enum_entry {
	const char *label;
	int64_t first;
	int64_t last; /* inclusive; equal to first for a single value */
};

struct ltt_enum {
	const char *name;
	const struct ltt_enum_entry *entries;
	uint32_t nr_entries;
	uint32_t reserved;
};

/** struct ltt_field - one field; sizes in bits, elements are byte-packed. */
struct ltt_field {
	const char *name;
	const struct ltt_enum *enumeration; /* LTT_KIND_ENUM, else NULL */
	uint32_t count;      /* LTT_KIND_ARRAY: number of elements */
	uint8_t kind;        /* enum ltt_field_kind */
	uint8_t size_bits;   /* of the integer, float or element: 8, 16, 32, 64 */
	uint8_t length_bits; /* LTT_KIND_SEQUENCE: of the length, unsigned */
	uint8_t base;        /* 2, 8, 10 or 16 */
	uint32_t flags;      /* enum ltt_field_flags */
	uint32_t reserved;
};

/** Bits of ltt_event.reserved[0]. */
enum ltt_event_flags {
	LTT_EVENT_TELLS_IP = 1 /* its payload is emitted by ltt_emit_at() */
};

enum ltt_event_kind {
	LTT_EVENT_TRACEPOINT = 1,
	LTT_EVENT_MARKER = 2
};

/**
 * struct ltt_event - the description of a site's event.
 * @size: sizeof(struct ltt_event) where the program was built.
 * @field_size: sizeof(struct ltt_field) there.
 * @name: "provider:name" of a tracepoint, "subsystem_event" of a marker.
 * @fields: in payload order; the NOWRITE ones last. A marker has none here:
 *          libltt makes them from @format when the site is registered.
 * @reserved: the first one: bits of enum ltt_event_flags; else 0.
 * @arguments: a tracepoint's, as declared: "(int id, const char *path)"; else NULL.
 * @connects: a probe of another tracepoint that is connected while this marker has a listener
 *            (DEFINE_MARKER_TP()); else NULL.
 * @sdt: the function whose SDT note has the tracepoint's name and arguments (ltt/sdt.h), called
 *       with the site and their values while LTT_SITE_TOOLS are not 0; NULL: there is no note.
 */
struct ltt_event {
	uint32_t size;
	uint16_t field_size;
	uint16_t nr_fields;
	const char *name;
	const struct ltt_field *fields;
	const char *format;
	const char *file;
	const char *function;
	uint32_t line;
	uint8_t kind;     /* enum ltt_event_kind */
	uint8_t loglevel; /* enum ltt_loglevel */
	uint8_t reserved[2];
	/* Programs of version 0.1 end here (LTT_EVENT_LEAST). */
	const char *arguments;
	const struct ltt_typed_request *connects;
	void (*sdt)(const struct ltt_site *site, ...);
};
#define LTT_EVENT_LEAST offsetof(struct ltt_event, arguments)

/**
 * struct ltt_site - one place in the program that can record.
 * @armed: LTT_SITE_TOOLS, LTT_SITE_LISTENED, LTT_SITE_MORE and LTT_SITE_TYPED; the only word that
 *         is read while tracing is off. The kernel changes its lower half at any time, so libltt
 *         changes its own bits by atomic operations and never stores the word.
 * @hooks, @owner, @only: set by libltt; NULL in the program's image. @only is the
 *         buffer of the site's only listener, a session; NULL if there are several, or none.
 * @changed: called when the first listener has come (@listened is 1) and when the last one has gone
 *           (0); not when the site is unregistered. NULL: nothing is called. It runs in any thread,
 *           with signals blocked and libltt's lock held: it must be short, and call nothing of
 *           libltt but ltt_site_armed().
 */
struct ltt_site {
	uint32_t armed;
	uint32_t size; /* sizeof(struct ltt_site) where the program was built */
	const struct ltt_event *event;
	void *hooks;
	void *owner;
	const void *only;
	/* Sites of older headers end here (LTT_SITE_LEAST). */
	void (*changed)(struct ltt_site *site, int listened);
};
#define LTT_SITE_LEAST (offsetof(struct ltt_site, only) + sizeof(const void *))

/* Parts of ltt_site.armed: the number of tools at the SDT note (ltt/sdt.h), counted by the kernel;
 * whether libltt has listeners; whether one of ltt_point.more has; whether there are typed probes
 * (ltt/typed.h). Libraries of version 0.1 count listeners in the lower half. */
#define LTT_SITE_TOOLS 0x0000ffffu
#define LTT_SITE_LISTENED 0x00010000u
#define LTT_SITE_MORE 0x00020000u
#define LTT_SITE_TYPED 0x80000000u

#define ltt_unlikely(x) __builtin_expect(!!(x), 0)
#define ltt_site_armed(site) \
	ltt_unlikely(__atomic_load_n(&(site)->armed, __ATOMIC_RELAXED))

/* After a call that emits: it is not the last one of its function, which the compiler would make a
 * jump; so its return address, the context `ip`, is in the function that emits. */
#define LTT__RETURNS_HERE() __asm__ volatile("")

/* -finstrument-functions leaves the functions of these headers, which are not the program's. */
#define LTT__OURS __attribute__((no_instrument_function))

/* Calls bypass the PLT, as each jump adds to the cost of an event. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define LTT__NOPLT __attribute__((noplt))
#endif
#endif
#ifndef LTT__NOPLT
#define LTT__NOPLT
#endif

/* Bytes after a payload that ltt_emit() may read, but does not record. */
#define LTT_PAYLOAD_SLACK 16

/**
 * ltt_emit() - pass a serialised payload to all hooks of the site.
 * @site: a registered site.
 * @payload: @len recorded bytes followed by @extra bytes of NOWRITE fields;
 *           readable for LTT_PAYLOAD_SLACK bytes behind that.
 *
 * Never fails, never blocks, preserves errno. Thread safe, async-signal safe.
 * Events that cannot be recorded are counted in the buffer.
 */
void ltt_emit(struct ltt_site *site, const void *payload, size_t len, size_t extra) LTT__NOPLT;

/**
 * ltt_emit_at() - ltt_emit() with the address of the call site, for the context `ip`: the same
 * function, of which older libraries do not read the last parameter, and others read it only if the
 * event has LTT_EVENT_TELLS_IP. ltt_emit() passes none; its own return address serves then.
 */
void ltt_emit_at(struct ltt_site *site, const void *payload, size_t len, size_t extra,
		 const void *ip) __asm__("ltt_emit") LTT__NOPLT;

/**
 * ltt_emit_word() - the same for a payload of 1 to 8 bytes, which fits a register.
 * @word: the payload, its first byte in the lowest bits; bytes after @len are 0.
 */
void ltt_emit_word(struct ltt_site *site, uint64_t word, size_t len) LTT__NOPLT;

/**
 * ltt_stage() - memory to serialise a payload that is too big for the stack.
 * @len: bytes, without LTT_PAYLOAD_SLACK.
 *
 * Return: memory to fill and pass to ltt_emit() and then to ltt_unstage(), or
 * NULL if no listener can record such a large event: its loss has been counted
 * already. Thread safe, async-signal safe.
 */
void *ltt_stage(struct ltt_site *site, size_t len);
void ltt_unstage(void *staged);

/** ltt_emit_format() - emit the event of a marker; called by trace_mark(). */
void ltt_emit_format(struct ltt_site *site, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** struct ltt_log_place - place in the source of a log call. */
struct ltt_log_place {
	const char *file;
	const char *function;
	int line;
};

/**
 * ltt_log(), ltt_vlog() - emit a log line as an event; called by the macros of ltt/log.h.
 * @place: recorded before the text as line, file, function; NULL: only the text is recorded.
 */
void ltt_log(struct ltt_site *site, const struct ltt_log_place *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void ltt_vlog(struct ltt_site *site, const struct ltt_log_place *place, const char *format,
	      va_list args) __attribute__((format(printf, 3, 0)));

/**
 * ltt_sites_register() - register the sites of one loaded object.
 * @begin, @end: array of pointers to sites; NULL entries and repeats are
 *               skipped. Called by a constructor that the headers provide.
 * @abi: LTT_SITE_ABI.
 */
void ltt_sites_register(struct ltt_site *const *begin, struct ltt_site *const *end,
			uint32_t abi);
/** ltt_sites_unregister() - the object is unloaded; returns when no thread uses them. */
void ltt_sites_unregister(struct ltt_site *const *begin, struct ltt_site *const *end);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
