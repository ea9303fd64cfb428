// SPDX-License-Identifier: LGPL-2.1-or-later
#include "otel.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "section.h"
#include "set.h"

/** The record that the variable points to, as the proposal has it; attributes follow. */
struct otel_record {
	uint8_t trace[OTEL_TRACE_BYTES];
	uint8_t span[OTEL_SPAN_BYTES];
	uint8_t valid; /* 1: not being changed */
	uint8_t reserved;
	uint16_t attributes_bytes;
};
_Static_assert(sizeof(struct otel_record) == 28, "as in the proposal");

static ptrdiff_t distance; /* of the variable from the thread pointer; 0: not known */

/* --- where it is --------------------------------------------------------------------- */

/* The library that has it must not be unloaded: @data is the variable of the calling thread. */
static int otel_pin(struct dl_phdr_info *object, size_t size, void *data)
{
	const char *begin = object->dlpi_tls_data;

	(void)size;
	if (!begin)
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_TLS && (char *)data >= begin &&
		    (char *)data < begin + object->dlpi_phdr[i].p_memsz)
			return !object->dlpi_name[0] ||
			       dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) !=
				       NULL;
	return 0;
}

/* Static thread-local memory is beside the thread pointer, at the end of a thread's stack; other is
 * allocated elsewhere. The helper is a thread with such a stack. */
static bool otel_is_static(const char *variable)
{
	pthread_attr_t attr;
	size_t size = 0;
	void *stack = NULL;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return false;
	pthread_attr_getstack(&attr, &stack, &size);
	pthread_attr_destroy(&attr);
	return variable >= (char *)stack && variable < (char *)stack + size;
}

void otel_find(void)
{
	char *variable;

	if (__atomic_load_n(&distance, __ATOMIC_RELAXED))
		return;
	variable = dlsym(RTLD_DEFAULT, "otel_thread_ctx_v1");
	if (variable && otel_is_static(variable) && dl_iterate_phdr(otel_pin, variable))
		__atomic_store_n(&distance, variable - (char *)section_thread_pointer(),
				 __ATOMIC_RELEASE);
}

/* --- its value ------------------------------------------------------------------------ */

static const struct otel_record *otel_record_now(ptrdiff_t at)
{
	const char *variable = (const char *)section_thread_pointer() + at;

	return __atomic_load_n((const struct otel_record *const *)variable, __ATOMIC_RELAXED);
}

/* A signal handler may have interrupted the library while it changes the record, and the library
 * may interrupt this by a handler of its own: so it is checked before and behind. */
static bool otel_copy(ptrdiff_t at, unsigned char *to)
{
	const struct otel_record *record = otel_record_now(at);

	if (!record || __atomic_load_n(&record->valid, __ATOMIC_RELAXED) != 1)
		return false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(to, record, OTEL_TRACE_BYTES + OTEL_SPAN_BYTES);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return otel_record_now(at) == record &&
	       __atomic_load_n(&record->valid, __ATOMIC_RELAXED) == 1;
}

unsigned char *otel_put(unsigned char *to)
{
	ptrdiff_t at = __atomic_load_n(&distance, __ATOMIC_ACQUIRE);

	if (unlikely(!at) || !otel_copy(at, to))
		memset(to, 0, OTEL_TRACE_BYTES + OTEL_SPAN_BYTES);
	return to + OTEL_TRACE_BYTES + OTEL_SPAN_BYTES;
}

unsigned char *otel_put_text(unsigned char *to, uint32_t first, uint32_t bytes)
{
	unsigned char ids[OTEL_TRACE_BYTES + OTEL_SPAN_BYTES];
	ptrdiff_t at = __atomic_load_n(&distance, __ATOMIC_ACQUIRE);
	bool known = at && otel_copy(at, ids);

	for (uint32_t i = 0; i < bytes; i++) {
		to[2 * i] = (unsigned char)(known ? "0123456789abcdef"[ids[first + i] >> 4] : 0);
		to[2 * i + 1] =
			(unsigned char)(known ? "0123456789abcdef"[ids[first + i] & 15] : 0);
	}
	to[2 * bytes] = '\0';
	return to + 2 * bytes + 1;
}
