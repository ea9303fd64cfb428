/* SPDX-License-Identifier: GPL-2.0-only */
#include "usage.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dir.h"

#define MAX_DEPTH 12 /* as mend.c */
#define MAX_ENTRIES 200000u

/* How much more may be looked at. */
struct walk {
	unsigned int left;
	struct usage sum;
};

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

	while (walk->left && (entry = dir_next(dir))) {
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

static bool is_user(const char *host)
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

/* HOST-TIME or HOST-TIME-NUMBER; a user's HOST ends with what @host is. */
static bool is_of(const char *name, const char *host)
{
	size_t len = strlen(host);

	if (!is_user(host))
		return strncmp(name, host, len) == 0 && is_tail(name + len);
	for (const char *at = name; (at = strstr(at, host)); at++)
		if (is_tail(at + len))
			return true;
	return false;
}

static void add_names(struct walk *walk, int out_fd, const char *user)
{
	AUTO_DIR DIR *dir = dir_open(out_fd, ".");
	size_t len = strlen(user), name_len;
	struct dirent *entry;

	while (walk->left && (entry = dir_next(dir))) {
		name_len = strlen(entry->d_name);
		if (name_len > len && strcmp(entry->d_name + name_len - len, user) == 0)
			add_tree(walk, out_fd, entry->d_name, 0);
	}
}

static void add_sessions(struct walk *walk, int out_fd, const char *session, const char *host)
{
	AUTO_DIR DIR *dir = dir_open(out_fd, session);
	struct dirent *entry;

	while (walk->left && (entry = dir_next(dir))) {
		walk->left--;
		if (!is_of(entry->d_name, host))
			continue;
		walk->sum.files++;
		add_tree(walk, dirfd(dir), entry->d_name, 1);
	}
}

bool usage_of(int out_fd, bool by_session, const char *host, struct usage *ret)
{
	struct walk walk = { .left = MAX_ENTRIES };
	AUTO_DIR DIR *dir = by_session ? dir_open(out_fd, ".") : NULL;
	struct dirent *entry;

	if (!by_session && is_user(host))
		add_names(&walk, out_fd, host);
	else if (!by_session)
		add_tree(&walk, out_fd, host, 0);
	while (walk.left && (entry = dir_next(dir)))
		if (entry->d_name[0] != '.')
			add_sessions(&walk, out_fd, entry->d_name, host);
	*ret = walk.sum;
	return walk.left != 0;
}
