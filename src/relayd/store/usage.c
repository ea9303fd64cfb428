/* SPDX-License-Identifier: GPL-2.0-only */
#include "usage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/thread.h"

#define MAX_DEPTH 12 /* as repair.c */

/* A count of the files; @left: how many more may be visited. */
struct walk {
	uint64_t left;
	const atomic_bool *stop;
	struct usage sum;
};

struct usage_count {
	int out_fd; /* its own */
	bool by_session;
	char *host;
	struct usage found; /* the thread's until it is done */
	atomic_bool stop, done;
	atomic_uint users; /* the thread, and the peer: the last one frees it */
};

static bool usage_is_over(const struct walk *walk)
{
	return !walk->left || (walk->stop && atomic_load(walk->stop));
}

const char *usage_skip_stamp(const char *text)
{
	static const char form[] = "dddddddd-dddddd";
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
			return NULL;
	return text + i;
}

static void add_tree(struct walk *walk, int at_fd, const char *name, int depth)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	struct dirent *entry;
	struct stat st;

	while (!usage_is_over(walk) && (entry = dir_next(dir))) {
		walk->left--;
		walk->sum.files++;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			walk->sum.bytes += (uint64_t)st.st_size;
		else if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
			add_tree(walk, dirfd(dir), entry->d_name, depth + 1);
	}
}

static bool usage_is_user(const char *host)
{
	return host[0] == '.';
}

/* -TIME or -TIME-NUMBER */
static bool is_tail(const char *text)
{
	const char *rest = *text == '-' ? usage_skip_stamp(text + 1) : NULL;

	return rest &&
	       (!*rest || (*rest == '-' && rest[1 + strspn(rest + 1, "0123456789")] == '\0'));
}

/* HOST-TIME or HOST-TIME-NUMBER; a user's HOST ends with @host. */
static bool usage_is_of(const char *name, const char *host)
{
	size_t len = strlen(host);

	if (!usage_is_user(host))
		return strncmp(name, host, len) == 0 && is_tail(name + len);
	for (const char *at = name; (at = strstr(at, host)); at++)
		if (is_tail(at + len))
			return true;
	return false;
}

static void usage_add_names(struct walk *walk, int out_fd, const char *user)
{
	AUTO_DIR DIR *dir = dir_open(out_fd, ".");
	size_t len = strlen(user), name_len;
	struct dirent *entry;

	while (!usage_is_over(walk) && (entry = dir_next(dir))) {
		name_len = strlen(entry->d_name);
		if (name_len > len && strcmp(entry->d_name + name_len - len, user) == 0)
			add_tree(walk, out_fd, entry->d_name, 0);
	}
}

static void add_sessions(struct walk *walk, int out_fd, const char *session, const char *host)
{
	AUTO_DIR DIR *dir = dir_open(out_fd, session);
	struct dirent *entry;

	while (!usage_is_over(walk) && (entry = dir_next(dir))) {
		walk->left--;
		if (!usage_is_of(entry->d_name, host))
			continue;
		walk->sum.files++;
		add_tree(walk, dirfd(dir), entry->d_name, 1);
	}
}

static void usage_add_host(struct walk *walk, int out_fd, bool by_session, const char *host)
{
	AUTO_DIR DIR *dir = by_session ? dir_open(out_fd, ".") : NULL;
	struct dirent *entry;

	if (!by_session && usage_is_user(host))
		usage_add_names(walk, out_fd, host);
	else if (!by_session)
		add_tree(walk, out_fd, host, 0);
	while (!usage_is_over(walk) && (entry = dir_next(dir)))
		if (entry->d_name[0] != '.')
			add_sessions(walk, out_fd, entry->d_name, host);
}

bool usage_of(int out_fd, bool by_session, const char *host, struct usage *ret)
{
	struct walk walk = { .left = USAGE_AT_ONCE };

	usage_add_host(&walk, out_fd, by_session, host);
	*ret = walk.sum;
	return !usage_is_over(&walk);
}

/* --- in a thread --------------------------------------------------------------------------- */

static void put_count(struct usage_count *count)
{
	if (atomic_fetch_sub(&count->users, 1) > 1)
		return;
	close_fd(count->out_fd);
	free(count->host);
	free(count);
}

static void *count_all(void *data)
{
	struct usage_count *count = data;
	struct walk walk = { .left = UINT64_MAX, .stop = &count->stop };

	usage_add_host(&walk, count->out_fd, count->by_session, count->host);
	count->found = walk.sum;
	atomic_store(&count->done, true);
	put_count(count);
	return NULL;
}

int usage_begin(struct usage_count **ret, int out_fd, bool by_session, const char *host)
{
	struct usage_count *count = xalloc(sizeof(*count));
	int error;

	count->out_fd = fcntl(out_fd, F_DUPFD_CLOEXEC, 0);
	count->by_session = by_session;
	count->host = xstrdup(host);
	atomic_store(&count->users, 2);
	error = count->out_fd < 0 ? -errno : thread_start(NULL, count_all, count);
	if (error) {
		atomic_store(&count->users, 1);
		put_count(count);
		return error;
	}
	*ret = count;
	return 0;
}

bool usage_result(const struct usage_count *count, struct usage *ret)
{
	if (!atomic_load(&count->done))
		return false;
	*ret = count->found;
	return true;
}

struct usage_count *usage_end(struct usage_count *count)
{
	if (!count)
		return NULL;
	atomic_store(&count->stop, true);
	put_count(count);
	return NULL;
}
