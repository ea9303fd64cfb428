/* SPDX-License-Identifier: GPL-2.0-only */
#include "replaced.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/confine.h"
#include "io/rootpath.h"
#include "place/places.h"
#include "probe.h"
#include "session.h"
#include "walk.h"

#define SETTLE_US 10000u   /* changes come together */
#define CHECK_US 2000000u  /* also finds changes that no watch reports: a renamed folder */
#define AGAIN_US 100000u   /* of one that is replaced all the time */
#define LATE_US 10000000u  /* for a search */
#define WATCHES_MOST 64	   /* folders; the others are checked by and by */
#define SEARCH_SECONDS 5u  /* of a processor */
#define SEARCH_BYTES ((rlim_t)2 << 30)
#define FOUND_MOST ((size_t)256 << 10)
#define EARLIER_MOST 500u /* bytes of the list */

static struct kernel_domain *replaced_kernel(struct replaced *replaced)
{
	return container_of(replaced, struct kernel_domain, replaced);
}

/* --- the search, in a process of its own --------------------------------------------------- */

/* The result: "+" and the places, or "-" and a sentence. */
static void replaced_answer(int to, char kind, const char *text)
{
	char *whole AUTO_FREE = xasprintf("%c%s", kind, text);
	size_t len = strlen(whole);

	if (write(to, whole, len) != (ssize_t)len)
		_exit(1);
}

static void replaced_limit(int resource, rlim_t most)
{
	const struct rlimit limit = { most, most };

	if (setrlimit(resource, &limit) < 0)
		_exit(1);
}

/* It keeps the file and the result, and can open nothing. */
static void replaced_confine(int file, int to)
{
	const unsigned int first = (unsigned int)MAX(file, to) + 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = 0; fd < (int)first; fd++)
		if (fd != file && fd != to)
			close(fd);
	if (close_range(first, UINT_MAX, 0) < 0)
		_exit(1);
	replaced_limit(RLIMIT_CPU, SEARCH_SECONDS);
	replaced_limit(RLIMIT_FSIZE, FOUND_MOST);
	replaced_limit(RLIMIT_CORE, 0);
#ifndef LTT_SANITIZED
	replaced_limit(RLIMIT_AS, SEARCH_BYTES);
#endif
	log_init("ltt-sessiond", LOG_QUIET);
	confine(&(struct confine){ CONFINE_KEEPER, 0, 0 });
}

static void replaced_search_file(int file, int to, const struct rule *rule)
{
	struct location location = { 0 };
	struct places places = { 0 };
	struct err err = { 0 };

	replaced_confine(file, to);
	if (location_parse(rule->location, &location, &err) == 0 &&
	    places_find(file, rule->file, &location, &places, &err) == 0)
		replaced_answer(to, '+', places.text);
	else
		replaced_answer(to, '-', err.text);
	_exit(0);
}

/* --- results ------------------------------------------------------------------------------- */

static void probe_file_set(char **text, char *value)
{
	free(*text);
	*text = value;
}

/* Whether places are of the file with this identity. */
static bool replaced_is_of(const char *places, const char *identity)
{
	size_t len = strlen(identity);

	return strncmp(places, identity, len) == 0 && places[len] == ';';
}

/* "DEVICE,INODE" of places. */
static size_t replaced_file_len(const char *places)
{
	size_t len = strcspn(places, ",");

	return places[len] ? len + 1 + strcspn(places + len + 1, ",;") : len;
}

static bool replaced_is_same_file(const char *a, const char *b)
{
	size_t len = replaced_file_len(a);

	return len == replaced_file_len(b) && strncmp(a, b, len) == 0;
}

static const char *replaced_places(const struct kernel_probe *probe)
{
	return probe->file.places ? probe->file.places : probe->rule->places;
}

/* The earlier ones that fit, the newest first. */
static void replaced_note_earlier(struct probe_file *file, const char *places)
{
	uint64_t device = strtoull(places, NULL, 10), inode = 0;
	const char *comma = strchr(places, ',');
	const char *rest = file->earlier ? file->earlier : "";
	char *text;

	if (comma)
		inode = strtoull(comma + 1, NULL, 10);
	text = xasprintf("%u:%u:%" PRIu64 "%s%s", major(device), minor(device), inode,
			 *rest ? "," : "", rest);
	if (strlen(text) > EARLIER_MOST)
		*strrchr(text, ',') = '\0';
	probe_file_set(&file->earlier, text);
}

