/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "statedump.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ltt/statedump.h>

#include "tracer/site/site.h"
#include "events.h"

#define EXPORT __attribute__((visibility("default")))

struct dump {
	struct dump *next;
	void (*run)(void *priv);
	void *priv;
	uint64_t serial; /* ascending along the list */
};

/* Not held while a dump runs: a dump may run for long, fork, and take the program's locks, below
 * which others register and unregister. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dump *dumps;
static uint64_t last_serial;
static uint64_t running;  /* serial of the dump that runs, 0: none */
static int runner;	  /* the thread that runs it */
static uint32_t finished; /* counts; a futex */

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* by the linker */

void statedump_init(void)
{
	site_register_late(__start_ltt_sites, __stop_ltt_sites, __ehdr_start);
}

static struct dump **statedump_find(void (*run)(void *priv), void *priv)
{
	struct dump **at = &dumps;

	while (*at && ((*at)->run != run || (*at)->priv != priv))
		at = &(*at)->next;
	return at;
}

EXPORT int ltt_statedump_register(void (*run)(void *priv), void *priv)
{
	struct dump *dump = run ? malloc(sizeof(*dump)) : NULL;
	struct dump **at;
	int err = 0;

	if (!dump)
		return run ? -ENOMEM : -EINVAL;
	*dump = (struct dump){ .run = run, .priv = priv };
	pthread_mutex_lock(&lock);
	at = statedump_find(run, priv);
	if (*at) {
		err = -EEXIST;
	} else {
		dump->serial = ++last_serial;
		*at = dump;
		dump = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(dump);
	return err;
}

static void wait_finished(uint64_t serial)
{
	for (;;) {
		uint32_t seen = __atomic_load_n(&finished, __ATOMIC_ACQUIRE);
		bool busy;

		pthread_mutex_lock(&lock);
		busy = running == serial && runner != (int)syscall(SYS_gettid);
		pthread_mutex_unlock(&lock);
		if (!busy)
			return;
		syscall(SYS_futex, &finished, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	}
}

EXPORT int ltt_statedump_unregister(void (*run)(void *priv), void *priv)
{
	struct dump **at, *dump;

	pthread_mutex_lock(&lock);
	at = statedump_find(run, priv);
	dump = *at;
	if (dump)
		*at = dump->next;
	pthread_mutex_unlock(&lock);
	if (!dump)
		return -ENOENT;
	wait_finished(dump->serial);
	free(dump);
	return 0;
}

/* The next dump behind @after, marked as running. Return: false: there is none. */
static bool begin_next(uint64_t after, struct dump *ret_dump)
{
	struct dump *dump;

	pthread_mutex_lock(&lock);
	dump = dumps;
	while (dump && dump->serial <= after)
		dump = dump->next;
	running = dump ? dump->serial : 0;
	runner = (int)syscall(SYS_gettid);
	if (dump)
		*ret_dump = *dump;
	pthread_mutex_unlock(&lock);
	__atomic_add_fetch(&finished, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &finished, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	return dump;
}

void statedump_run(uint32_t session)
{
	struct dump dump = { .serial = 0 };

	statedump_libraries_look(); /* for the other sessions */
	site_only_session(session);
	site_unmute();
	ltt_trace(ltt_statedump, start);
	ltt_trace(ltt_statedump, procname, program_invocation_short_name);
	site_mute();
	statedump_libraries();
	site_unmute();
	while (begin_next(dump.serial, &dump))
		dump.run(dump.priv);
	ltt_trace(ltt_statedump, end);
	site_mute();
	site_only_session(0);
}

void statedump_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

void statedump_after_fork_parent(void)
{
	pthread_mutex_unlock(&lock);
}

void statedump_after_fork_child(void)
{
	running = 0;
	pthread_mutex_unlock(&lock);
	statedump_libraries_after_fork_child();
}
