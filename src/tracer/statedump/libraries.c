/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State dump of the loaded libraries, and of those that come and go later. They are collected under
 * the loader's lock, which blocks dlopen() in the program, and recorded after it is released. The
 * memory is not malloc()'s, as a signal handler that interrupted that may call exit().
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ltt/statedump.h>

#include "tracer/site/site.h"
#include "statedump.h"
#include "elf.h"
#include "events.h"

struct node {
	struct node *next;
	struct elf_object object;
};

/** @adds, @subs: the loader's counters of libraries that came and went; equal to @same: nothing
 *  is collected. */
struct collection {
	struct node *first;
	struct node **end;
	size_t nr;
	const struct seen *same;
	unsigned long long adds, subs;
};

/* A library that was there at the last look: @hash of path and build id. @base 0: it still is. */
struct mapping {
	uintptr_t base;
	uint64_t hash;
};

#define WAIT_S 1

/* A thread that finds it locked leaves the look to its holder. It waits for that, but not for ever:
 * the holder may wait for the loader, whose lock the thread may hold. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t holder;	/* thread; 0: none */
static uint32_t wanted; /* looks */
static uint32_t made;	/* of them: all up to this one; a futex */
static uint32_t changes; /* that they found */
static struct seen {
	bool any;
	unsigned long long adds, subs;
	struct mapping *all;
	size_t nr;
} seen;

/* Return: zeroed; NULL: there is no memory. */
static void *libraries_alloc(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void libraries_free(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

static bool is_vdso(const struct dl_phdr_info *info)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);

	return vdso && vdso == (uintptr_t)info->dlpi_phdr - sizeof(ElfW(Ehdr));
}

static void name_object(struct elf_object *object, const struct dl_phdr_info *info, bool program)
{
	ssize_t len;

	if (is_vdso(info)) {
		strcpy(object->path, "[vdso]");
	} else if (program) {
		len = readlink("/proc/self/exe", object->path, sizeof(object->path) - 1);
		object->path[len > 0 ? len : 0] = '\0';
	} else if (info->dlpi_name[0] == '/' || !realpath(info->dlpi_name, object->path)) {
		/* dlopen("./plug.so") */
		snprintf(object->path, sizeof(object->path), "%s", info->dlpi_name);
	}
}

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
	struct collection *all = data;
	struct node *node;

	(void)size;
	all->adds = info->dlpi_adds;
	all->subs = info->dlpi_subs;
	if (all->same && all->same->adds == all->adds && all->same->subs == all->subs)
		return 1;
	node = libraries_alloc(sizeof(*node));
	if (!node || !elf_read_memory(&node->object, info)) {
		libraries_free(node, sizeof(*node));
		return 0;
	}
	name_object(&node->object, info, all->end == &all->first); /* the program is first */
	*all->end = node;
	all->end = &node->next;
	all->nr++;
	return 0;
}

static void statedump_libraries_record(const struct elf_object *o)
{
	ltt_trace(ltt_statedump, bin_info, o->base, o->size, o->path, o->pic, o->build_id_len > 0,
		  o->link_name[0] != '\0');
	if (o->build_id_len)
		ltt_trace(ltt_statedump, build_id, o->base, o->build_id, o->build_id_len);
	if (o->link_name[0])
		ltt_trace(ltt_statedump, debug_link, o->base, o->link_crc, o->link_name);
}

/* Frees all. */
static void libraries_record(struct collection *all)
{
	struct node *node;

	while ((node = all->first)) {
		all->first = node->next;
		elf_read_file(&node->object);
		site_unmute();
		statedump_libraries_record(&node->object);
		site_mute();
		libraries_free(node, sizeof(*node));
	}
}

void statedump_libraries(void)
{
	struct collection all = { .first = NULL, .end = &all.first };

	if (!ltt_enabled(ltt_statedump, bin_info) && !ltt_enabled(ltt_statedump, build_id) &&
	    !ltt_enabled(ltt_statedump, debug_link))
		return;
	dl_iterate_phdr(collect, &all);
	libraries_record(&all);
}

/* --- between dumps ------------------------------------------------------------------- */

static uint64_t libraries_hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len--)
		hash = (hash ^ *at++) * 0x100000001b3; /* FNV-1a */
	return hash;
}

