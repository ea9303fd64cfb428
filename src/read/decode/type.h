/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * type.h - CTF types, and the declarations of a trace's metadata.
 *
 * All structs are made by a parser of metadata (model.h), allocated in the arena of one trace and
 * freed together. They are constant once the metadata is resolved, except the counts of
 * events. Sizes and alignments are in bits.
 */
#ifndef READ_DECODE_TYPE_H
#define READ_DECODE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type_kind {
	TYPE_INT,
	TYPE_FLOAT,
	TYPE_ENUM,
	TYPE_STRING,
	TYPE_STRUCT,
	TYPE_VARIANT,
	TYPE_ARRAY,
	TYPE_SEQUENCE,
	TYPE_LEB128,
	TYPE_WIDE_STRING,
};

/** How a value of a type is shown, apart from its kind. */
enum type_look {
	LOOK_PLAIN,
	LOOK_BOOL,  /* an integer */
	LOOK_FLAGS, /* an enumeration: each mapping is a mask, any bit of which sets the label */
	LOOK_BLOB,  /* an array or sequence of bytes */
};

enum type_encoding { ENCODING_UTF16LE, ENCODING_UTF16BE, ENCODING_UTF32LE, ENCODING_UTF32BE };

enum type_order { ORDER_NATIVE, ORDER_LITTLE, ORDER_BIG };

/** The meaning of a field of a header or context for the reader itself. */
enum field_role {
	ROLE_NONE,
	ROLE_EVENT_ID,
	ROLE_CLOCK,
	ROLE_MAGIC,
	ROLE_UUID,
	ROLE_STREAM_ID,
	ROLE_STREAM_INSTANCE,
	ROLE_BEGIN,
	ROLE_END,
	ROLE_CONTENT_SIZE,
	ROLE_PACKET_SIZE,
	ROLE_SEQ_NUM,
	ROLE_DISCARDED,
	ROLE_STREAM_POS,
	ROLE_RECORDED,
	ROLE_LOST_FULL,
	ROLE_LOST_SIZE,
	ROLE_LOST_BUSY,
	ROLE_LOST_OUTPUT,
	ROLE_CRC32C,
	/* contexts of an event */
	ROLE_PROCNAME,
	ROLE_PID,
	ROLE_VPID,
	ROLE_TID,
	ROLE_VTID,
};

#define SIZE_VARIES UINT64_MAX
#define NO_SLOT UINT32_MAX

struct ctf_type;
struct plan;
struct plan_pick;
struct header_plan;
struct mold;
struct where_class;

/**
 * struct ctf_field - one member of a struct or option of a variant.
 * @name: as in the metadata; @shown, @shown_len: without the underscore that CTF prepends.
 * @slot: slot in which its value is stored for types that depend on it.
 * @run, @run_bits: number and size of members of constant size, from this one on, that can be
 *                  skipped at once if it begins at a byte; 0: none.
 */
struct ctf_field {
	const char *name;
	const char *shown;
	const struct ctf_type *type;
	uint32_t shown_len;
	uint32_t slot;
	uint8_t role;
	uint32_t run;
	uint64_t run_bits;
};

/** A label for a range of an enumeration; the values have the signedness of the container. */
struct ctf_mapping {
	const char *label;
	uint64_t first;
	uint64_t last;
};

/** From a value of the clock on, times follow from it in another way. @floor_ns: no time of it is
 *  earlier, so that the order is kept. */
struct ctf_clock_change {
	uint64_t from;
	uint64_t freq;
	int64_t base_ns;
	int64_t floor_ns;
};

struct ctf_clock {
	const char *name;
	uint64_t freq;
	int64_t offset_s;
	int64_t offset;
	int64_t base_ns; /* of both offsets */
	uint64_t inverse; /* 2^64 / freq, by which clock.h divides; 0: it does not */
	const struct ctf_clock_change *changes;
	size_t nr_changes;
	bool indirect; /* clock_indirect_ns() converts: it has changes, or is a guest's */
	const struct guest_clock *guest; /* guest.h */
	struct ctf_clock *next;
};

/** struct ctf_location - the field that a length or tag is. @root: number of its scope
 *  (model/bind.h), or -1: @parents structs above the innermost one. @path: names of members. */
