/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * abi.h - the binary interface of programs built for LTTng-UST 2.7 to 2.12, as far as they use it.
 *
 * Facts of that interface: sizes, offsets and names. Structures have padding in place of a
 * size.
 */
#ifndef LTTNG_OLD_ABI_H
#define LTTNG_OLD_ABI_H

#include "lttng/abi.h"

/* --- call sites ------------------------------------------------------------------------- */

struct old_site {
	const char *name; /* "provider:event" */
	int state;
	struct tp_probe *probes;
	int *provider_ref;
	const char *signature;
	char padding[16];
};

/* --- descriptions ------------------------------------------------------------------------ */

enum old_types {
	OLD_INTEGER,
	OLD_ENUM,
	OLD_ARRAY,
	OLD_SEQUENCE,
	OLD_STRING,
	OLD_FLOAT,
};

struct old_integer {
	unsigned int bits;
	unsigned short alignment;
	unsigned int is_signed : 1, is_swapped : 1;
	unsigned int base;
	int encoding;
	char padding[24];
};

struct old_float {
	unsigned int exponent, mantissa;
	unsigned short alignment;
	unsigned int is_swapped : 1;
	char padding[24];
};

struct old_enum_entry {
	struct tp_enum_value first, last;
	const char *label;
	unsigned int options;
	char padding[12];
};

struct old_enum_desc {
	const char *name;
	const struct old_enum_entry *entries;
	unsigned int nr_entries;
	char padding[24];
};

union old_basic {
	struct old_integer integer;
	struct {
		const struct old_enum_desc *desc;
		struct old_integer container;
	} enumeration;
	struct old_float real;
	char padding[128];
};

struct old_element {
	int type; /* enum old_types */
	union old_basic u;
};

struct old_type {
	int type; /* enum old_types */
	union {
		union old_basic basic;
		struct {
			struct old_element element;
			unsigned int length;
		} array;
		struct {
			struct old_element length, element;
		} sequence;
	} u;
};

struct old_field {
	const char *name;
	struct old_type type;
	unsigned int nowrite;
	char padding[28];
};

struct old_event_desc {
	const char *name; /* "provider:event" */
	void (*probe)(void);
	const void *context;
	const struct old_field *fields;
	unsigned int nr_fields;
	const int **loglevel;
	const char *signature;
	char padding[40];
};

struct old_provider_desc {
	const char *name;
	const struct old_event_desc *const *events;
	unsigned int nr_events;
	void *lists[4];
	int lazy;
	uint32_t major, minor;
	char padding[12];
};

/* --- recording ------------------------------------------------------------------------------ */

/** struct old_reservation - from @buffer on it is the tracer's, but for @ip. */
struct old_reservation {
	void *channel;
	void *event; /* struct old_event */
	void *handle;
	size_t bytes;
	int largest_alignment;
	int cpu;
	void *buffer;
	size_t slot_size;
	unsigned long offset, offset_before;
	uint64_t time;
	unsigned int flags, size;
	void *ip;
};

struct old_operations {
	void *create, *destroy;
	unsigned long has_string : 1;
	void *unused;
	int (*reserve)(struct old_reservation *at, uint32_t id);
	void (*commit)(struct old_reservation *at);
	void (*write)(struct old_reservation *at, const void *from, size_t bytes);
	void *available, *finalized, *disabled, *flush;
	void (*write_string)(struct old_reservation *at, const char *from, size_t bytes);
};

struct old_session {
	int active;
};

struct old_channel {
	void *channel;
	int enabled;
	void *context;
	struct old_session *session;
	int object;
	unsigned int unused[2];
	void *node[2];
	const struct old_operations *operations;
	int header_type;
	void *handle;
};

struct old_list {
	struct old_list *next, *previous;
};

struct old_event {
	unsigned int id;
	struct old_channel *channel;
	int enabled;
	const void *desc;
	void *unused;
	void *context;
	int kind;
	struct old_list node, unused_list;
	void *unused_pointer;
	unsigned int unused_bit : 1;
	struct old_list filters; /* empty: the probe saves no values for filters */
	int is_unfiltered;
};

#endif
