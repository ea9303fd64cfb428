// SPDX-License-Identifier: LGPL-2.1-or-later
#include "provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fallback.h"
#include "filter/program.h"
#include "ring.h"
#include "tracer/base/large.h"

struct provider {
	const char *name; /* NULL: the slot is free, and all behind it */
	const struct ltt_context *context;
};

static struct provider providers[PROVIDER_SLOTS] TRACER_LARGE;
/* The frame in which the thread has called a context's function: events that this emits call none.
 * They have lower frames; from any other one, a signal handler has left the function by
 * siglongjmp(). */
static __thread const char *inside __attribute__((tls_model("initial-exec")));

/* --- names ------------------------------------------------------------------------- */

static size_t provider_word(const char *at, size_t len)
{
	size_t n = 0;

	while (n < len && ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z') ||
			   at[n] == '_' || (n > 0 && at[n] >= '0' && at[n] <= '9')))
		n++;
	return n;
}

static bool provider_name_valid(const char *name, size_t len)
{
	size_t first = len <= LTT_CONTEXT_NAME_MAX ? provider_word(name, len) : 0;
	size_t rest = len - first - 1;

	return first > 0 && first < len && name[first] == ':' && rest > 0 &&
	       provider_word(name + first + 1, rest) == rest;
}

static bool provider_has_name(const struct provider *provider, const char *name, size_t len)
{
	const char *known = __atomic_load_n(&provider->name, __ATOMIC_ACQUIRE);

	return known && strlen(known) == len && memcmp(known, name, len) == 0;
}

/* The first free slot is taken by one thread; the others check it again. */
static uint32_t provider_take(char *name, size_t len)
{
	uint32_t slot = 0;

	while (slot < PROVIDER_SLOTS) {
		const char *none = NULL;

		if (provider_has_name(&providers[slot], name, len))
			break;
		if (!__atomic_load_n(&providers[slot].name, __ATOMIC_ACQUIRE) &&
		    __atomic_compare_exchange_n(&providers[slot].name, &none, name, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return slot;
		if (!none)
			slot++;
		else if (!provider_has_name(&providers[slot], name, len))
			slot++;
	}
	free(name);
	return slot;
}

static uint32_t provider_find(const char *name, size_t len)
{
	uint32_t slot = 0;

	while (slot < PROVIDER_SLOTS && __atomic_load_n(&providers[slot].name, __ATOMIC_ACQUIRE) &&
	       !provider_has_name(&providers[slot], name, len))
		slot++;
	return slot < PROVIDER_SLOTS && providers[slot].name ? slot : PROVIDER_SLOTS;
}

bool provider_slot(const char *name, size_t len, uint32_t *ret_slot, int *ret_error)
{
	uint32_t slot = PROVIDER_SLOTS;
	char *copy;

	*ret_error = -EINVAL;
	if (!provider_name_valid(name, len))
		return false;
	slot = provider_find(name, len);
	if (slot == PROVIDER_SLOTS) {
		copy = strndup(name, len);
		*ret_error = copy ? -ENOSPC : -ENOMEM;
		slot = copy ? provider_take(copy, len) : PROVIDER_SLOTS;
	}
	*ret_slot = slot;
	return slot < PROVIDER_SLOTS;
}

/* --- values ------------------------------------------------------------------------ */

static uint32_t provider_kind(const struct ltt_context_value *value)
{
	bool valid = value->kind <= LTT_CONTEXT_STRING &&
		     (value->kind != LTT_CONTEXT_STRING || value->value.string);

	return valid ? value->kind : LTT_CONTEXT_NONE;
}

/* No string is "-": babeltrace2 2.0.4 may print the one before in place of an empty one. */
static unsigned char *provider_put_value(unsigned char *to, const struct ltt_context_value *value)
{
	const uint32_t kind = provider_kind(value);
	const int64_t integer = kind == LTT_CONTEXT_INTEGER ? value->value.integer : 0;
	const double number = kind == LTT_CONTEXT_FLOAT ? value->value.number : 0;
	const char *string = kind == LTT_CONTEXT_STRING ? value->value.string : "-";
	size_t len = strnlen(string, LTT_CONTEXT_STRING_MAX);

	*to++ = (unsigned char)kind;
	memcpy(to, &integer, sizeof(integer));
	to += sizeof(integer);
	memcpy(to, &number, sizeof(number));
	to += sizeof(number);
	memcpy(to, string, len);
	to[len] = '\0';
	return to + len + 1;
}

static bool provider_is_inside(const char *frame)
{
	return inside && (frame < inside || ring_is_on_other_stack());
}

unsigned char *provider_put(uint32_t slot, unsigned char *to)
{
	struct ltt_context_value value = { .kind = LTT_CONTEXT_NONE };
	const char *frame = __builtin_frame_address(0);
	const struct ltt_context *context;
	unsigned int token;
	int saved = errno;

	token = reader_enter();
	context = __atomic_load_n(&providers[slot].context, __ATOMIC_ACQUIRE);
	if (context && !provider_is_inside(frame)) {
		inside = frame;
		context->get(&value, context->data);
		inside = NULL;
	}
	to = provider_put_value(to, &value);
	reader_exit(token);
	errno = saved;
	return to;
}

unsigned char *provider_read(unsigned char *at, struct ltt_filter_value *ret)
{
	static const enum ltt_filter_kind kinds[] = { LTT_FILTER_ABSENT, LTT_FILTER_INTEGER,
						      LTT_FILTER_NUMBER, LTT_FILTER_TEXT };
	const char *string = (const char *)at + 1 + 8 + 8;

	ret->kind = kinds[*at];
	ret->length = (uint32_t)strlen(string);
	if (*at == LTT_CONTEXT_INTEGER)
		memcpy(&ret->integer, at + 1, sizeof(ret->integer));
	else if (*at == LTT_CONTEXT_FLOAT)
		memcpy(&ret->number, at + 1 + 8, sizeof(ret->number));
	else
		ret->text = string;
	return (unsigned char *)at + 1 + 8 + 8 + ret->length + 1;
}

/* --- registration ------------------------------------------------------------------ */

int ltt_context_register(const struct ltt_context *context)
{
	const struct ltt_context *none = NULL;
	uint32_t slot;
	int err;

	if (!context || context->size < sizeof(*context) || !context->name || !context->get)
		return -EINVAL;
	if (!provider_slot(context->name, strlen(context->name), &slot, &err))
		return err;
	return __atomic_compare_exchange_n(&providers[slot].context, &none, context, false,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED) ?
		       0 :
		       -EEXIST;
}

int ltt_context_unregister(const struct ltt_context *context)
{
	const struct ltt_context *was = context;
	uint32_t slot = context && context->name ?
				provider_find(context->name, strlen(context->name)) :
				PROVIDER_SLOTS;

	if (slot == PROVIDER_SLOTS ||
	    !__atomic_compare_exchange_n(&providers[slot].context, &was, NULL, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return -ENOENT;
	reader_synchronize();
	return 0;
}