struct ctf_location {
	int root;
	uint32_t parents;
	uint32_t nr;
	const char *const *path;
};

/**
 * struct ctf_type - one type; which members are used depends on @kind.
 * @align: the start is rounded up to this many bits, a power of two.
 * @fixed_bits: size, if it is constant; else SIZE_VARIES. A struct that sets a slot
 *              always has SIZE_VARIES, as its members must be read.
 * @order: as declared; @big_endian: the resulting byte order.
 * @reversed: a scalar's first bit is not the one that its byte order makes the first.
 * @text: elements of an array or sequence make up a string.
 * @look: enum type_look.
 * @encoding: of a wide string, @is_sized: it has @length or @slot, else it ends with a zero.
 * @is_optional: a variant of one option, or none where the tag selects none.
 * @roles: roles of its fields, a bit for each enum field_role, where these are declared.
 * @fields: of a struct or variant. @mappings: of an enumeration, or names of an integer's values.
 * @is_set, @mask: of an enumeration, as in trace/layout.h.
 * @ref: path to the length or tag, as written; @location: the same in CTF 2; @slot: slot of that
 *       field.
 * @elem: of an array or sequence; of LEB128 numbers and wide strings the type of their values.
 * @option_of: of a variant: for each mapping of its tag the option, or -1.
 * @plan: of a struct that is read by itself, plan.h; NULL: it has none.
 */
struct ctf_type {
	uint8_t kind;
	uint8_t size_bits;
	uint8_t base;
	uint8_t order;
	bool is_signed;
	bool big_endian;
	bool text;
	bool is_set;
	bool reversed;
	bool is_optional;
	bool is_sized;
	uint8_t look;
	uint8_t encoding;
	uint32_t roles;
	uint32_t align;
	uint32_t slot;
	uint32_t nr_fields;
	uint32_t nr_mappings;
	uint64_t length;
	uint64_t fixed_bits;
	struct ctf_field *fields;
	struct ctf_mapping *mappings;
	uint64_t mask;
	const char *ref;
	const struct ctf_location *location;
	const struct ctf_type *elem;
	const struct ctf_type *tag;
	int32_t *option_of;
	const struct ctf_clock *clock;
	const struct plan *plan;
};

struct ctf_env {
	const char *key;
	const char *text; /* NULL: the value is @number */
	int64_t number;
	struct ctf_env *next;
};

/** Whether the fields of a class are decoded, by its name. */
enum ctf_needed {
	NEEDED_UNKNOWN,
	NEEDED_NOT,
	NEEDED,
};

/** Whether events of a class are shown, by their name. */
enum ctf_selected {
	SELECTED_UNKNOWN,
	SELECTED_NOT,
	SELECTED_HIDDEN,
	SELECTED_SHOWN,
};

struct ctf_event_class {
	/* that each event needs: a line of memory */
	struct mold *mold;		 /* of its printer (show/mold.h); NULL: not made yet */
	const struct plan_pick *skipped; /* how an event is, plan.h; NULL: by its types */
	uint64_t *count;		 /* events of it that were selected */
	enum ctf_selected selected;
	uint32_t number; /* in the stream class's @sorted */
	/* all else */
	const char *name;
	uint64_t id;
	uint64_t stream_id;
	bool has_id;
	bool has_stream_id;
	bool broken;	  /* could not be resolved: events of it can't be read */
	int loglevel;	  /* -1: none */
	const char *text; /* its declaration, while the metadata is parsed */
	size_t text_len;
	const struct ctf_type *context;
	const struct ctf_type *fields;
	const struct ctf_field *result; /* of a system call: negative ones have names; or NULL */
	bool uses_slots; /* then: values depend on others */
	enum ctf_needed needed;
	bool task_is_known;
	int16_t task_at[3]; /* of the values of struct task: places among an event's; -1: none */
	const struct plan_pick *task_pick; /* of these values; NULL: not made yet, or it can't be */
	int8_t task_picked[3];		   /* their numbers in it; -1: none */
	uint64_t task_layout;	   /* of event_task_bytes(); 0: places or sizes are not constant */
	struct where_class *where; /* program of view_select.where; NULL: not compiled yet */
	uint32_t name_len;
	bool name_is_plain; /* it is shown without escapes */
	struct ctf_event_class *next;
	struct ctf_event_class *next_in_stream;
};