/* The walk sends it to the module, whose state counts as unknown. */
static void replaced_arm(struct kernel_session *ks, struct kernel_probe *probe)
{
	if (probe->slots[0].state != SLOT_OFF)
		probe->slots[0].state = SLOT_UNKNOWN;
	kernel_touch(ks);
}

/* The time is that of the first file that is not recorded for this reason. */
static void replaced_refuse(struct kernel_session *ks, struct kernel_probe *probe, const char *why)
{
	struct tm tm;
	time_t now = time(NULL);
	char since[32] = "";

	if (probe->file.why && strstr(probe->file.why, why))
		return;
	if (gmtime_r(&now, &tm))
		strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S", &tm);
	probe_file_set(&probe->file.why,
		       xasprintf("since %s UTC the new file is not recorded, only programs that "
				 "run an earlier one: %s",
				 since, why));
	log_info("session '%s': %s: %s", ks->rec.session->name, probe->rule->pattern, why);
	if (probe->slots[0].state != SLOT_ON)
		replaced_arm(ks, probe);
}

static void replaced_accept(struct kernel_session *ks, struct kernel_probe *probe,
			    const char *places)
{
	const char *before = replaced_places(probe);

	if (!kernel_probe_fits(ks->kernel, probe, places)) {
		replaced_refuse(ks, probe,
				"its arguments are others: enable the event again");
		return;
	}
	if (!replaced_is_same_file(before, places))
		replaced_note_earlier(&probe->file, before);
	probe_file_set(&probe->file.places, xstrdup(places));
	probe_file_set(&probe->file.why, NULL);
	log_info("session '%s': %s is recorded in the new file %s", ks->rec.session->name,
		 probe->rule->pattern, probe->rule->file);
	replaced_arm(ks, probe);
}

/* Of bytes that a process made that had read an untrusted file. */
static char *replaced_read(int fd)
{
	char *text = xalloc(FOUND_MOST + 1);
	ssize_t n = pread(fd, text, FOUND_MOST, 0);

	text[n > 0 ? n : 0] = '\0';
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return text;
}

/* The session of the probe, if that is to be recorded. */
static struct kernel_session *replaced_session(struct kernel_domain *kernel,
					       const struct kernel_probe *probe)
{
	const struct kernel_channel *kc;
	struct kernel_session *ks;

	list_for_each(ks, &kernel->domain.recordings, rec.node)
		list_for_each(kc, &ks->channels, node)
			for (uint32_t i = 0; i < kc->nr_probes; i++)
				if (kc->probes[i] == probe && ks->rec.recording)
					return ks;
	return NULL;
}

static void replaced_take(struct replaced *replaced, int wait_status)
{
	struct kernel_probe *probe = replaced->searched;
	struct kernel_session *ks = probe ? replaced_session(replaced_kernel(replaced), probe) :
					    NULL;
	char *text AUTO_FREE = replaced_read(replaced->found);
	bool whole = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;

	if (!ks)
		return;
	probe_file_set(&probe->file.seen, TAKE(replaced->identity));
	if (whole && *text == '+' && replaced_is_of(text + 1, probe->file.seen))
		replaced_accept(ks, probe, text + 1);
	else if (whole && *text == '+') /* changed meanwhile */
		probe_file_set(&probe->file.seen, xstrdup(""));
	else
		replaced_refuse(ks, probe,
				whole && *text == '-' ? text + 1 : "its symbols can't be read");
}

static void replaced_end_search(struct replaced *replaced)
{
	loop_timer_cancel(&replaced->late);
	replaced->found = close_fd(replaced->found);
	probe_file_set(&replaced->identity, NULL);
	replaced->searched = NULL;
}

static void replaced_searched(struct loop_child *child, int wait_status)
{
	struct replaced *replaced = container_of(child, struct replaced, search);

	child->pid = 0;
	replaced_take(replaced, wait_status);
	replaced_end_search(replaced);
	loop_timer_set(&replaced->check, 0);
}

static void replaced_late(struct loop_timer *timer)
{
	kill(container_of(timer, struct replaced, late)->search.pid, SIGKILL);
}

/* Return: false: there is no memory or process for it. */
static bool replaced_search(struct replaced *replaced, struct kernel_probe *probe, int file,
			    const char *identity)
{
	pid_t pid;

	replaced->found = memfd_create("ltt-places", MFD_CLOEXEC);
	pid = replaced->found < 0 ? -1 : fork();
	if (pid == 0)
		replaced_search_file(file, replaced->found, probe->rule);
	if (pid > 0 && loop_child_init(&replaced->search, replaced->check.loop, pid,
				       replaced_searched) < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	if (pid < 0) {
		replaced->found = close_fd(replaced->found);
		return false;
	}
	replaced->searched = probe;
	replaced->identity = xstrdup(identity);
	loop_timer_set(&replaced->late, LATE_US);
	return true;
}

/* --- files --------------------------------------------------------------------------------- */

/* As the places of a rule begin. */
static char *replaced_identify(const struct stat *st)
{
	return xasprintf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, (uint64_t)st->st_dev,
			 (uint64_t)st->st_ino, (uint64_t)st->st_size, stat_mtime_ns(st));
}