static uint64_t libraries_hash(const struct elf_object *o)
{
	uint64_t hash = libraries_hash_bytes(0xcbf29ce484222325, o->path, strlen(o->path));

	return libraries_hash_bytes(hash, o->build_id, o->build_id_len);
}

/* Return: whether it was there at the last look. */
static bool libraries_take(const struct mapping *library)
{
	for (size_t i = 0; i < seen.nr; i++) {
		if (seen.all[i].base != library->base || seen.all[i].hash != library->hash)
			continue;
		seen.all[i].base = 0;
		return true;
	}
	return false;
}

static void libraries_record_gone(void)
{
	site_unmute();
	for (size_t i = 0; i < seen.nr; i++)
		if (seen.all[i].base)
			ltt_trace(ltt_statedump, bin_gone, seen.all[i].base);
	site_mute();
}

/* Those that came are left in @all; the ones that went are recorded. @now: of all->nr. */
static void libraries_compare(struct collection *all, struct mapping *now)
{
	struct node **at = &all->first, *node;

	for (size_t i = 0; (node = *at); i++) {
		now[i] = (struct mapping){ node->object.base, libraries_hash(&node->object) };
		if (!libraries_take(&now[i]) && seen.any) {
			at = &node->next;
		} else {
			*at = node->next;
			libraries_free(node, sizeof(*node));
		}
	}
	libraries_record_gone();
	libraries_free(seen.all, seen.nr * sizeof(*seen.all));
}

static void libraries_look_once(void)
{
	struct collection all = { .first = NULL, .same = seen.any ? &seen : NULL };
	struct mapping *now;

	all.end = &all.first;
	dl_iterate_phdr(collect, &all);
	now = all.nr ? libraries_alloc(all.nr * sizeof(*now)) : NULL;
	if (now) {
		libraries_compare(&all, now);
		seen = (struct seen){ true, all.adds, all.subs, now, all.nr };
		__atomic_add_fetch(&changes, 1, __ATOMIC_RELAXED);
	}
	libraries_record(&all);
}

bool statedump_libraries_are_wanted(void)
{
	return ltt_enabled(ltt_statedump, bin_info) || ltt_enabled(ltt_statedump, bin_gone);
}

/* Return: the number of the look that was requested here; 0: none is wanted. */
static uint32_t libraries_request(void)
{
	uint32_t nr, own;

	if (!statedump_libraries_are_wanted())
		return 0;
	own = __atomic_add_fetch(&wanted, 1, __ATOMIC_SEQ_CST);
	do {
		if (pthread_mutex_trylock(&lock) != 0)
			break;
		__atomic_store_n(&holder, (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
		nr = __atomic_load_n(&wanted, __ATOMIC_SEQ_CST);
		libraries_look_once();
		__atomic_store_n(&made, nr, __ATOMIC_RELEASE);
		__atomic_store_n(&holder, 0, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&lock);
		syscall(SYS_futex, &made, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	} while (nr != __atomic_load_n(&wanted, __ATOMIC_SEQ_CST));
	return own;
}

void statedump_libraries_look(void)
{
	(void)libraries_request();
}

uint32_t statedump_libraries_changes(void)
{
	return __atomic_load_n(&changes, __ATOMIC_RELAXED);
}

/* Another thread makes the look: before it has ended, the library may be replaced by another one at
 * its place, or the process may end. */
static void libraries_await(uint32_t nr)
{
	const struct timespec most = { .tv_nsec = 100000000 };
	uint32_t now;

	for (int i = 0; i < 10 * WAIT_S; i++) {
		now = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
		if ((int32_t)(now - nr) >= 0 ||
		    __atomic_load_n(&holder, __ATOMIC_RELAXED) == (pid_t)syscall(SYS_gettid))
			return;
		syscall(SYS_futex, &made, FUTEX_WAIT_PRIVATE, now, &most, NULL, 0);
	}
}

/* Another thread may have held the lock, and changed the list, when the process forked. */
void statedump_libraries_after_fork_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	holder = 0;
	seen = (struct seen){ .any = false };
}

__attribute__((visibility("default"))) void ltt_statedump_libraries(void)
{
	int error = errno;

	uint32_t nr;

	site_mute();
	nr = libraries_request();
	if (nr)
		libraries_await(nr);
	site_unmute();
	errno = error;
}
