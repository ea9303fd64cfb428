// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libltt-pthread.so: trace the locks of any program, and all that its threads wait for, by
 * LD_PRELOAD. Runs in whatever thread calls. A wait is the time between lock_req and lock_acq, or
 * between begin and end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <ltt/tracepoint.h>

#include "closing.h"
#include "frames.h"

#define EXPORT __attribute__((visibility("default")))
/* Of the exported function, in RECORD(). */
#define SITE __builtin_return_address(0), frames_take(&callers_, __builtin_frame_address(0))

LTT_TRACEPOINT(ltt_pthread, pthread_mutex_lock_req, (pthread_mutex_t *m, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(mutex, (uintptr_t)m),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_mutex_lock_acq, (pthread_mutex_t *m, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(mutex, (uintptr_t)m),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_mutex_trylock, (pthread_mutex_t *m, int result,
	       FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(mutex, (uintptr_t)m),
	       ltt_int(int, status, result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_mutex_unlock, (pthread_mutex_t *m, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(mutex, (uintptr_t)m),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_spin_lock_req, (pthread_spinlock_t *s, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(spin, (uintptr_t)s),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_spin_lock_acq, (pthread_spinlock_t *s, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(spin, (uintptr_t)s),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_spin_trylock, (pthread_spinlock_t *s, int result,
	       FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(spin, (uintptr_t)s),
	       ltt_int(int, status, result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_spin_unlock, (pthread_spinlock_t *s, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(spin, (uintptr_t)s),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_rwlock_lock_req, (pthread_rwlock_t *l, int is_write,
	       FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(rwlock, (uintptr_t)l),
	       ltt_int(int, write, is_write),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_rwlock_lock_acq, (pthread_rwlock_t *l, int is_write,
	       int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(rwlock, (uintptr_t)l),
	       ltt_int(int, write, is_write),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_rwlock_trylock, (pthread_rwlock_t *l, int is_write,
	       int result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(rwlock, (uintptr_t)l),
	       ltt_int(int, write, is_write),
	       ltt_int(int, status, result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_rwlock_unlock, (pthread_rwlock_t *l, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(rwlock, (uintptr_t)l),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_cond_wait_begin, (pthread_cond_t *c,
	       pthread_mutex_t *m, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(cond, (uintptr_t)c),
	       ltt_ptr(mutex, (uintptr_t)m),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_cond_wait_end, (pthread_cond_t *c, pthread_mutex_t *m,
	       int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(cond, (uintptr_t)c),
	       ltt_ptr(mutex, (uintptr_t)m),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_cond_signal, (pthread_cond_t *c, int result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(cond, (uintptr_t)c),
	       ltt_int(int, status, result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_cond_broadcast, (pthread_cond_t *c, int result,
	       FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(cond, (uintptr_t)c),
	       ltt_int(int, status, result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, sem_wait_begin, (sem_t *s, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(sem, (uintptr_t)s),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, sem_wait_end, (sem_t *s, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(sem, (uintptr_t)s),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, sem_trywait, (sem_t *s, int result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(sem, (uintptr_t)s),
	       ltt_int(int, status, result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, sem_post, (sem_t *s, int result, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(sem, (uintptr_t)s),
	       ltt_int(int, status, result),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_barrier_wait_begin, (pthread_barrier_t *b, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(barrier, (uintptr_t)b),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_barrier_wait_end, (pthread_barrier_t *b, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(barrier, (uintptr_t)b),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_join_begin, (pthread_t t, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(thread, (uintptr_t)t),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_join_end, (pthread_t t, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(thread, (uintptr_t)t),
	       ltt_int(int, status, result))
LTT_TRACEPOINT(ltt_pthread, pthread_once_begin, (pthread_once_t *o, FRAMES_PARAMETERS),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(once, (uintptr_t)o),
	       FRAMES_FIELDS)
LTT_TRACEPOINT(ltt_pthread, pthread_once_end, (pthread_once_t *o, int result),
	       LTT_DEBUG_FUNCTION,
	       ltt_ptr(once, (uintptr_t)o),
	       ltt_int(int, status, result))

/* --- the functions of the C library ---------------------------------------------------- */

/* REAL(name, parameters) */
#define REALS \
	REAL(pthread_mutex_lock, pthread_mutex_t *) \
	REAL(pthread_mutex_trylock, pthread_mutex_t *) \
	REAL(pthread_mutex_timedlock, pthread_mutex_t *, const struct timespec *) \
	REAL(pthread_mutex_clocklock, pthread_mutex_t *, clockid_t, const struct timespec *) \
	REAL(pthread_mutex_unlock, pthread_mutex_t *) \
	REAL(pthread_spin_lock, pthread_spinlock_t *) \
	REAL(pthread_spin_trylock, pthread_spinlock_t *) \
	REAL(pthread_spin_unlock, pthread_spinlock_t *) \
	REAL(pthread_rwlock_rdlock, pthread_rwlock_t *) \
	REAL(pthread_rwlock_wrlock, pthread_rwlock_t *) \
	REAL(pthread_rwlock_tryrdlock, pthread_rwlock_t *) \
	REAL(pthread_rwlock_trywrlock, pthread_rwlock_t *) \
	REAL(pthread_rwlock_timedrdlock, pthread_rwlock_t *, const struct timespec *) \
	REAL(pthread_rwlock_timedwrlock, pthread_rwlock_t *, const struct timespec *) \
	REAL(pthread_rwlock_clockrdlock, pthread_rwlock_t *, clockid_t, const struct timespec *) \
	REAL(pthread_rwlock_clockwrlock, pthread_rwlock_t *, clockid_t, const struct timespec *) \
	REAL(pthread_rwlock_unlock, pthread_rwlock_t *) \
	REAL(pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *) \
	REAL(pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, \
	     const struct timespec *) \
	REAL(pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t, \
	     const struct timespec *) \
	REAL(pthread_cond_signal, pthread_cond_t *) \
	REAL(pthread_cond_broadcast, pthread_cond_t *) \
	REAL(sem_wait, sem_t *) \
	REAL(sem_trywait, sem_t *) \
	REAL(sem_timedwait, sem_t *, const struct timespec *) \
	REAL(sem_clockwait, sem_t *, clockid_t, const struct timespec *) \
	REAL(sem_post, sem_t *) \
	REAL(pthread_barrier_wait, pthread_barrier_t *) \
	REAL(pthread_join, pthread_t, void **) \
	REAL(pthread_once, pthread_once_t *, void (*)(void))

enum {
#define REAL(name, ...) REAL_##name,
	REALS
#undef REAL
	NR_REALS
};

#define REAL(name, ...) typedef int call_##name(__VA_ARGS__);
REALS
#undef REAL

static const char *const names[] = {
#define REAL(name, ...) #name,
	REALS
#undef REAL
};

static void *reals[NR_REALS];

/* Not 0 while this thread is inside. */
static __thread int depth;
static __thread bool finding;

/*
 * An allocator that locks a mutex of its own because dlsym() allocates: it comes
 * here from inside the first call of all, which is the constructor's below, and
 * unlocks before that ends. No other thread is there that it could exclude.
 */
static int do_nothing(void)
{
	return 0;
}

/* Losing a race with another thread that looks it up does no harm. */
static void *wrap_pthread_find(int nr)
{
	void *call = __atomic_load_n(&reals[nr], __ATOMIC_ACQUIRE);

	if (__builtin_expect(call != NULL, 1))
		return call;
	if (finding)
		return (void *)do_nothing;
	finding = true;
	call = dlsym(RTLD_NEXT, names[nr]);
	finding = false;
	if (!call)
		return (void *)do_nothing;
	__atomic_store_n(&reals[nr], call, __ATOMIC_RELEASE);
	return call;
}

__attribute__((constructor(101))) static void wrap_pthread_start(void)
{
	frames_start();
	for (int i = 0; i < NR_REALS; i++)
		wrap_pthread_find(i);
}

#define CALL(name, ...) ((call_##name *)wrap_pthread_find(REAL_##name))(__VA_ARGS__)

/* --- calls ------------------------------------------------------------------------------- */

#define RECORD(name, ...) \
	do { \
		struct frames callers_ __attribute__((unused)); \
\
		if (depth == 1) \
			ltt_trace(ltt_pthread, name, __VA_ARGS__); \
	} while (0)

/* A function that is called within another one is not recorded. */
#define WRAP(call, before, behind) \
	do { \
		int result; \
\
		depth++; \
		before; \
		result = call; \
		behind; \
		depth--; \
		return result; \
	} while (0)

/* A thread may be cancelled in these: its cleanup is recorded. */
#define WRAP_WAIT(call, before, behind) \
	do { \
		int result; \
\
		depth++; \
		before; \
		depth--; \
		result = call; \
		depth++; \
		behind; \
		depth--; \
		return result; \
	} while (0)

#define WRAP_LOCK(kind, call, ...) \
	WRAP(call, RECORD(kind##_lock_req, __VA_ARGS__, SITE), \
	     RECORD(kind##_lock_acq, __VA_ARGS__, result))
#define WRAP_TRY(kind, call, ...) \
	WRAP(call, (void)0, RECORD(kind##_trylock, __VA_ARGS__, result, SITE))
#define WRAP_UNLOCK(kind, call, ...) \
	WRAP(call, (void)0, RECORD(kind##_unlock, __VA_ARGS__, result))

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	WRAP_LOCK(pthread_mutex, CALL(pthread_mutex_lock, m), m);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	WRAP_LOCK(pthread_mutex, CALL(pthread_mutex_timedlock, m, until), m);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *until)
{
	WRAP_LOCK(pthread_mutex, CALL(pthread_mutex_clocklock, m, clock, until), m);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	WRAP_TRY(pthread_mutex, CALL(pthread_mutex_trylock, m), m);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	WRAP_UNLOCK(pthread_mutex, CALL(pthread_mutex_unlock, m), m);
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *s)
{
	WRAP_LOCK(pthread_spin, CALL(pthread_spin_lock, s), s);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *s)
{
	WRAP_TRY(pthread_spin, CALL(pthread_spin_trylock, s), s);
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *s)
{
	WRAP_UNLOCK(pthread_spin, CALL(pthread_spin_unlock, s), s);
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	WRAP_LOCK(pthread_rwlock, CALL(pthread_rwlock_rdlock, l), l, false);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	WRAP_LOCK(pthread_rwlock, CALL(pthread_rwlock_wrlock, l), l, true);
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until)
{
	WRAP_LOCK(pthread_rwlock, CALL(pthread_rwlock_timedrdlock, l, until), l, false);
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until)
{
	WRAP_LOCK(pthread_rwlock, CALL(pthread_rwlock_timedwrlock, l, until), l, true);
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *until)
{
	WRAP_LOCK(pthread_rwlock, CALL(pthread_rwlock_clockrdlock, l, clock, until), l, false);
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *until)
{
	WRAP_LOCK(pthread_rwlock, CALL(pthread_rwlock_clockwrlock, l, clock, until), l, true);
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	WRAP_TRY(pthread_rwlock, CALL(pthread_rwlock_tryrdlock, l), l, false);
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	WRAP_TRY(pthread_rwlock, CALL(pthread_rwlock_trywrlock, l), l, true);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	WRAP_UNLOCK(pthread_rwlock, CALL(pthread_rwlock_unlock, l), l);
}

#define WRAP_COND(call) \
	WRAP_WAIT(call, RECORD(pthread_cond_wait_begin, c, m, SITE), \
		  RECORD(pthread_cond_wait_end, c, m, result))

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	WRAP_COND(CALL(pthread_cond_wait, c, m));
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *until)
{
	WRAP_COND(CALL(pthread_cond_timedwait, c, m, until));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				  const struct timespec *until)
{
	WRAP_COND(CALL(pthread_cond_clockwait, c, m, clock, until));
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	WRAP(CALL(pthread_cond_signal, c), (void)0, RECORD(pthread_cond_signal, c, result, SITE));
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	WRAP(CALL(pthread_cond_broadcast, c), (void)0,
	     RECORD(pthread_cond_broadcast, c, result, SITE));
}

/* Those of semaphores return -1 and set errno, which an event does not change. */
#define STATUS (result ? errno : 0)
#define WRAP_SEM(call) \
	WRAP_WAIT(call, RECORD(sem_wait_begin, s, SITE), RECORD(sem_wait_end, s, STATUS))

EXPORT int sem_wait(sem_t *s)
{
	WRAP_SEM(CALL(sem_wait, s));
}

EXPORT int sem_timedwait(sem_t *s, const struct timespec *until)
{
	WRAP_SEM(CALL(sem_timedwait, s, until));
}

EXPORT int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	WRAP_SEM(CALL(sem_clockwait, s, clock, until));
}

EXPORT int sem_trywait(sem_t *s)
{
	WRAP(CALL(sem_trywait, s), (void)0, RECORD(sem_trywait, s, STATUS, SITE));
}

/* Safe in signal handlers, as an event is. */
EXPORT int sem_post(sem_t *s)
{
	WRAP(CALL(sem_post, s), (void)0, RECORD(sem_post, s, STATUS, SITE));
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	WRAP(CALL(pthread_barrier_wait, b), RECORD(pthread_barrier_wait_begin, b, SITE),
	     RECORD(pthread_barrier_wait_end, b, result));
}

EXPORT int pthread_join(pthread_t t, void **ret)
{
	WRAP_WAIT(CALL(pthread_join, t, ret), RECORD(pthread_join_begin, t, SITE),
		  RECORD(pthread_join_end, t, result));
}

/* The calls of the routine are recorded. */
EXPORT int pthread_once(pthread_once_t *o, void (*routine)(void))
{
	WRAP_WAIT(CALL(pthread_once, o, routine), RECORD(pthread_once_begin, o, SITE),
		  RECORD(pthread_once_end, o, result));
}