/* The file has been rewritten: places in the middle of instructions would break programs. */
static void replaced_note_rewritten(struct kernel_session *ks, struct kernel_probe *probe)
{
	probe->file.rewritten = true;
	probe_file_set(&probe->file.why, NULL);
	replaced_arm(ks, probe);
}

/* The known file, for the first time, or again. */
static void replaced_note_same(struct kernel_session *ks, struct kernel_probe *probe)
{
	probe_file_set(&probe->file.why, NULL);
	if (probe->slots[0].state != SLOT_ON)
		replaced_arm(ks, probe);
}

/* A file that is away. Its programs may run. */
static void replaced_note_missing(struct kernel_session *ks, struct kernel_probe *probe, int error)
{
	char *why AUTO_FREE = xasprintf("%s: %s", probe->rule->file, strerror(error));

	probe_file_set(&probe->file.seen, xstrdup(""));
	replaced_refuse(ks, probe, why);
}

/* Return: whether it was begun. */
static bool replaced_search_new(struct replaced *replaced, struct kernel_session *ks,
				struct kernel_probe *probe, bool regular, const char *identity)
{
	AUTO_FD int file = regular ? confine_open(probe->rule->file, O_RDONLY) : -1;

	if (file >= 0 && replaced_search(replaced, probe, file, identity))
		return true;
	probe_file_set(&probe->file.seen, xstrdup(regular ? "" : identity)); /* again later */
	replaced_refuse(ks, probe,
			regular ? "it can't be opened or searched" : "it is not a regular file");
	return false;
}

/* Return: whether a search was begun. */
static bool replaced_check_probe(struct replaced *replaced, struct kernel_session *ks,
				 struct kernel_probe *probe)
{
	AUTO_FD int path = confine_open(probe->rule->file, O_PATH);
	struct probe_file *file = &probe->file;
	char *identity AUTO_FREE = NULL;
	struct stat st;

	if (path < 0 || fstat(path, &st) < 0) {
		replaced_note_missing(ks, probe, path < 0 ? -path : errno);
		return false;
	}
	identity = replaced_identify(&st);
	if (file->seen && strcmp(file->seen, identity) == 0)
		return false;
	if (replaced_is_of(replaced_places(probe), identity)) {
		probe_file_set(&file->seen, TAKE(identity));
		replaced_note_same(ks, probe);
		return false;
	}
	if (loop_now_ns() < file->again_ns) {
		replaced->soon = true;
		return false;
	}
	file->again_ns = loop_now_ns() + AGAIN_US * (uint64_t)1000;
	if (replaced_is_same_file(replaced_places(probe), identity) && !file->rewritten)
		replaced_note_rewritten(ks, probe);
	return replaced_search_new(replaced, ks, probe, S_ISREG(st.st_mode), identity);
}

static void replaced_watch(struct replaced *replaced, const char *path)
{
	const uint32_t changes = IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE | IN_ONLYDIR;
	size_t len = (size_t)(strrchr(path, '/') - path);
	char *folder AUTO_FREE = xasprintf("%.*s", (int)MAX(len, 1u), path);
	int watch;

	if (replaced->notify.fd < 0 || rootpath_is(path))
		return;
	watch = confine_watch(replaced->notify.fd, folder, changes);
	if (watch > WATCHES_MOST)
		inotify_rm_watch(replaced->notify.fd, watch);
}

static bool replaced_follows(const struct kernel_session *ks, const struct kernel_channel *kc,
			     const struct kernel_probe *probe)
{
	return probe->rule->kind == RULE_USER && ks->rec.recording && kc->channel->enabled &&
	       probe->rule->enabled;
}

static void probe_file_fini(struct probe_file *file)
{
	free(file->seen);
	free(file->places);
	free(file->why);
	free(file->earlier);
	*file = (struct probe_file){ 0 };
}

/* Call @fn for each probe that is followed, until it returns true. Return: whether one is. */
static bool replaced_each(struct replaced *replaced,
			  bool (*fn)(struct replaced *replaced, struct kernel_session *ks,
				     struct kernel_probe *probe))
{
	struct kernel_channel *kc;
	struct kernel_session *ks;
	bool any = false;

