/* SPDX-License-Identifier: GPL-2.0-only */
#include "power.h"

#include "consumer_client.h"
#include "read/view.h"

#define SECTOR 512u
#define MAX_FILES 64u
#define MAX_BYTES (1u << 20) /* of a file */

/* As tests/unit/dso/writelog.c writes it; 's' is a sync, 'm' ends one: offset events
 * are durable then. */
struct entry {
	uint32_t kind, len;
	uint64_t offset;
	char path[112];
};

struct file {
	char path[112];
	bool named; /* its name is durable */
	uint8_t *durable, *now;
	size_t durable_len, now_len;
	size_t from; /* entries before this one are durable */
};

static struct file files[MAX_FILES];
static unsigned int nr_files;
static char root[2048];
static int log_file = -1;

/* --- writing down ----------------------------------------------------------- */

static void put(char kind, uint64_t offset, const char *path)
{
	struct entry e = { .kind = (uint32_t)kind, .offset = offset };

	snprintf(e.path, sizeof(e.path), "%.111s", path);
	CHECK_IS(write(log_file, &e, sizeof(e)), ==, sizeof(e));
}

void power_synced(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	CHECK_IS(n, >, 0);
	path[n] = '\0';
	if (log_file >= 0 && strncmp(path, root, strlen(root)) == 0)
		put('s', 0, path[strlen(root)] ? path + strlen(root) + 1 : "");
}

void power_mark(uint64_t events)
{
	put('m', events, "");
}

uint64_t power_events(const char *path)
{
	const struct view_summary *sum;
	struct view *view;
	uint64_t events;
	int r = view_open(path, NULL, NULL, &view);

	if (r == -ENOENT || r == -EPROTO)
		return 0;
	CHECK(r == 0 && view_verify(view) == 0 && view_summary(view, &sum) == 0);
	events = sum->events;
	view_free(view);
	return events;
}

