/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * context.h - contexts: values about the calling thread in front of the payload of a record.
 *
 * A set of contexts, in their order in the record, has a number. Sets are constant and never
 * freed, so any thread and any signal handler may use a number that it has read before.
 * A filter has a set, too, and reads its values. Each thread reads them once and keeps them, as a
 * system call costs more than a record; where changes are reported (context_keep_not()).
 */
#ifndef TRACER_RING_CONTEXT_H
#define TRACER_RING_CONTEXT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTEXT_BYTES 20480u /* no set is longer; behind it there is room for the slack */
#define CONTEXT_STACK 640u   /* sets that are not longer are written to the stack */
#define CONTEXT_VALUES 64u   /* no set has more */
#define CONTEXT_IMAGE 64u    /* bytes of a set of which threads keep an image, at most */
#define CONTEXT_NR_IDS 6u    /* real, effective and saved user; the same of groups */

/** Groups of system calls that read values, and of others of threads that record: bits. */
enum context_calls {
	CONTEXT_CALLS_THREAD = 1, /* getpid(), gettid(), getcpu(), prctl() */
	CONTEXT_CALLS_USERS = 2,
	CONTEXT_CALLS_NAMESPACES = 4,
	CONTEXT_CALLS_POPULATE = 8, /* tgkill(), madvise(MADV_POPULATE_WRITE) */
	CONTEXT_CALLS_FALLBACK = 16, /* sigaltstack(), sched_yield() */
	CONTEXT_CALLS_WAIT = 32,     /* nanosleep() */
	CONTEXT_CALLS_ALL = 63
};

/** Values that calls of the program change: bits. */
enum context_kind {
	CONTEXT_TASK = 1, /* all values: the thread's memory serves another task for a time */
	CONTEXT_NAME = 2,
	CONTEXT_USERS = 4,
	CONTEXT_NAMESPACES = 8
};

struct ltt_filter_value;

/**
 * context_set() - the number of a set, made if there is none yet. Helper thread only.
 * @names: comma-separated; $app.PROVIDER:NAME is one that the application registers, now or later;
 *         "" is 0, the empty set.
 * Return: false if a name is unknown, or there are too many sets.
 */
bool context_set(const char *names, uint32_t *ret_contexts);

/** Write the values of a set; up to 8 bytes behind them are written, too. @ip: address of the call
 *  site. Return: their size. */
size_t context_write(uint32_t contexts, unsigned char *to, const void *ip);

/**
 * struct context_image - the values of a set as they are in a record, kept by a thread as long as
 * none of them can have changed.
 * @key: context_image_key() of the set when it was made; 0: there is none.
 * @size: bytes in use.
 * @has_late: some are written for each event: @cpu_at: place of the CPU, @ip_at: of the call site;
 *            @size if it is not in the set.
 */
struct context_image {
	uint64_t key;
	uint32_t size, has_late, cpu_at, ip_at;
	unsigned char bytes[CONTEXT_IMAGE];
};

/** The calling thread's. A signal handler may replace it by that of another set: @key is compared
 *  within the sequence that copies it. */
extern __thread struct context_image context_own_image
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
extern uint64_t context_changes __attribute__((visibility("hidden")));
/** Size of the image of each set. */
extern uint8_t context_image_size[] __attribute__((visibility("hidden")));

/** The key of a current image of set @contexts, not 0. @has_ip: with the call site. */
static inline uint64_t context_image_key(uint32_t contexts, bool has_ip)
{
	return __atomic_load_n(&context_changes, __ATOMIC_ACQUIRE) << 9 | has_ip << 8 | contexts;
}

/** Whether the calling thread has an image as its values are now of a set without the call site. */
static inline bool context_has_image(uint32_t contexts)
{
	return context_own_image.key == context_image_key(contexts, false);
}

/** Make the calling thread's image of a set if it has none. Return: its key; 0: some values are not
 *  known before, or there is no room. */
uint64_t context_keep_image(uint32_t contexts);

/** Number of contexts of a set, and their size at most. */
uint32_t context_nr(uint32_t contexts);
uint32_t context_bytes(uint32_t contexts);
/** The values of a set in their order, for a filter. @memory: context_bytes() + 8, whose
 *  texts are used; @values: CONTEXT_VALUES. */
void context_values(uint32_t contexts, unsigned char *memory, struct ltt_filter_value *values,
		    const void *ip);

/** The ids of the calling thread, in its own user namespace; 0 where they can't be read. */
void context_ids(uint32_t ret_ids[CONTEXT_NR_IDS]);

/** struct context_task - the calling thread, in its own pid namespace; 0 or empty where it can't be
 *  read. */
struct context_task {
	uint32_t pid, tid;
	char name[16];
};

void context_task(struct context_task *ret);

/** The users or groups of a thread, or its namespaces, were changed: the same. Any thread. */
void context_users_changed(void);
void context_namespaces_changed(void);
/** The name of @thread was changed: all threads read theirs again. Any thread. */
void context_set_name(pthread_t thread, const char *name);
/** Before calls are forbidden: read the calling thread's values, which threads that have not read
 *  theirs by then have, too, except the thread's own number. */
void context_remember(void);
/** From now on no thread makes these system calls (bits of enum context_calls) for a value: those
 *  that are unknown are 0. */
void context_forbid_calls(uint32_t calls);
bool context_may_call(enum context_calls calls);
/** context_keep_not() - these values (bits of enum context_kind) change without a report: each
 *  event reads them, or checks that the task is the same. Before the first context_set(). */
void context_keep_not(uint32_t kinds);
/** In the child of a fork: context_forget(), also where calls are forbidden. @by_libc: by libc's
 *  fork(), which has noted the child's number. */
void context_after_fork_child(bool by_libc);
/** The calling task is another one than before, with the same memory: in the child after a fork,
 *  in the child of vfork() and again in its parent. Its values are read anew. */
void context_forget(void);

#endif
