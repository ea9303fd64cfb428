/* SPDX-License-Identifier: GPL-2.0-only */
#include "tables.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/dir.h"
#include "base/mem.h"
#include "harvest.h"
#include "io/program.h"
#include "io/tempdir.h"
#include "segment.h"

#define ARCHIVES "archives"
#define KEY_BYTES 8u
#define FILE_DEPTH 3 /* of the directories of a dataset */

struct tables {
	struct bucket *bucket;
	char *program; /* lttctl */
	char *temp;    /* directory */
};

/** One call of tables_put(). @done: keys of pieces that the store has. */
struct tables_putting {
	struct tables *tables;
	const struct tables_session *session;
	struct tables_counts *counts;
	char **done;
	size_t nr_done;
	char *key;
};

struct tables *tables_new(struct bucket *bucket, struct err *err)
{
	struct tables *tables;
	char *temp;

	if (tempdir_new("ltt-archive", &temp, err))
		return NULL;
	tables = xalloc(sizeof(*tables));
	tables->bucket = bucket;
	tables->temp = temp;
	tables->program = program_find(NULL, NULL, "lttctl", LTT_WAY_TO_CTL);
	return tables;
}

struct tables *tables_free(struct tables *tables)
{
	if (!tables)
		return NULL;
	dir_remove(AT_FDCWD, tables->temp);
	free(tables->program);
	free(tables->temp);
	free(tables);
	return NULL;
}

/* --- files ---------------------------------------------------------------------------------- */

/* @name: part.parquet or part-N.parquet, in @path below the directory of the export. */
static int tables_put_file(struct tables_putting *p, int dir_fd, const char *path, const char *name,
			   struct err *err)
{
	AUTO_FREE char *object =
		xasprintf("parquet/%s/part-%s%s", path, p->key, name + strlen("part"));
	AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	size_t bytes = fd < 0 ? 0 : fd_bytes(fd);
	void *content = MAP_FAILED;

	if (bytes > SEGMENT_MAX_BYTES)
		return err_set(
			err, ERR_LIMIT,
			"%s/%s is larger than the 5 GB of an object; rotate the session more "
			"often",
			path, name);
	if (bytes)
		content = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (content == MAP_FAILED)
		return err_errno(err, ERR_OUTPUT, errno, "can't read %s/%s", path, name);
	if (bucket_put(p->tables->bucket, object, content, bytes, err) == 0) {
		p->counts->files++;
		p->counts->bytes += bytes;
	}
	munmap(content, bytes);
	return err->code;
}

static int tables_put_files(struct tables_putting *p, int at_fd, const char *name, const char *path,
			    int depth, struct err *err)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return err_errno(err, ERR_OUTPUT, errno, "can't read %s", name);
	while (ret == 0 && (entry = dir_next(dir))) {
		AUTO_FREE char *below = xasprintf("%s%s%s", path, *path ? "/" : "", entry->d_name);

		ret = depth < FILE_DEPTH ? tables_put_files(p, dirfd(dir), entry->d_name, below,
							    depth + 1, err) :
					   tables_put_file(p, dirfd(dir), path, entry->d_name, err);
	}
	return ret;
}

/* --- a piece -------------------------------------------------------------------------------- */

static void tables_exec(const char *program, const char *trace, const char *out, pid_t parent)
	__attribute__((noreturn));

static void tables_exec(const char *program, const char *trace, const char *out, pid_t parent)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
	    dup2(null, STDOUT_FILENO) >= 0)
		execl(program, program, "export", "--format=parquet", "-o", out, trace, NULL);
	_exit(127);
}

/* Losses and damage are reported by lttctl, on standard error, and the rest is there. */
static int tables_export(const struct tables *tables, const char *trace, const char *out,
			 struct err *err)
{
	pid_t self = getpid(), pid = fork();
	int status;

	if (pid == 0)
		tables_exec(tables->program, trace, out, self);
	if (pid < 0)
		return err_errno(err, ERR_INTERNAL, errno, "can't start a process");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_set(err, ERR_INTERNAL, "can't run %s, which comes with ltt-archive",
			       tables->program);
	if (!WIFEXITED(status) || access(out, F_OK) < 0)
		return err_set(err, ERR_OUTPUT,
			       "%s is not in the datasets: lttctl export failed; repeat the "
			       "command when its reason is gone",
			       trace);
	return 0;
}