void power_begin(void)
{
	char path[4096];

	daemon_preload("dso/writelog.so");
	log_file = open("log", O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	CHECK(log_file >= 0 && getcwd(root, sizeof(root) - 8));
	snprintf(path, sizeof(path), "%s/log", root);
	setenv("LTT_WRITE_LOG", path, 1);
	strcat(root, "/out");
	setenv("LTT_WRITE_ROOT", root, 1);
}

/* Of the files that have data, is one's newest data not synced? */
static bool is_any_unsynced(const uint8_t *log, size_t len)
{
	char dirty[MAX_FILES][112];
	unsigned int nr = 0, k;

	for (size_t at = 0; at < len;) {
		const struct entry *e = (const void *)(log + at);

		at += sizeof(*e) + e->len;
		for (k = 0; k < nr && strcmp(dirty[k], e->path) != 0; k++)
			;
		CHECK_IS(k, <, MAX_FILES);
		if (e->kind == 'w' && k == nr)
			strcpy(dirty[nr++], e->path);
		else if (e->kind == 's' && k < nr)
			memmove(dirty[k], dirty[--nr], sizeof(dirty[0]));
	}
	return nr > 0;
}

bool power_is_all_synced(void)
{
	size_t len;
	uint8_t *log = slurp(AT_FDCWD, "log", &len);
	bool synced = !is_any_unsynced(log, len);

	free(log);
	return synced;
}

/* --- possible contents of the disk ---------------------------------------------------- */

static struct file *file_of(const char *path)
{
	for (unsigned int i = 0; i < nr_files; i++)
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	CHECK_IS(nr_files, <, MAX_FILES);
	files[nr_files] =
		(struct file){ .durable = calloc(1, MAX_BYTES), .now = calloc(1, MAX_BYTES) };
	snprintf(files[nr_files].path, sizeof(files[0].path), "%s", path);
	return &files[nr_files++];
}

static void apply(uint8_t *data, size_t *len, const struct entry *e, const uint8_t *bytes,
		  bool torn)
{
	size_t end = e->offset + e->len;

	if (e->kind == 't') {
		if (*len > e->offset)
			memset(data + e->offset, 0, *len - e->offset);
		*len = e->offset;
		return;
	}
	CHECK_IS(end, <=, MAX_BYTES);
	for (size_t at = e->offset, next; at < end; at = next) {
		next = MIN((at / SECTOR + 1) * SECTOR, end);
		if (!torn || rand() % 2)
			memcpy(data + at, bytes + (at - e->offset), next - at);
	}
	*len = MAX(*len, end);
}

static bool is_in(const struct file *f, const char *dir)
{
	size_t len = strlen(dir);

	return len && strncmp(f->path, dir, len) == 0 && f->path[len] == '/' &&
	       !strchr(f->path + len + 1, '/');
}

/* Entry @i was executed: keep account of the durable data. */
static void happen(const struct entry *e, const uint8_t *bytes, size_t i)
{
	if (e->kind == 'm')
		return;
	if (e->kind == 's') {
		for (unsigned int k = 0; k < nr_files; k++) {
			struct file *f = &files[k];

			if (strcmp(f->path, e->path) == 0) {
				memcpy(f->durable, f->now, MAX_BYTES);
				f->durable_len = f->now_len;
				f->from = i;
			} else if (is_in(f, e->path)) {
				f->named = true;
			}
		}
		return;
	}
	if (e->kind != 'c')
		apply(file_of(e->path)->now, &file_of(e->path)->now_len, e, bytes, false);
	else
		file_of(e->path);
}

static void make_file(const char *path, const uint8_t *data, size_t len)
{
	char name[256];
	int fd;

	snprintf(name, sizeof(name), "disk/%s", path);
	fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}

/* @how: 0 with all calls, 1 with the synced ones only, else with any of them. */
static void make_disk(const uint8_t *log, size_t end, unsigned int how)
{
	static uint8_t data[MAX_BYTES];

	CHECK_IS(system("rm -rf disk && mkdir -p disk/t/index"), ==, 0);
	for (unsigned int k = 0; k < nr_files; k++) {
		struct file *f = &files[k];
		size_t len = f->durable_len, at, i = 0;

		if (!f->named && (how == 1 || (how > 1 && rand() % 4 == 0)))
			continue;
		memcpy(data, f->durable, sizeof(data));
		for (at = 0; how != 1 && at < end; i++) {
			const struct entry *e = (const void *)(log + at);

			at += sizeof(*e) + e->len;
			if (i > f->from && strcmp(e->path, f->path) == 0 &&
			    (e->kind == 'w' || e->kind == 't') && (how == 0 || rand() % 4))
				apply(data, &len, e, (const uint8_t *)(e + 1), how > 1);
		}
		make_file(f->path, data, len);
	}
}

static void forget_files(void)
{
	for (unsigned int k = 0; k < nr_files; k++) {
		free(files[k].durable);
		free(files[k].now);
	}
	nr_files = 0;
	close(log_file);
	log_file = -1;
}

struct power_sum power_check(unsigned int images)
{
	bool is_short = check_short() > 1;
	struct power_sum sum = { 0 };
	uint64_t events, i = 0;
	size_t len;
	uint8_t *log = slurp(AT_FDCWD, "log", &len);

	srand(3);
	for (size_t at = 0; at < len; i++) {
		const struct entry *e = (const void *)(log + at);

		at += sizeof(*e) + e->len;
		CHECK_IS(at, <=, len);
		happen(e, (const uint8_t *)(e + 1), i);
		if (e->kind == 'm')
			sum.synced = e->offset;
		for (unsigned int how = 0; how < images; how++) {
			/* the gate: others behind each call */
			if (how && is_short && (how + i) % 4)
				continue;
			sum.disks++;
			make_disk(log, at, how);
			events = power_events("disk");
			CHECK_IS(events, >=, sum.synced);
			CHECK(how != 0 || events >= sum.most || e->kind == 't');
			sum.most = how == 0 ? events : sum.most;
		}
	}
	sum.calls = i;
	free(log);
	forget_files();
	return sum;
}