struct ctf_stream_class {
	uint64_t id;
	bool has_id;
	bool broken;
	const struct ctf_type *header;
	const struct header_plan *header_plan; /* NULL: it has none */
	bool header_is_referred; /* types of contexts or fields depend on values in it */
	const struct ctf_type *packet_context;
	const struct ctf_type *event_context;
	const struct ctf_clock *clock;	/* of the event header's timestamp */
	struct ctf_event_class *events; /* the last declared first */
	/* events by id: a direct table for small ones, a sorted one of all */
	struct ctf_event_class **by_id;
	uint32_t nr_by_id;
	struct ctf_event_class **sorted;
	uint32_t nr_sorted;
	struct ctf_stream_class *next;
};

/** struct ctf_trace_class
 * @is_shared: its clocks, streams and events are those of another trace, but for its UUID and its
 *	environment.
 * @env_at, @env_end: offsets of its block in the text of the metadata; @nr_envs: of such blocks. */
struct ctf_trace_class {
	bool has_uuid;
	bool big_endian;
	bool hides; /* packets have fields of this tracer in a gap (trace/packet.h) */
	uint8_t uuid[16];
	const struct ctf_type *packet_header;
	const struct ctf_type *results; /* METADATA_RESULTS, or NULL */
	struct ctf_env *env;
	struct ctf_clock *clocks;
	struct ctf_stream_class *streams;
	uint32_t nr_streams;
	struct ctf_event_class *events;
	uint32_t nr_slots;
	bool is_shared;
	uint32_t nr_envs;
	size_t env_at, env_end;
};

/** Memory of one trace's metadata. */
struct arena {
	struct arena_block *blocks;
};

void *arena_alloc(struct arena *arena, size_t size); /* zeroed */
char *arena_strndup(struct arena *arena, const char *s, size_t len);
void arena_fini(struct arena *arena);

/** Text of an environment entry, or NULL. */
const char *trace_class_env(const struct ctf_trace_class *tc, const char *key);
const struct ctf_env *trace_class_env_find(const struct ctf_trace_class *tc, const char *key);
struct ctf_stream_class *trace_class_stream(const struct ctf_trace_class *tc, uint64_t id);
struct ctf_event_class *stream_class_event_slow(const struct ctf_stream_class *sc, uint64_t id);

static inline struct ctf_event_class *stream_class_event(const struct ctf_stream_class *sc,
							 uint64_t id)
{
	return id < sc->nr_by_id ? sc->by_id[id] : stream_class_event_slow(sc, id);
}

/** Whether values of both types are read and shown alike. Of a struct its members are not compared;
 *  a variant is never alike. */
bool type_is_alike(const struct ctf_type *type, const struct ctf_type *other);

/** The first mapping, from @start on, that contains @value. Return: its index, or nr_mappings. */
uint32_t enum_find(const struct ctf_type *type, uint64_t value, uint32_t start);

/** struct enum_labels - the labels of a value, one after the other. @value: of a set, bits that
 *  have none yet; @taken: those that have one. */
struct enum_labels {
	const struct ctf_type *type;
	uint64_t value, taken;
	uint32_t at;
};

/** Begin: @ret is for enum_next(). */
void enum_begin(const struct ctf_type *type, uint64_t value, struct enum_labels *ret);
/** Return: the next label, or NULL; then @labels->value has the bits of a set without a label. */
const char *enum_next(struct enum_labels *labels);
/** enum_text() - the label of a value; of a set all of them, between `|`, with the rest as a
 *  number; of a value without a label the number. It is cut to @len bytes. */
void enum_text(char *buf, size_t len, const struct ctf_type *type, uint64_t value);

static inline uint64_t align_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

/** The type of the values of a field: that of an optional field's content, that of a number. */
static inline const struct ctf_type *type_of_value(const struct ctf_type *type)
{
	while (type->is_optional || type->kind == TYPE_LEB128 || type->kind == TYPE_WIDE_STRING)
		type = type->is_optional ? type->fields[0].type : type->elem;
	return type;
}

static inline bool type_is_scalar(const struct ctf_type *type)
{
	return type->kind == TYPE_INT || type->kind == TYPE_FLOAT || type->kind == TYPE_ENUM;
}

#endif
