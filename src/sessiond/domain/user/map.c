/* SPDX-License-Identifier: GPL-2.0-only */
#include "map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "app.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/memfile.h"
#include "link.h"
#include "session.h"

#define MAP_KIND "map" /* of the keeper's entries */
#define MAP_VERSION 1u
#define MAP_INDEX_BYTES 65536u
#define MAP_AREAS_MOST 65536u /* of a session */
#define MAP_AREA_FDS 2u	      /* besides that of the counts */

/* --- memory ------------------------------------------------------------------------- */

enum map_cell_state {
	MAP_CELL_FREE = 0, /* of a process that has ended, whose values are dropped */
	MAP_CELL_USED = 1,
	MAP_CELL_SHARED = 2, /* sum of the values of processes that have ended */
};

/** A value in the index. Entries are appended; @bytes, the room for the key, and @word stay. */
struct map_entry {
	uint32_t bytes; /* of the entry: a multiple of 8 */
	uint32_t state; /* enum map_cell_state; written last */
	uint32_t map;
	uint32_t word; /* in each part of the area's memory */
	uint32_t lane;
	uint32_t pid;	   /* of the process that increments it; 0: all of the user */
	uint64_t ticks;	   /* start of that process */
	uint64_t extra;	   /* added to the value: of cells that were freed */
	uint32_t overflow; /* 1: of all keys for which there was no room */
	char key[];
};

/** The index of an area. @used: bytes, with this head; written when an entry is complete. @to,
 *  @from: offsets of two entries; @from is about to be freed, and @to then has @extra; 0: none. */
struct map_index {
	uint32_t version;
	uint32_t uid;
	uint64_t counts; /* id of the memory in messages to applications */
	uint32_t used;
	uint32_t to, from;
	uint32_t reserved;
	uint64_t extra;
};

/** @base: of each word of @counts: its value when it was cleared, or used again; or NULL: 0. */
struct map_area {
	struct list_node node;
	struct user_counts *counts;
	uint32_t number; /* in the session */
	uint32_t nr_words;
	int index_fd, base_fd;
	struct map_index *index;
	uint64_t *base;
	struct list_node cells; /* struct map_cell */
	uint32_t nr_free;	/* of them */
};

struct map_key {
	struct list_node node;
	struct idmap_node by_text;
	uint32_t map;
	bool overflow;
	char *text;
	struct list_node cells; /* struct map_cell */
};

/** A value: as its entry, which a process that has stored it in the keeper's place may have
 *  changed since. */
struct map_cell {
	struct list_node node; /* of its key */
	struct list_node in_area;
	struct map_area *area;
	struct map_entry *entry;
	struct map_key *key;
	enum map_cell_state state;
	uint32_t word, lane;
	pid_t pid;
	uint64_t ticks, extra;
};

void user_maps_init(struct user_maps *maps)
{
	list_init(&maps->areas);
	list_init(&maps->keys);
	idmap_init(&maps->by_text);
}

static struct quotas *user_map_quotas(const struct user_session *us)
{
	return us->rec.recorder->config.quotas;
}

static uint64_t map_keeper_id(const struct user_session *us, uint32_t number)
{
	return us->rec.session->id * MAP_AREAS_MOST + number;
}

static void map_area_keep(const struct user_session *us, const struct map_area *area)
{
	const int fds[KEEPER_FDS] = { area->counts->fd, area->index_fd, area->base_fd };
	struct keeper *keeper = us->rec.recorder->config.keeper;

	if (keeper)
		keeper_put(keeper, MAP_KIND, map_keeper_id(us, area->number), fds);
}