	list_for_each(ks, &replaced_kernel(replaced)->domain.recordings, rec.node)
		list_for_each(kc, &ks->channels, node)
			for (uint32_t i = 0; i < kc->nr_probes; i++) {
				if (!replaced_follows(ks, kc, kc->probes[i]))
					continue;
				any = true;
				if (fn(replaced, ks, kc->probes[i]))
					return true;
			}
	return any;
}

static bool replaced_check_one(struct replaced *replaced, struct kernel_session *ks,
			       struct kernel_probe *probe)
{
	replaced_watch(replaced, probe->rule->file);
	return replaced_check_probe(replaced, ks, probe);
}

/* --- folders ------------------------------------------------------------------------------- */

static bool replaced_is_named(const struct kernel_session *ks, const struct kernel_channel *kc,
			      const struct kernel_probe *probe, const char *name)
{
	return replaced_follows(ks, kc, probe) &&
	       strcmp(strrchr(probe->rule->file, '/') + 1, name) == 0;
}

static bool replaced_knows(struct replaced *replaced, const char *name)
{
	const struct kernel_channel *kc;
	struct kernel_session *ks;

	list_for_each(ks, &replaced_kernel(replaced)->domain.recordings, rec.node)
		list_for_each(kc, &ks->channels, node)
			for (uint32_t i = 0; i < kc->nr_probes; i++)
				if (replaced_is_named(ks, kc, kc->probes[i], name))
					return true;
	return false;
}

/* Without a name, some were lost. */
static void replaced_notified(struct loop_fd *source, uint32_t events)
{
	struct replaced *replaced = container_of(source, struct replaced, notify);
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(source->fd, buf, sizeof(buf));
	const struct inotify_event *event;
	bool any = false;

	(void)events;
	for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*event) + event->len)) {
		event = (const struct inotify_event *)(buf + at);
		any = any || !event->len || replaced_knows(replaced, event->name);
	}
	if (any && !replaced->due) {
		replaced->due = true;
		loop_timer_set(&replaced->check, SETTLE_US);
	}
}

static void replaced_begin_watch(struct replaced *replaced)
{
	int fd;

	if (replaced->notify.fd >= 0)
		return;
	fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0 || loop_fd_init(&replaced->notify, replaced->check.loop, fd, EPOLLIN,
				   replaced_notified) < 0) {
		close_fd(fd);
		replaced->notify.fd = -1;
	}
}

static void replaced_end_watch(struct replaced *replaced)
{
	int fd = replaced->notify.fd;

	loop_fd_fini(&replaced->notify);
	close_fd(fd);
	replaced->notify.fd = -1;
}

/* --- the domain's -------------------------------------------------------------------------- */

/* Another search follows the present one. */
static void replaced_check(struct loop_timer *timer)
{
	struct replaced *replaced = container_of(timer, struct replaced, check);
	bool any;

	replaced->due = replaced->soon = false;
	if (replaced->search.pid)
		return;
	replaced_begin_watch(replaced);
	any = replaced_each(replaced, replaced_check_one);
	if (any && !replaced->search.pid)
		loop_timer_set(&replaced->check, replaced->soon ? AGAIN_US : CHECK_US);
	else if (!any)
		replaced_end_watch(replaced);
}

void replaced_init(struct replaced *replaced, struct loop *loop)
{
	*replaced = (struct replaced){ .found = -1, .notify.fd = -1 };
	loop_timer_init(&replaced->check, loop, replaced_check);
	loop_timer_init(&replaced->late, loop, replaced_late);
}

void replaced_fini(struct replaced *replaced)
{
	loop_timer_cancel(&replaced->check);
	if (replaced->search.pid) {
		loop_child_fini(&replaced->search);
		kill(replaced->search.pid, SIGKILL);
		waitpid(replaced->search.pid, NULL, 0);
	}
	replaced_end_search(replaced);
	replaced_end_watch(replaced);
}

void replaced_touch(struct replaced *replaced)
{
	loop_timer_set(&replaced->check, 0);
}

void replaced_reset(struct probe_file *file)
{
	probe_file_set(&file->seen, NULL);
	probe_file_set(&file->why, NULL);
	probe_file_set(&file->earlier, NULL);
	file->rewritten = false;
}

void replaced_forget(struct replaced *replaced, struct kernel_probe *probe)
{
	if (replaced->searched == probe)
		replaced->searched = NULL;
	probe_file_fini(&probe->file);
}
