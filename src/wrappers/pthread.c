// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libltt-pthread.so: trace the mutexes of any program, by LD_PRELOAD. Runs in
 * whatever thread locks. A wait is the time between lock_req and lock_acq.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <ltt/tracepoint.h>

#define EXPORT __attribute__((visibility("default")))

LTT_TRACEPOINT(ltt_pthread, pthread_mutex_lock_req, (pthread_mutex_t *m, void *site),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(mutex, (uintptr_t)m),
	       ltt_ptr(call_site, (uintptr_t)site))
LTT_TRACEPOINT(ltt_pthread, pthread_mutex_lock_acq, (pthread_mutex_t *m, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(mutex, (uintptr_t)m),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_mutex_trylock, (pthread_mutex_t *m, int result, void *site),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(mutex, (uintptr_t)m),
	       ltt_int(int, status, result),
	       ltt_ptr(call_site, (uintptr_t)site))
LTT_TRACEPOINT(ltt_pthread, pthread_mutex_unlock, (pthread_mutex_t *m, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(mutex, (uintptr_t)m),
	       ltt_int(int, status, result))

typedef int (*mutex_call)(pthread_mutex_t *);

static mutex_call real_lock, real_trylock, real_unlock;

/* Not 0 while this thread is inside. */
static __thread int depth;
static __thread bool finding;

/*
 * An allocator that locks a mutex of its own because dlsym() allocates: it comes
 * here from inside the first call of all, which is the constructor's below, and
 * unlocks before that ends. No other thread is there that it could exclude.
 */
static int do_nothing(pthread_mutex_t *m)
{
	(void)m;
	return 0;
}

/* Losing a race with another thread that looks it up does no harm. */
static mutex_call wrap_pthread_find(mutex_call *known, const char *name)
{
	mutex_call call = __atomic_load_n(known, __ATOMIC_ACQUIRE);

	if (__builtin_expect(call != NULL, 1))
		return call;
	if (finding)
		return do_nothing;
	finding = true;
	call = (mutex_call)dlsym(RTLD_NEXT, name);
	finding = false;
	if (!call)
		return do_nothing;
	__atomic_store_n(known, call, __ATOMIC_RELEASE);
	return call;
}

static int do_lock(pthread_mutex_t *m)
{
	return wrap_pthread_find(&real_lock, "pthread_mutex_lock")(m);
}

static int do_trylock(pthread_mutex_t *m)
{
	return wrap_pthread_find(&real_trylock, "pthread_mutex_trylock")(m);
}

static int do_unlock(pthread_mutex_t *m)
{
	return wrap_pthread_find(&real_unlock, "pthread_mutex_unlock")(m);
}

__attribute__((constructor(101))) static void wrap_pthread_start(void)
{
	wrap_pthread_find(&real_lock, "pthread_mutex_lock");
	wrap_pthread_find(&real_trylock, "pthread_mutex_trylock");
	wrap_pthread_find(&real_unlock, "pthread_mutex_unlock");
}

#define RECORD(name, ...) \
	do { \
		if (depth == 1) \
			ltt_trace(ltt_pthread, name, __VA_ARGS__); \
	} while (0)

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	int result;

	depth++;
	RECORD(pthread_mutex_lock_req, m, __builtin_return_address(0));
	result = do_lock(m);
	RECORD(pthread_mutex_lock_acq, m, result);
	depth--;
	return result;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	int result;

	depth++;
	result = do_trylock(m);
	RECORD(pthread_mutex_trylock, m, result, __builtin_return_address(0));
	depth--;
	return result;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	int result;

	depth++;
	result = do_unlock(m);
	RECORD(pthread_mutex_unlock, m, result);
	depth--;
	return result;
}
