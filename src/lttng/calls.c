// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions that programs and LTTng's helper libraries call, for which libltt has ways of its own
 * or no need: they do nothing and succeed.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi.h"
#include "readers.h"

#define NOTHING(name)          \
	EXPORT void name(void) \
	{                      \
	}
#define SUCCESS(name)         \
	EXPORT int name(void) \
	{                     \
		return 0;     \
	}

/* --- liblttng-ust-tracepoint ------------------------------------------------------------------ */

EXPORT void lttng_ust_tp_rcu_read_lock(void)
{
	lttng_ust_urcu_read_lock();
}

EXPORT void lttng_ust_tp_rcu_read_unlock(void)
{
	lttng_ust_urcu_read_unlock();
}

EXPORT void *lttng_ust_tp_rcu_dereference_sym(void *pointer)
{
	return pointer;
}

static int destructors = 1;

EXPORT void lttng_ust_tp_disable_destructors(void)
{
	destructors = 0;
}

EXPORT int lttng_ust_tp_get_destructors_state(void)
{
	return destructors;
}

EXPORT void tp_disable_destructors(void)
{
	destructors = 0;
}

EXPORT int tp_get_destructors_state(void)
{
	return destructors;
}

NOTHING(lttng_ust_tp_init)
NOTHING(lttng_ust_tp_exit)

/* --- liblttng-ust -------------------------------------------------------------------------- */

EXPORT __attribute__((weak)) int lttng_ust_loaded;

NOTHING(init_usterr)
NOTHING(lttng_ust_init_thread)
NOTHING(lttng_ust_before_fork)
NOTHING(lttng_ust_after_fork_parent)
NOTHING(lttng_ust_after_fork_child)
NOTHING(lttng_ust_after_setns)
NOTHING(lttng_ust_after_unshare)
NOTHING(lttng_ust_after_setuid)
NOTHING(lttng_ust_after_setgid)
NOTHING(lttng_ust_after_seteuid)
NOTHING(lttng_ust_after_setegid)
NOTHING(lttng_ust_after_setreuid)
NOTHING(lttng_ust_after_setregid)
NOTHING(lttng_ust_after_setresuid)
NOTHING(lttng_ust_after_setresgid)
NOTHING(lttng_ust_dl_update)
NOTHING(lttng_ust_context_procname_reset)
NOTHING(lttng_ust_libc_wrapper_malloc_ctor)
NOTHING(lttng_ust_context_provider_unregister)

EXPORT void *lttng_ust_context_provider_register(void *provider)
{
	return provider;
}

EXPORT const char *lttng_ust_strerror(int code)
{
	return strerror(code < 0 ? -code : code);
}

/* --- liblttng-ust.so.0 ------------------------------------------------------------------------ */

NOTHING(ust_before_fork)
NOTHING(ust_after_fork_parent)
NOTHING(ust_after_fork_child)
NOTHING(ust_after_setns)
NOTHING(ust_after_unshare)
NOTHING(ust_after_setuid)
NOTHING(ust_after_setgid)
NOTHING(ust_after_seteuid)
NOTHING(ust_after_setegid)
NOTHING(ust_after_setreuid)
NOTHING(ust_after_setregid)
NOTHING(ust_after_setresuid)
NOTHING(ust_after_setresgid)

/* --- liblttng-ust-common ------------------------------------------------------------------- */

EXPORT int (*lttng_ust_get_cpu_sym)(void);
EXPORT void *lttng_ust_trace_clock;

NOTHING(lttng_ust_common_ctor)
NOTHING(lttng_ust_common_alloc_tls)
NOTHING(lttng_ust_lock_fd_tracker)
NOTHING(lttng_ust_unlock_fd_tracker)
NOTHING(lttng_ust_delete_fd_from_tracker)
SUCCESS(lttng_ust_cancelstate_disable_push)
SUCCESS(lttng_ust_cancelstate_disable_pop)
SUCCESS(lttng_ust_getcpu_override)
SUCCESS(lttng_ust_enable_trace_clock_override)
SUCCESS(lttng_ust_trace_clock_set_read64_cb)
SUCCESS(lttng_ust_trace_clock_get_read64_cb)
SUCCESS(lttng_ust_trace_clock_set_freq_cb)
SUCCESS(lttng_ust_trace_clock_get_freq_cb)
SUCCESS(lttng_ust_trace_clock_set_uuid_cb)
SUCCESS(lttng_ust_trace_clock_get_uuid_cb)
SUCCESS(lttng_ust_trace_clock_set_name_cb)
SUCCESS(lttng_ust_trace_clock_get_name_cb)
SUCCESS(lttng_ust_trace_clock_set_description_cb)
SUCCESS(lttng_ust_trace_clock_get_description_cb)

EXPORT int lttng_ust_add_fd_to_tracker(int fd)
{
	return fd;
}

EXPORT int lttng_ust_safe_close_fd(int fd, int (*close_it)(int fd))
{
	return close_it(fd);
}

EXPORT int lttng_ust_safe_fclose_stream(FILE *stream, int (*close_it)(FILE *stream))
{
	return close_it(stream);
}

EXPORT int lttng_ust_safe_closefrom_fd(int lowest, int (*close_it)(int fd))
{
	const int end = (int)sysconf(_SC_OPEN_MAX);

	for (int fd = lowest; fd >= 0 && fd < end; fd++)
		(void)close_it(fd);
	return 0;
}

EXPORT void *lttng_ust_rcu_dereference_sym(void *pointer)
{
	return __atomic_load_n(&pointer, __ATOMIC_CONSUME);
}

EXPORT void *lttng_ust_rcu_set_pointer_sym(void **pointer, void *value)
{
	__atomic_store_n(pointer, value, __ATOMIC_SEQ_CST);
	return value;
}

EXPORT void *lttng_ust_rcu_xchg_pointer_sym(void **pointer, void *value)
{
	return __atomic_exchange_n(pointer, value, __ATOMIC_SEQ_CST);
}

EXPORT void *lttng_ust_rcu_cmpxchg_pointer_sym(void **pointer, void *old, void *value)
{
	__atomic_compare_exchange_n(pointer, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}
