/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring_double.h - stands in for the ring where a test is about which rings get a record,
 * not about its contents: a ring set counts its records by event id.
 */
#ifndef TESTS_RING_DOUBLE_H
#define TESTS_RING_DOUBLE_H

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "tracer/ring/hook.h"
#include "tracer/ring/ring.h"

#define DOUBLE_IDS 16

struct ring_set {
	uint64_t records[DOUBLE_IDS];
	uint64_t lost_size;
	unsigned char last[65536];
	size_t last_len;
	int keep; /* fill last[]: single-threaded tests */
};

/* Readers: a plain lock for readers and writers will do. */
static pthread_rwlock_t double_lock = PTHREAD_RWLOCK_INITIALIZER;

unsigned int reader_enter(void)
{
	pthread_rwlock_rdlock(&double_lock);
	return 0;
}

void reader_exit(unsigned int token)
{
	(void)token;
	pthread_rwlock_unlock(&double_lock);
}

void reader_synchronize(void)
{
	pthread_rwlock_wrlock(&double_lock);
	pthread_rwlock_unlock(&double_lock);
}

struct binding ring_binding(struct ring_set *set, uint32_t id, uint32_t session)
{
	return (struct binding){ .set = set, .id = id, .session = session };
}

void ring_record(const struct hook *hook, const void *payload, size_t len)
{
	const struct binding *binding;

	reader_enter();
	binding = __atomic_load_n(&hook->binding, __ATOMIC_ACQUIRE);
	if (binding) {
		__atomic_add_fetch(&binding->set->records[binding->id % DOUBLE_IDS], 1,
				   __ATOMIC_RELAXED);
		if (binding->set->keep) {
			memcpy(binding->set->last, payload, len);
			binding->set->last_len = len;
		}
	}
	reader_exit(0);
}

void ring_lose_oversize(const struct hook *hook)
{
	const struct binding *binding = __atomic_load_n(&hook->binding, __ATOMIC_ACQUIRE);

	if (binding)
		__atomic_add_fetch(&binding->set->lost_size, 1, __ATOMIC_RELAXED);
}

uint32_t ring_hook_session(const struct hook *hook)
{
	const struct binding *binding = __atomic_load_n(&hook->binding, __ATOMIC_ACQUIRE);

	return binding ? binding->session : 0;
}

#endif
