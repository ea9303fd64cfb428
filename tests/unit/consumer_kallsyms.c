/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the kernel beside the metadata of a trace: archives and the rest have one file,
 * also after the consumer was killed; a later one replaces that of the trace alone; snapshots have
 * a copy. babeltrace2 reads the directory.
 */
#include "lib/consumer_client.h"
#include "trace/kallsyms.h"

#define OUT "out"

static int content(const char *text)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

/* Return: the inode number of the file, whose content is @text. */
static ino_t is_there(const char *dir, const char *text)
{
	char path[256], found[256];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/kernel/" KALLSYMS_FILE, dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		printf("no %s\n", path);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode));
	CHECK_IS(read(fd, found, sizeof(found)), ==, strlen(text));
	CHECK(memcmp(found, text, strlen(text)) == 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/kernel/" KALLSYMS_FILE ".new", dir);
	CHECK(access(path, F_OK) < 0);
	return st.st_ino;
}

static void store(struct daemon *d, uint64_t trace, const char *text)
{
	int fd = content(text);

	MUST(d, con_trace_kallsyms, .trace = trace, .file = fd);
	close(fd);
}

static void turn(struct daemon *d, const char *name)
{
	MUST(d, con_turn, .output = 1, .name = name);
}

static void adopt(struct daemon *d)
{
	int dir = open(OUT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct reply r;

	ASK(d, &r, con_output_open, .output = 1, .dir = dir, .uid = geteuid(), .gid = getegid(),
	    .path = "", .relay = "", .doorbell = -1);
	CHECK_IS(r.code, ==, 0);
	close(dir);
	MUST(d, con_trace, .output = 1, .trace = 10, .path = "kernel", .adopt = 1, .metadata = -1,
	     .uuid = text_blob(TEST_UUID), .metadata_bytes = 0);
}

static void refused(struct daemon *d)
{
	int fd = content("x");
	struct reply r;

	ASK(d, &r, con_trace_kallsyms, .trace = 99, .file = fd);
	CHECK_IS(r.code, !=, 0);
	ASK(d, &r, con_trace_kallsyms, .trace = 10, .file = -1);
	CHECK_IS(r.code, ==, ERR_INVALID);
	close(fd);
}

static void in_archives(struct daemon *d)
{
	struct rings rings;
	struct producer p;
	ino_t first;

	open_output(d, 1, fresh_dir(OUT), 1000);
	open_trace(d, 1, 10, "kernel");
	refused(d);
	store(d, 10, "one");
	first = is_there(OUT, "one");
	store(d, 10, "one");
	CHECK_IS(is_there(OUT, "one"), ==, first);
	turn(d, "archives/a");
	turn(d, "archives/b");
	CHECK(is_there(OUT, "one") == first && is_there(OUT "/archives/a", "one") == first &&
	      is_there(OUT "/archives/b", "one") == first);
	store(d, 10, "another");
	CHECK(is_there(OUT, "another") != first && is_there(OUT "/archives/b", "one") == first);
	rings = open_rings(d, 10, 20, 4, 16384);
	enable_rings(d, 1, 20, true);
	producer_init(&p, &rings, 0);
	produce(&p);
	MUST(d, con_snapshot, .output = 1, .name = "snap", .dir = -1);
	(void)is_there(OUT "/snap", "another");
	MUST(d, con_ring_close, .ring = 20);
	CHECK_IS(babeltrace(OUT "/kernel", COMPLAINT_NONE), <=, 1);
}

static void after_a_kill(struct daemon *d)
{
	kill(d->pid, SIGKILL);
	daemon_wait(d);
	*d = daemon_start();
	adopt(d);
	turn(d, "archives/c");
	CHECK_IS(is_there(OUT, "another"), ==, is_there(OUT "/archives/c", "another"));
	MUST(d, con_output_close, .output = 1);
}

int main(void)
{
	struct daemon d;

	need_rseq();
	enter_test_dir();
	d = daemon_start();
	in_archives(&d);
	after_a_kill(&d);
	daemon_end(&d);
	return 0;
}