static void *map_memory(int fd, uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void map_area_free(struct user_session *us, struct map_area *area)
{
	if (area->index)
		munmap(area->index, MAP_INDEX_BYTES);
	if (area->base) {
		munmap(area->base, counts_bytes_of(us, area->counts));
		quota_give(user_map_quotas(us), user_account(us, area->counts->uid), QUOTA_MEMORY,
			   counts_bytes_of(us, area->counts));
	}
	if (area->index_fd >= 0)
		quota_give(user_map_quotas(us), user_account(us, area->counts->uid),
			   QUOTA_DESCRIPTORS, MAP_AREA_FDS);
	close_fd(area->index_fd);
	close_fd(area->base_fd);
	list_remove(&area->node);
	free(area); /* its counts are freed with all of the session */
}

static struct map_area *map_area_alloc(struct user_session *us, struct user_counts *counts,
				       uint32_t number)
{
	struct map_area *area = xalloc(sizeof(*area));

	area->counts = counts;
	area->number = number;
	area->index_fd = area->base_fd = -1;
	list_init(&area->cells);
	list_append(&us->maps.areas, &area->node);
	us->maps.nr_areas = MAX(us->maps.nr_areas, number + 1);
	return area;
}

static int map_area_fill(const struct user_session *us, struct map_area *area, struct err *err)
{
	int ret;

	if (quota_take_or_explain(user_map_quotas(us), user_account(us, area->counts->uid),
				  QUOTA_DESCRIPTORS, MAP_AREA_FDS, err))
		return err->code;
	ret = memfile_new("ltt-map", MAP_INDEX_BYTES, &area->index_fd);
	area->index = ret < 0 ? NULL : map_memory(area->index_fd, MAP_INDEX_BYTES);
	if (!area->index) {
		if (ret < 0)
			quota_give(user_map_quotas(us), user_account(us, area->counts->uid),
				   QUOTA_DESCRIPTORS, MAP_AREA_FDS);
		return err_errno(err, ERR_NO_MEMORY, ret < 0 ? -ret : ENOMEM,
				 "no memory for the keys of maps");
	}
	*area->index = (struct map_index){
		.version = MAP_VERSION,
		.uid = area->counts->uid,
		.counts = area->counts->id,
		.used = sizeof(*area->index),
	};
	return 0;
}

static struct map_area *map_area_new(struct user_session *us, uid_t uid, struct err *err)
{
	struct user_counts *counts;
	struct map_area *area;

	if (us->maps.nr_areas == MAP_AREAS_MOST) {
		err_set(err, ERR_LIMIT, "the maps of a session have at most %u values",
			MAP_AREAS_MOST * MAP_AREA_WORDS);
		return NULL;
	}
	counts = counts_of_words(us, uid, MAP_AREA_WORDS, err);
	if (!counts)
		return NULL;
	area = map_area_alloc(us, counts, us->maps.nr_areas);
	if (map_area_fill(us, area, err)) {
		us->maps.nr_areas--;
		map_area_free(us, area);
		return NULL;
	}
	map_area_keep(us, area);
	return area;
}

/* Return: 0 or the code set in @err. */
static int map_area_need_base(const struct user_session *us, struct map_area *area, struct err *err)
{
	const uint64_t bytes = counts_bytes_of(us, area->counts);
	struct account_id account = user_account(us, area->counts->uid);
	int ret;

	if (area->base)
		return 0;
	if (quota_take_or_explain(user_map_quotas(us), account, QUOTA_MEMORY, bytes, err))
		return err->code;
	ret = memfile_new("ltt-map-base", bytes, &area->base_fd);
	area->base = ret < 0 ? NULL : map_memory(area->base_fd, bytes);
	if (area->base)
		return 0;
	area->base_fd = close_fd(area->base_fd);
	quota_give(user_map_quotas(us), account, QUOTA_MEMORY, bytes);
	return err_errno(err, ERR_NO_MEMORY, ret < 0 ? -ret : ENOMEM,
			 "no memory for the values of maps");
}

/* --- keys --------------------------------------------------------------------------- */

static uint64_t map_key_hash(uint32_t map, const char *text)
{
	return idmap_hash_text(text) + map * 0x9e3779b97f4a7c15ull;
}

static struct map_key *map_key_find(const struct user_session *us, uint32_t map, const char *text,
				    bool overflow)
{
	struct idmap_node *node = idmap_find(&us->maps.by_text, map_key_hash(map, text));

	for (; node; node = idmap_next(&us->maps.by_text, node)) {
		struct map_key *key = container_of(node, struct map_key, by_text);

		if (key->map == map && key->overflow == overflow && strcmp(key->text, text) == 0)
			return key;
	}
	return NULL;
}

static struct map_key *map_key_new(struct user_session *us, struct map *map, const char *text,
				   bool overflow)
{
	struct map_key *key = xalloc(sizeof(*key));

	key->map = map->number;
	key->text = xstrdup(text);
	key->overflow = overflow;
	list_init(&key->cells);
	list_append(&us->maps.keys, &key->node);
	idmap_add(&us->maps.by_text, &key->by_text, map_key_hash(key->map, text));
	map->nr_keys += !overflow;
	return key;
}

/* The key, or that of all keys for which there is no room. */
static struct map_key *map_key_get(struct user_session *us, struct map *map, const char *text)
{
	struct map_key *key = map_key_find(us, map->number, text, false);

	if (key)
		return key;
	if (map->nr_keys < map->max_keys)
		return map_key_new(us, map, text, false);
	key = map_key_find(us, map->number, "", true);
	return key ? key : map_key_new(us, map, "", true);
}

static struct map *user_map_by_number(const struct user_session *us, uint32_t number)
{
	struct map *map;

	list_for_each(map, &us->rec.session->maps, node)
		if (map->number == number)
			return map;
	return NULL;
}

/* --- values ------------------------------------------------------------------------- */

static uint32_t map_entry_bytes(const char *key)
{
	return (uint32_t)(sizeof(struct map_entry) + strlen(key) + 1 + 7) / 8 * 8;
}

static uint64_t map_cell_part(const struct map_cell *cell, uint32_t part)
{
	const struct user_counts *counts = cell->area->counts;
	size_t at = (size_t)part * counts->part_words + cell->word;
	uint64_t value = __atomic_load_n(&counts->words[at], __ATOMIC_RELAXED);

	return value - (cell->area->base ? cell->area->base[at] : 0);
}

/* Processes that have just ended may not be reaped yet. */
static bool map_cell_has_ended(const struct user_session *us, const struct map_cell *cell)
{
	const struct user_app *app;

	if (cell->state != MAP_CELL_USED || !cell->pid)
		return false;
	list_for_each(app, &us->user->apps, node)
		if (app->app.pid == cell->pid && app->start_ticks == cell->ticks)
			return false;
	return !cell->ticks || process_start_ticks(cell->pid) != cell->ticks;
}

static void map_cell_set_state(struct map_cell *cell, enum map_cell_state state)
{
	cell->state = state;
	cell->area->nr_free += state == MAP_CELL_FREE;
	__atomic_store_n(&cell->entry->state, state, __ATOMIC_RELEASE);
}

/* If its process has ended, its value is one of those, or is dropped. */
static void map_cell_settle(const struct user_session *us, struct map_cell *cell)
{
	const struct map *map = user_map_by_number(us, cell->key->map);

	if (map && map_cell_has_ended(us, cell))
		map_cell_set_state(cell,
				   map->dead == MAP_DEAD_DROP ? MAP_CELL_FREE : MAP_CELL_SHARED);
}

static struct map_cell *map_cell_alloc(struct map_area *area, struct map_key *key,
				       struct map_entry *entry)
{
	struct map_cell *cell = xalloc(sizeof(*cell));

	cell->area = area;
	cell->key = key;
	cell->entry = entry;
	cell->state = (enum map_cell_state)entry->state;
	cell->word = entry->word;
	cell->lane = entry->lane;
	cell->pid = (pid_t)entry->pid;
	cell->ticks = entry->ticks;
	cell->extra = entry->extra;
	list_append(&key->cells, &cell->node);
	list_append(&area->cells, &cell->in_area);
	area->nr_free += cell->state == MAP_CELL_FREE;
	return cell;
}

/* Return: NULL: the area is full. */
static struct map_cell *map_cell_new(struct map_area *area, struct map_key *key,
				     const struct map_entry *entry)
{
	struct map_entry *to = (void *)((char *)area->index + area->index->used);
	uint32_t bytes = map_entry_bytes(key->text);

	if (area->nr_words == MAP_AREA_WORDS || bytes > MAP_INDEX_BYTES - area->index->used)
		return NULL;
	*to = *entry;
	to->bytes = bytes;
	to->map = key->map;
	to->overflow = key->overflow;
	to->word = area->nr_words++;
	memcpy(to->key, key->text, strlen(key->text) + 1);
	__atomic_store_n(&area->index->used, area->index->used + bytes, __ATOMIC_RELEASE);
	return map_cell_alloc(area, key, to);
}

static void map_cell_clear(const struct user_session *us, struct map_cell *cell)
{
	const struct user_counts *counts = cell->area->counts;

	for (uint32_t part = 0; part <= us->rec.recorder->config.nr_cpus; part++) {
		size_t at = (size_t)part * counts->part_words + cell->word;

		cell->area->base[at] = __atomic_load_n(&counts->words[at], __ATOMIC_RELAXED);
	}
	cell->extra = cell->entry->extra = 0;
}

/* A cell of a process that has ended, for another one and another key. */
static struct map_cell *map_cell_reuse(const struct user_session *us, struct map_area *area,
				       struct map_key *key, const struct map_entry *entry)
{
	const uint32_t bytes = map_entry_bytes(key->text);
	struct map_cell *cell, *found = NULL;

	list_for_each(cell, &area->cells, in_area)
		if (!found && cell->state == MAP_CELL_FREE && bytes <= cell->entry->bytes)
			found = cell;
	if (!found)
		return NULL;
	map_cell_clear(us, found);
	found->key = key;
	found->lane = found->entry->lane = entry->lane;
	found->pid = (pid_t)(found->entry->pid = entry->pid);
	found->ticks = found->entry->ticks = entry->ticks;
	found->entry->map = key->map;
	found->entry->overflow = key->overflow;
	memcpy(found->entry->key, key->text, strlen(key->text) + 1);
	list_remove(&found->node);
	list_append(&key->cells, &found->node);
	area->nr_free--;
	map_cell_set_state(found, MAP_CELL_USED);
	return found;
}

static uint32_t map_entry_offset(const struct map_cell *cell)
{
	return (uint32_t)((const char *)cell->entry - (const char *)cell->area->index);
}

/* Add the value of a cell to another one of its key, and free it: once, also if the daemon is
 * killed in between. */
static void map_cell_fold(const struct user_session *us, struct map_cell *from, struct map_cell *to)
{
	struct map_index *index = from->area->index;
	uint64_t value = to->extra + from->extra;

	for (uint32_t part = 0; part <= us->rec.recorder->config.nr_cpus; part++)
		value += map_cell_part(from, part);
	index->extra = value;
	index->to = map_entry_offset(to);
	__atomic_store_n(&index->from, map_entry_offset(from), __ATOMIC_RELEASE);
	to->extra = to->entry->extra = value;
	map_cell_set_state(from, MAP_CELL_FREE);
	__atomic_store_n(&index->from, 0, __ATOMIC_RELEASE);
}

static struct map_cell *map_area_shared(const struct map_area *area, const struct map_cell *than)
{
	struct map_cell *cell;

	list_for_each(cell, &than->key->cells, node)
		if (cell != than && cell->area == area && cell->state == MAP_CELL_SHARED)
			return cell;
	return NULL;
}

/* Free the cells of processes that have ended. */
static void map_area_tidy(const struct user_session *us, struct map_area *area)
{
	struct map_cell *cell, *shared;

	list_for_each(cell, &area->cells, in_area) {
		map_cell_settle(us, cell);
		shared = cell->state == MAP_CELL_SHARED ? map_area_shared(area, cell) : NULL;
		if (shared)
			map_cell_fold(us, cell, shared);
	}
}

static bool map_areas_tidy(struct user_session *us, uid_t uid)
{
	struct map_area *area;
	struct err ignored = { 0 };
	bool any = false;

	list_for_each(area, &us->maps.areas, node) {
		if (area->counts->uid != uid)
			continue;
		map_area_tidy(us, area);
		if (!area->nr_free)
			continue;
		if (!area->base && map_area_need_base(us, area, &ignored) == 0)
			map_area_keep(us, area);
		any |= area->base != NULL;
	}
	return any;
}

static struct map_cell *map_cell_find_room(const struct user_session *us, uid_t uid,
					   struct map_key *key, const struct map_entry *entry)
{
	struct map_cell *cell = NULL;
	struct map_area *area;

	list_for_each(area, &us->maps.areas, node) {
		if (cell || area->counts->uid != uid)
			continue;
		cell = map_cell_new(area, key, entry);
		if (!cell && area->nr_free && area->base)
			cell = map_cell_reuse(us, area, key, entry);
	}
	return cell;
}

static struct map_cell *map_cell_make(struct user_session *us, uid_t uid, struct map_key *key,
				      const struct map_entry *entry, struct err *err)
{
	struct map_cell *cell = map_cell_find_room(us, uid, key, entry);
	struct map_area *area;

	if (!cell && entry->pid && map_areas_tidy(us, uid))
		cell = map_cell_find_room(us, uid, key, entry);
	if (cell)
		return cell;
	area = map_area_new(us, uid, err);
	return area ? map_cell_new(area, key, entry) : NULL;
}

const struct user_counts *user_map_value(const struct user_link *link, struct map *map,
					 const char *key, uint32_t lane, uint32_t *ret_word)
{
	struct user_session *us = link->us;
	const struct user_app *app = link->app;
	const bool process = map->ownership == OWNERSHIP_PROCESS;
	const struct map_entry entry = {
		.state = MAP_CELL_USED,
		.lane = lane,
		.pid = process ? (uint32_t)app->app.pid : 0,
		.ticks = process ? app->start_ticks : 0,
	};
	struct map_key *of = map_key_get(us, map, key);
	struct map_cell *cell, *found = NULL;
	struct err err = { 0 };

	list_for_each(cell, &of->cells, node)
		if (cell->state == MAP_CELL_USED && cell->area->counts->uid == app->app.uid &&
		    cell->lane == lane && cell->pid == (pid_t)entry.pid &&
		    cell->ticks == entry.ticks)
			found = cell;
	if (!found)
		found = map_cell_make(us, app->app.uid, of, &entry, &err);
	if (!found) {
		counts_problem(us, app->app.uid, &err);
		return NULL;
	}
	*ret_word = found->word;
	return found->area->counts;
}

/* --- life --------------------------------------------------------------------------- */

/* A process has stored the index in the keeper's place, perhaps. */
static bool map_entry_is_valid(const struct map_index *index, uint32_t at, uint32_t word)
{
	const struct map_entry *entry = (const void *)((const char *)index + at);
	uint32_t room = MAP_INDEX_BYTES - at;

	return room > sizeof(*entry) && entry->bytes > sizeof(*entry) && entry->bytes <= room &&
	       entry->bytes % 8 == 0 && entry->word == word && entry->state <= MAP_CELL_SHARED &&
	       memchr(entry->key, '\0', entry->bytes - sizeof(*entry));
}

static void map_entry_restore(struct user_session *us, struct map_area *area,
			      struct map_entry *entry)
{
	struct map *map = user_map_by_number(us, entry->map);
	AUTO_FREE char *text =
		xasprintf("%.*s", (int)(entry->bytes - sizeof(*entry) - 1), entry->key);
	struct map_key *key = map ? map_key_find(us, map->number, text, entry->overflow) : NULL;

	if (map && !key)
		key = map_key_new(us, map, text, entry->overflow);
	if (key)
		map_cell_alloc(area, key, entry);
}

static void map_entries_restore(struct user_session *us, struct map_area *area)
{
	uint32_t used = MIN(area->index->used, MAP_INDEX_BYTES), at = sizeof(*area->index);

	while (at < used && map_entry_is_valid(area->index, at, area->nr_words)) {
		struct map_entry *entry = (void *)((char *)area->index + at);

		if (area->index->from && at == area->index->to)
			entry->extra = area->index->extra;
		if (at == area->index->from)
			entry->state = MAP_CELL_FREE;
		at += entry->bytes;
		area->nr_words++;
		map_entry_restore(us, area, entry);
	}
	area->index->from = 0;
	if (at != used) /* nothing is appended behind damage */
		area->nr_words = MAP_AREA_WORDS;
}

static bool map_area_restore(struct user_session *us, uint32_t number, int fds[KEEPER_FDS])
{
	struct map_index *index = memfile_check(fds[1], MAP_INDEX_BYTES) < 0 ?
					  NULL :
					  map_memory(fds[1], MAP_INDEX_BYTES);
	struct user_counts *counts = NULL;
	struct err ignored = { 0 };
	struct map_area *area;

	if (index && index->version == MAP_VERSION)
		counts = counts_restore(us, index->uid, index->counts, MAP_AREA_WORDS, fds[0]);
	if (!counts) {
		if (index)
			munmap(index, MAP_INDEX_BYTES);
		return false;
	}
	fds[0] = -1;
	area = map_area_alloc(us, counts, number);
	area->index = index;
	area->index_fd = TAKE_FD(fds[1]);
	if (fds[2] >= 0 && memfile_check(fds[2], counts_bytes_of(us, counts)) == 0)
		area->base = map_memory(fds[2], counts_bytes_of(us, counts));
	if (area->base) {
		area->base_fd = TAKE_FD(fds[2]);
		(void)!quota_take_or_explain(user_map_quotas(us), user_account(us, counts->uid),
					     QUOTA_MEMORY, counts_bytes_of(us, counts), &ignored);
	}
	(void)!quota_take_or_explain(user_map_quotas(us), user_account(us, counts->uid),
				     QUOTA_DESCRIPTORS, MAP_AREA_FDS, &ignored);
	map_entries_restore(us, area);
	return true;
}

void user_maps_restore(struct user_session *us)
{
	struct keeper *keeper = us->rec.recorder->config.keeper;
	int fds[KEEPER_FDS] = { -1, -1, -1 };
	uint32_t number = 0;

	if (!keeper || list_empty(&us->rec.session->maps))
		return;
	while (number < MAP_AREAS_MOST && keeper_get(keeper, us->rec.session->uid, MAP_KIND,
						     map_keeper_id(us, number), fds) == 0) {
		if (!map_area_restore(us, number++, fds))
			log_error("session '%s': values of maps are lost, as their memory is "
				  "damaged",
				  us->rec.session->name);
		for (size_t i = 0; i < KEEPER_FDS; i++)
			fds[i] = close_fd(fds[i]);
	}
}

static void map_key_free(struct map_key *key)
{
	struct map_cell *cell, *next;

	list_for_each_safe(cell, next, &key->cells, node)
		free(cell);
	list_remove(&key->node);
	free(key->text);
	free(key);
}

void user_maps_free(struct user_session *us)
{
	struct keeper *keeper = us->rec.recorder->config.keeper;
	struct map_key *key, *next;
	struct map_area *area, *next_area;

	list_for_each_safe(key, next, &us->maps.keys, node)
		map_key_free(key);
	idmap_fini(&us->maps.by_text);
	list_for_each_safe(area, next_area, &us->maps.areas, node) {
		if (keeper)
			keeper_drop(keeper, MAP_KIND, map_keeper_id(us, area->number));
		map_area_free(us, area);
	}
}

void user_maps_keep(const struct user_session *us)
{
	const struct map_area *area;

	list_for_each(area, &us->maps.areas, node)
		map_area_keep(us, area);
}

/* --- for commands ------------------------------------------------------------------- */

static void map_cell_report(const struct user_session *us, struct map_cell *cell,
			    void (*fn)(const struct domain_map_value *value, void *data),
			    void *data)
{
	AUTO_FREE uint64_t *parts = NULL;
	struct domain_map_value value = {
		.key = cell->key->overflow ? NULL : cell->key->text,
		.uid = cell->area->counts->uid,
		.nr_parts = us->rec.recorder->config.nr_cpus + 1,
	};

	map_cell_settle(us, cell);
	if (cell->state == MAP_CELL_FREE)
		return;
	value.shared = cell->state == MAP_CELL_SHARED;
	value.pid = value.shared ? 0 : cell->pid;
	parts = xalloc(value.nr_parts * sizeof(*parts));
	for (uint32_t part = 0; part < value.nr_parts; part++)
		parts[part] = map_cell_part(cell, part);
	parts[value.nr_parts - 1] += cell->extra;
	value.parts = parts;
	fn(&value, data);
}

static void user_map_each_value(struct domain_tracer *domain, const struct session *session,
				const struct map *map,
				void (*fn)(const struct domain_map_value *value, void *data),
				void *data)
{
	const struct user_session *us = user_session_find(user_of(domain), session);
	const struct map_key *key;
	struct map_cell *cell;

	if (!us)
		return;
	list_for_each(key, &us->maps.keys, node)
		if (key->map == map->number)
			list_for_each(cell, &key->cells, node)
				map_cell_report(us, cell, fn, data);
}

static bool user_map_is_kept(struct domain_tracer *domain, const struct session *session,
			     uint64_t id)
{
	const struct user_session *us = user_session_find(user_of(domain), session);
	const struct map_area *area;

	if (us)
		list_for_each(area, &us->maps.areas, node)
			if (map_keeper_id(us, area->number) == id)
				return true;
	return false;
}

static int user_map_clear(struct domain_tracer *domain, const struct session *session,
			  struct err *err)
{
	const struct user_session *us = user_session_find(user_of(domain), session);
	struct map_area *area;
	struct map_cell *cell;

	if (!us)
		return 0;
	list_for_each(area, &us->maps.areas, node)
		if (map_area_need_base(us, area, err))
			return err->code;
	list_for_each(area, &us->maps.areas, node) {
		list_for_each(cell, &area->cells, in_area)
			map_cell_clear(us, cell);
		map_area_keep(us, area);
	}
	return 0;
}

const struct domain_map_ops user_map_ops = {
	.clear = user_map_clear,
	.each_value = user_map_each_value,
	.is_kept = user_map_is_kept,
};
