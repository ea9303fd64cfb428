/* SPDX-License-Identifier: MIT */
/*
 * ltt/context.h - values of the application's own, recorded with its events.
 *
 *	static void request_id(struct ltt_context_value *ret_value, void *data)
 *	{
 *		ltt_context_set_string(ret_value, my_request_id);	// thread-local, perhaps
 *	}
 *	static const struct ltt_context context = {
 *		sizeof(struct ltt_context), 0, "web:request_id", request_id, NULL
 *	};
 *	ltt_context_register(&context);
 *
 * `lttctl add-context -u -t '$app.web:request_id'` records it with each event, and a filter reads
 * it as $app.web:request_id. Where it is not registered its value is "none".
 */
#ifndef LTT_CONTEXT_H
#define LTT_CONTEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum ltt_context_kind {
	LTT_CONTEXT_NONE = 0, /* there is no value now */
	LTT_CONTEXT_INTEGER = 1,
	LTT_CONTEXT_FLOAT = 2,
	LTT_CONTEXT_STRING = 3
};

/** Bytes of a string that are recorded at most, the terminator not included. */
#define LTT_CONTEXT_STRING_MAX 255

/** struct ltt_context_value - set by the functions below. */
struct ltt_context_value {
	uint32_t kind; /* enum ltt_context_kind */
	uint32_t reserved;
	union {
		int64_t integer;
		double number;
		const char *string;
	} value;
};

/**
 * struct ltt_context - a context.
 * @size: sizeof(struct ltt_context) where the program was built.
 * @reserved: 0.
 * @name: "PROVIDER:NAME", each of letters, digits and underscores, at most LTT_CONTEXT_NAME_MAX
 *        bytes together.
 * @get: supplies the value of the calling thread; if it sets none there is none. It is called in
 *       any thread that emits an event, several at once, and in a signal handler if that emits
 *       one: then it must be async-signal-safe. It must return, by no jump, and must not call
 *       ltt_context_unregister(). A string is copied before @get is called again in this
 *       thread; only its first LTT_CONTEXT_STRING_MAX bytes are recorded. Events that @get emits
 *       have no such contexts. errno is preserved.
 * @data: passed to @get.
 */
struct ltt_context {
	uint32_t size;
	uint32_t reserved;
	const char *name;
	void (*get)(struct ltt_context_value *ret_value, void *data);
	void *data;
};

#define LTT_CONTEXT_NAME_MAX 100

/**
 * ltt_context_register() - make a context available; at any time, also before a session records.
 * @context: belongs to the caller, and stays as it is until it is unregistered.
 *
 * Thread-safe; not for signal handlers. Return: 0; -EINVAL: the name or the size is invalid, or
 * there is no @get; -EEXIST: another context has this name; -ENOSPC: there are 256 names already,
 * which are never forgotten; -ENOMEM.
 */
int ltt_context_register(const struct ltt_context *context);

/**
 * ltt_context_unregister() - the opposite, before @context or the code of its function is gone.
 * No thread is in its function when this returns. Not for signal handlers, probes or the functions
 * of contexts. Return: 0; -ENOENT: it is not registered.
 */
int ltt_context_unregister(const struct ltt_context *context);

static inline void ltt_context_set_integer(struct ltt_context_value *ret_value, int64_t integer)
{
	ret_value->kind = LTT_CONTEXT_INTEGER;
	ret_value->value.integer = integer;
}

static inline void ltt_context_set_float(struct ltt_context_value *ret_value, double number)
{
	ret_value->kind = LTT_CONTEXT_FLOAT;
	ret_value->value.number = number;
}

/** @string: NULL: there is no value. */
static inline void ltt_context_set_string(struct ltt_context_value *ret_value, const char *string)
{
	ret_value->kind = string ? LTT_CONTEXT_STRING : LTT_CONTEXT_NONE;
	ret_value->value.string = string;
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