/* The same for each repetition; no other piece of a session has it. */
static char *tables_key(const char *prefix, const char *piece)
{
	AUTO_FREE char *name = xasprintf("%s%s", prefix, piece);
	unsigned char sum[32] = { 0 };
	uint64_t word = 0;

	(void)!gnutls_hash_fast(GNUTLS_DIG_SHA256, name, strlen(name), sum);
	for (size_t i = 0; i < KEY_BYTES; i++)
		word = word << 8 | sum[i];
	return xasprintf("%016" PRIx64, word);
}

static bool tables_has(const struct tables_putting *p, const char *mark)
{
	for (size_t i = 0; i < p->nr_done; i++)
		if (strcmp(p->done[i], mark) == 0)
			return true;
	return false;
}

/* @piece: below the session's directory. @version: "", or what tells it from what it was before. */
static int tables_put_piece(struct tables_putting *p, const char *piece, const char *version,
			    struct err *err)
{
	AUTO_FREE char *key = tables_key(p->session->prefix, piece);
	AUTO_FREE char *mark = xasprintf("%sparquet/%s%s", p->session->prefix, key, version);
	AUTO_FREE char *trace = xasprintf("%s/%s", p->session->path, piece);
	AUTO_FREE char *out = xasprintf("%s/out", p->tables->temp);

	if (tables_has(p, mark))
		return 0;
	p->key = key;
	if (tables_export(p->tables, trace, out, err) == 0 &&
	    tables_put_files(p, AT_FDCWD, out, "", 0, err) == 0)
		(void)!bucket_put(p->tables->bucket, mark, "", 0, err);
	dir_remove(AT_FDCWD, out);
	return err->code;
}

/* --- a session ------------------------------------------------------------------------------ */

static int tables_take_mark(void *of, const char *name)
{
	struct tables_putting *p = of;

	if (p->nr_done % 64 == 0)
		p->done = xrealloc(p->done, (p->nr_done + 64) * sizeof(*p->done));
	p->done[p->nr_done++] = xstrdup(name);
	return 0;
}

/* Of a session that has ended; a further run of it has more segments. */
static int tables_put_current(struct tables_putting *p, int fd, struct err *err)
{
	AUTO_FREE char *version = xasprintf("-%" PRIu64, p->session->segments);
	AUTO_DIR DIR *dir = dir_open(fd, ".");
	struct dirent *entry;
	struct stat st;
	int ret = 0;

	while (ret == 0 && (entry = dir_next(dir)))
		if (*entry->d_name != '.' && strcmp(entry->d_name, ARCHIVES) != 0 &&
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode))
			ret = tables_put_piece(p, entry->d_name, version, err);
	return ret;
}

/* Those that are complete. */
static int tables_put_archives(struct tables_putting *p, int fd, struct err *err)
{
	AUTO_DIR DIR *dir = dir_open(fd, ARCHIVES);
	struct dirent *entry;
	int ret = 0;

	while (ret == 0 && (entry = dir_next(dir))) {
		AUTO_FREE char *piece = xasprintf(ARCHIVES "/%s", entry->d_name);
		AUTO_FD int archive =
			*entry->d_name == '.' ?
				-1 :
				openat(fd, piece, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (archive >= 0 && harvest_has_ended(archive))
			ret = tables_put_piece(p, piece, "", err);
	}
	return ret;
}

int tables_put(struct tables *tables, const struct tables_session *session,
	       struct tables_counts *ret, struct err *err)
{
	struct tables_putting p = { tables, session, ret, NULL, 0, NULL };
	AUTO_FREE char *marks = xasprintf("%sparquet/", session->prefix);
	AUTO_FD int fd = open(session->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret = (struct tables_counts){ 0 };
	if (fd < 0)
		err_errno(err, ERR_OUTPUT, errno, "can't read %s", session->path);
	else if (bucket_list(tables->bucket, marks, tables_take_mark, &p, err) == 0 &&
		 tables_put_archives(&p, fd, err) == 0 && session->ended)
		(void)!tables_put_current(&p, fd, err);
	for (size_t i = 0; i < p.nr_done; i++)
		free(p.done[i]);
	free(p.done);
	return err->code;
}
