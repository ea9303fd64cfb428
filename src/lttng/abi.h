/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * abi.h - the binary interface of programs built for LTTng-UST 2.13 to 2.16, as far as they use it.
 *
 * Facts of that interface: sizes, offsets and names. Structures that name their size may be longer
 * in newer programs; further members are ignored. Read where a program or library registers itself
 * (with its loader's lock), and by any thread that records.
 */
#ifndef LTTNG_ABI_H
#define LTTNG_ABI_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* --- call sites ------------------------------------------------------------------------- */

struct tp_probe {
	void (*function)(void); /* NULL: the end of the array */
	void *data;
};

struct lttng_ust_tracepoint {
	uint32_t size;
	const char *provider;
	const char *event;
	int state; /* the only word that is read while tracing is off */
	struct tp_probe *probes;
	int *provider_ref;
	const char *signature;
};

/* --- descriptions ------------------------------------------------------------------------ */

enum tp_type {
	TP_INTEGER,
	TP_STRING,
	TP_FLOAT,
	TP_DYNAMIC,
	TP_ENUM,
	TP_ARRAY,
	TP_SEQUENCE,
	TP_STRUCT,
};

enum { TP_ENTRY_IS_AUTO = 1 }; /* options of an entry */

struct tp_type_any {
	int32_t type; /* enum tp_type */
	uint32_t size;
};

struct tp_integer {
	struct tp_type_any any;
	unsigned int bits;
	unsigned short alignment;
	unsigned int is_signed : 1, is_swapped : 1;
	unsigned int base;
};

struct tp_float {
	struct tp_type_any any;
	unsigned int exponent, mantissa; /* bits, the sign in the exponent's */
	unsigned short alignment;
	unsigned int is_swapped : 1;
};

struct tp_enum {
	struct tp_type_any any;
	const struct tp_enum_desc *desc;
	const struct tp_type_any *container;
};

struct tp_array {
	struct tp_type_any any;
	const struct tp_type_any *element;
	unsigned int length;
	unsigned int alignment;
	int encoding; /* 0: no text */
};

struct tp_sequence {
	struct tp_type_any any;
	const char *length_name; /* NULL: the field before is the length */
	const struct tp_type_any *element;
	unsigned int alignment;
	int encoding;
};

struct tp_enum_value {
	unsigned long long value;
	unsigned int is_signed : 1;
};

struct tp_enum_entry {
	uint32_t size;
	struct tp_enum_value first, last;
	const char *label;
	unsigned int options;
};

struct tp_enum_desc {
	uint32_t size;
	const char *name;
	const struct tp_enum_entry *const *entries;
	unsigned int nr_entries;
	const struct lttng_ust_probe_desc *provider;
};

struct tp_field {
	uint32_t size;
	const char *name;
	const struct tp_type_any *type;
	unsigned int nowrite : 1, nofilter : 1;
};

struct tp_class {
	uint32_t size;
	const struct tp_field *const *fields;
	size_t nr_fields;
	void (*probe)(void);
	const char *signature;
	const struct lttng_ust_probe_desc *provider;
};

struct tp_event {
	uint32_t size;
	const char *name;
	const struct lttng_ust_probe_desc *provider;
	const struct tp_class *class;
	const int **loglevel; /* NULL, or of NULL: the usual one */
	const char **model_uri;
};

struct lttng_ust_probe_desc {
	uint32_t size;
	const char *name;
	const struct tp_event *const *events;
	unsigned int nr_events;
	uint32_t major, minor;
};

/* --- recording ------------------------------------------------------------------------------ */

struct tp_context {
	uint32_t size;
	void *ip;
};

enum { TP_RECORDER = 0 }; /* kind of an event */

struct tp_common {
	uint32_t size;
	void *private;
	int kind;
	void *child; /* struct tp_recorder */
	int enabled;
	int eval_filter; /* run_filter is called first */
	int (*run_filter)(const struct tp_common *event, const char *stack,
			  struct tp_context *context, void *filter);
};

struct tp_channel;

struct tp_recorder {
	uint32_t size;
	struct tp_common *parent;
	void *private;
	struct tp_channel *channel;
};

struct tp_reservation {
	uint32_t size;
	void *recorder; /* struct tp_recorder */
	size_t bytes;
	int largest_alignment;
	struct tp_context *context;
	void *private; /* ours */
};

struct tp_operations {
	uint32_t size;
	void *private;
	int (*reserve)(struct tp_reservation *at);
	void (*commit)(struct tp_reservation *at);
	void (*write)(struct tp_reservation *at, const void *from, size_t bytes, size_t alignment);
	void (*write_string)(struct tp_reservation *at, const char *from, size_t bytes);
	void (*write_padded)(struct tp_reservation *at, const char *from, size_t bytes);
};

struct tp_session {
	uint32_t size;
	void *private;
	int active;
};

struct tp_channel_common {
	uint32_t size;
	void *private;
	int kind;
	void *child;
	int enabled;
	struct tp_session *session;
};

struct tp_channel {
	uint32_t size;
	struct tp_channel_common *parent;
	void *private;
	struct tp_operations *operations;
};

#endif
