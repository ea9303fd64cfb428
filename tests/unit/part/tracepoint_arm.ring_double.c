/* SPDX-License-Identifier: GPL-2.0-only */
#include "../ring_double.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "tracer/ring/hook.h"
#include "tracer/ring/ring.h"

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

unsigned int reader_enter_calling(const void *frame)
{
	(void)frame;
	return reader_enter();
}

void reader_exit_calling(unsigned int token)
{
	reader_exit(token);
}

void reader_synchronize(void)
{
	pthread_rwlock_wrlock(&double_lock);
	pthread_rwlock_unlock(&double_lock);
}

void reader_synchronize_code(void)
{
	reader_synchronize();
}

bool reader_synchronize_soon(void)
{
	reader_synchronize();
	return true;
}

struct binding ring_binding(struct ring_set *set, uint32_t id, uint32_t session)
{
	return (struct binding){ .set = set, .id = id, .session = session };
}

struct binding ring_binding_prepared(struct ring_set *set, uint32_t id, uint32_t session,
				     uint32_t preparation)
{
	struct binding binding = ring_binding(set, id, session);

	binding.preparation = preparation;
	return binding;
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

void ring_record_prepared(const struct hook *hook, uint32_t preparation, const void *payload,
			  size_t len, size_t extra, const void *ip)
{
	(void)preparation, (void)extra, (void)ip;
	ring_record(hook, payload, len);
}

void ring_record_image(const struct hook *hook, uint32_t preparation, const void *payload,
		       size_t len)
{
	(void)preparation;
	ring_record(hook, payload, len);
}

bool ring_clock_is_given;

void ring_record_given(const struct hook *hook, const void *payload, size_t len)
{
	ring_record(hook, payload, len);
}

void ring_record_image_given(const struct hook *hook, uint32_t preparation, const void *payload,
			     size_t len)
{
	(void)preparation;
	ring_record(hook, payload, len);
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

void ring_count_not_sampled(const struct hook *hook)
{
	(void)hook;
}
