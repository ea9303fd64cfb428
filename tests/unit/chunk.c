/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writer of a chunk is killed before, amid and after each step, at system calls and at returns
 * from them; its successor continues. In the end the chunk is the same as without a kill: under its
 * name, closed, with the same bytes of metadata, streams and indexes. A damaged last packet is
 * removed, one that can't be opened or read for now stays; a chunk on a full disk is handed on when
 * there is room.
 */
#include "store/chunk_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dir.h"
#include "check.h"

#define TEXT "/* metadata */\n"
#define MORE "/* more of it */\n"
#define TRACES 2u
#define PACKETS 2u
#define BODY 5000u
#define STOPS_MAX 20000u

static const uint8_t uuid[16] = "0123456789abcde";
static const char *const paths[TRACES] = { "ust/uid/1", "ust/pid/2" };
static uint8_t body[BODY];
static struct disk disk;
static int top = -1; /* of this run */

/* --- a file that can't be opened or read ------------------------------------------- */

static struct {
	const char *name; /* NULL: no call fails */
	bool opens;	  /* else it can't be read */
	int error;
	int fd; /* of @name */
} fault = { .fd = -1 };

int openat(int fd, const char *path, int flags, ...)
{
	bool is_it = fault.name && strcmp(path, fault.name) == 0;
	mode_t mode = 0;
	va_list args;
	int ret;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (is_it && fault.opens) {
		errno = fault.error;
		return -1;
	}
	ret = (int)syscall(SYS_openat, fd, path, flags, mode);
	if (is_it)
		fault.fd = ret;
	else if (ret == fault.fd)
		fault.fd = -1;
	return ret;
}

ssize_t pread(int fd, void *buf, size_t len, off_t offset)
{
	if (fault.name && !fault.opens && fd == fault.fd) {
		errno = fault.error;
		return -1;
	}
	return syscall(SYS_pread64, fd, buf, len, offset);
}

/* --- a writer -------------------------------------------------------------------- */

/** @in_place: the chunk is in the directory of others. */
struct writer {
	bool in_place;
	struct chunk_place place, other;
	struct chunk chunk;
	struct chunk_trace *traces[TRACES];
	struct stream_config config[TRACES];
	struct chunk_stream streams[TRACES];
	uint64_t acknowledged; /* bytes of metadata */
};

static struct writer writer_of(bool in_place)
{
	return (struct writer){ .in_place = in_place,
				.place = { top, ".chunk", "chunk" },
				.other = { top, ".archive", "archive" } };
}

static struct packet_header packet(const struct writer *w, unsigned int i, uint64_t seq)
{
	const struct packet_stream stream = stream_config_packets(&w->config[i], 0);
	struct packet_header header = packet_make(&stream);

	packet_set_body(&header, BODY);
	header.packet_seq_num = seq;
	header.stream_pos = seq * BODY;
	header.crc32c = packet_checksum(&header, body, BODY);
	return header;
}

static void add_streams(struct writer *w)
{
	for (unsigned int i = 0; i < TRACES; i++) {
		w->config[i] = (struct stream_config){ .trace = w->traces[i],
						       .disk = &disk,
						       .channel = (char *)"chan" };
		chunk_stream_init(&w->streams[i], &w->config[i], 0);
	}
}

static void add_traces(struct writer *w, bool continued)
{
	struct err err = { 0 };

	for (unsigned int i = 0; i < TRACES; i++) {
		const struct chunk_trace_spec spec = {
			.id = i, .path = paths[i], .uuid = uuid, .metadata_bytes = w->acknowledged
		};

		CHECK((continued ? chunk_trace_continue :
				   chunk_trace_open)(&w->chunk, &spec, &w->traces[i], &err) == 0);
	}
	add_streams(w);
}

static void append_text(struct writer *w, const char *text)
{
	for (unsigned int i = 0; i < TRACES; i++)
		CHECK_IS(chunk_append(w->traces[i], text, (uint32_t)strlen(text)), ==, 0);
	w->acknowledged = w->traces[0]->metadata_bytes;
}

static void begin(struct writer *w)
{
	if (w->in_place)
		chunk_init(&w->chunk, top, &disk);
	else
		CHECK_IS(chunk_open(&w->chunk, &w->place, &disk), ==, 0);
	add_traces(w, false);
	append_text(w, TEXT);
}

/* Return: whether there was a chunk, which may be closed. */
static bool resume(struct writer *w)
{
	int ret = 0;

	if (w->in_place)
		chunk_init(&w->chunk, top, &disk);
	else
		ret = chunk_continue(&w->chunk, &w->place, &disk);
	CHECK(ret == 0 || ret == -ENOENT);
	if (ret == 0 && w->chunk.state == CHUNK_OPEN)
		add_traces(w, true);
	return ret == 0;
}

/* Of each stream, the packets that it does not have. */
static void fill(struct writer *w)
{
	struct packet_header last;
	uint64_t cut = 0;

	for (unsigned int i = 0; i < TRACES; i++) {
		int found = chunk_stream_continue(&w->streams[i], &last, &cut);

		CHECK_IS(found, >=, 0);
		for (uint64_t seq = found ? last.packet_seq_num + 1 : 0; seq < PACKETS; seq++) {
			struct packet_header header = packet(w, i, seq);

			CHECK_IS(chunk_stream_append(&w->streams[i], &header, body, BODY, NULL), ==,
				 0);
		}
	}
}

static void end(struct writer *w)
{
	for (unsigned int i = 0; i < TRACES; i++) {
		chunk_stream_note(&w->streams[i]);
		chunk_stream_close(&w->streams[i]);
	}
	CHECK(chunk_close(&w->chunk) == 0 && w->chunk.state == CHUNK_CLOSED);
}

/* --- steps, as a writer does them, and as its successor ends them -------------------- */

static void do_nothing(struct writer *w)
{
	(void)w;
}

static void do_open(struct writer *w)
{
	begin(w);
	fill(w);
}

static void end_open(struct writer *w)
{
	if (resume(w)) /* no metadata was acknowledged */
		append_text(w, TEXT);
	else
		begin(w);
	fill(w);
	end(w);
}

static void was_begun(struct writer *w)
{
	begin(w);
	chunk_fini(&w->chunk);
}

static void do_continue(struct writer *w)
{
	CHECK(resume(w));
	fill(w);
}

static void end_continue(struct writer *w)
{
	CHECK(resume(w));
	fill(w);
	end(w);
}

/* Text that was never acknowledged. */
static void was_behind(struct writer *w)
{
	uint64_t acknowledged;

	begin(w);
	acknowledged = w->acknowledged;
	append_text(w, MORE);
	w->acknowledged = acknowledged;
	chunk_fini(&w->chunk);
}

static void do_cut(struct writer *w)
{
	CHECK(resume(w));
	append_text(w, MORE);
}

static void end_cut(struct writer *w)
{
	uint64_t acknowledged = w->acknowledged;

	CHECK(resume(w));
	for (unsigned int i = 0; i < TRACES; i++)
		CHECK_IS(chunk_trace_cut(w->traces[i], acknowledged, false), ==, 0);
	append_text(w, MORE);
	fill(w);
	end(w);
}

static void was_filled(struct writer *w)
{
	begin(w);
	fill(w);
	chunk_fini(&w->chunk);
	for (unsigned int i = 0; i < TRACES; i++)
		chunk_stream_close(&w->streams[i]);
}

static void end_close(struct writer *w)
{
	CHECK(resume(w));
	if (w->chunk.state == CHUNK_CLOSED)
		return;
	fill(w);
	end(w);
}

static void was_closed(struct writer *w)
{
	begin(w);
	fill(w);
	end(w);
	chunk_fini(&w->chunk);
}

static void do_hand_on(struct writer *w)
{
	end_close(w);
	CHECK_IS(chunk_hand_on(&w->chunk, &w->other), ==, 0);
}

static void end_hand_on(struct writer *w)
{
	int ret;

	if (!w->in_place) {
		if (resume(w))
			CHECK_IS(chunk_hand_on(&w->chunk, &w->other), ==, 0);
		return;
	}
	ret = chunk_hand_on_again(top, &w->other);
	if (ret == -ENOENT)
		do_hand_on(w);
	else
		CHECK_IS(ret, ==, 0);
}

struct step {
	const char *name;
	bool in_place, moved;
	void (*prepare)(struct writer *w), (*act)(struct writer *w), (*finish)(struct writer *w);
};

static const struct step steps[] = {
	{ "open", false, false, do_nothing, do_open, end_open },
	{ "open in place", true, false, do_nothing, do_open, end_open },
	{ "continue", false, false, was_begun, do_continue, end_continue },
	{ "cut", false, false, was_behind, do_cut, end_cut },
	{ "close", false, false, was_filled, end_close, end_close },
	{ "hand on", false, true, was_closed, do_hand_on, end_hand_on },
	{ "hand on from a place", true, true, was_filled, do_hand_on, end_hand_on },
};

/* --- kills ----------------------------------------------------------------------- */

/* Return: whether the child was killed: it was within its step, or nearly. */
static bool kill_at(unsigned int stops, const struct step *step, const struct writer *w)
{
	struct writer own = *w;
	pid_t pid = fork();
	int status;

	CHECK_IS(pid, >=, 0);
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		raise(SIGSTOP);
		step->act(&own);
		_exit(0);
	}
	CHECK_IS(waitpid(pid, &status, 0), ==, pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("ptrace() is not permitted");
	for (unsigned int i = 0; i < stops && WIFSTOPPED(status); i++) {
		CHECK_IS(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), ==, 0);
		CHECK_IS(waitpid(pid, &status, 0), ==, pid);
	}
	if (WIFEXITED(status)) {
		CHECK_IS(WEXITSTATUS(status), ==, 0);
		return false;
	}
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
	return true;
}

/* --- the chunk in the end ---------------------------------------------------- */

static size_t load(int dir, const char *name, uint8_t *ret, size_t room)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	CHECK(fd >= 0);
	n = read(fd, ret, room);
	close(fd);
	CHECK(n >= 0 && (size_t)n < room);
	return (size_t)n;
}

static const char *const files[] = { "metadata", "chan_0", "index/chan_0.idx" };

/* The first run, without a kill, is the measure. */
static void compare(int dir, bool first)
{
	static uint8_t wanted[TRACES][ARRAY_SIZE(files)][32768];
	static size_t sizes[TRACES][ARRAY_SIZE(files)];
	static uint8_t is[32768];
	char name[64];

	for (unsigned int i = 0; i < TRACES; i++)
		for (size_t f = 0; f < ARRAY_SIZE(files); f++) {
			snprintf(name, sizeof(name), "%s/%s", paths[i], files[f]);
			size_t len = load(dir, name, is, sizeof(is));

			if (first) {
				memcpy(wanted[i][f], is, len);
				sizes[i][f] = len;
			}
			CHECK(len == sizes[i][f] && memcmp(is, wanted[i][f], len) == 0);
		}
}

static void judge(const struct step *step, bool first)
{
	const char *name = step->moved ? "archive" : step->in_place ? "." : "chunk";
	int dir = openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint8_t list[4096];

	CHECK(dir >= 0);
	compare(dir, first);
	list[load(dir, ".traces", list, sizeof(list))] = '\0';
	CHECK(strstr((char *)list, "\n/ended//") && strstr((char *)list, paths[0]) &&
	      strstr((char *)list, paths[1]));
	close(dir);
	CHECK(faccessat(top, ".chunk", F_OK, 0) < 0 && faccessat(top, ".archive", F_OK, 0) < 0);
	if (step->moved && step->in_place)
		CHECK(faccessat(top, paths[0], F_OK, 0) < 0 &&
		      faccessat(top, paths[1], F_OK, 0) < 0);
	if (step->moved)
		CHECK(faccessat(top, "chunk", F_OK, 0) < 0);
}

static bool run(const struct step *step, unsigned int stops)
{
	char name[] = "/tmp/ltt-chunk.XXXXXX";
	struct writer w;
	bool killed;

	CHECK(mkdtemp(name));
	top = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(top >= 0);
	disk = (struct disk){ 0 };
	w = writer_of(step->in_place);
	step->prepare(&w);
	killed = stops < STOPS_MAX && kill_at(stops, step, &w);
	if (stops == STOPS_MAX || killed || !step->moved)
		step->finish(&w);
	judge(step, stops == STOPS_MAX);
	for (unsigned int i = 0; i < TRACES; i++)
		if (w.config[i].trace)
			chunk_stream_close(&w.streams[i]);
	chunk_fini(&w.chunk);
	close(top);
	dir_remove(AT_FDCWD, name);
	return killed;
}

/* --- a last packet without its contents, after a power failure -------------------------------- */

static void spoil(const char *name)
{
	int fd = openat(top, name, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0 && pwrite(fd, "x", 1, lseek(fd, -1, SEEK_END)) == 1);
	close(fd);
}

/* The successor finds @seq, has cut off @nr packets, and writes them again. */
static void go_on(struct writer *w, uint64_t doubted_ns, uint64_t seq, uint64_t nr)
{
	struct packet_header last;
	uint64_t cut = 0;

	w->config[0].doubted_ns = doubted_ns;
	chunk_stream_init(&w->streams[0], &w->config[0], 0);
	CHECK_IS(chunk_stream_continue(&w->streams[0], &last, &cut), ==, 1);
	CHECK(last.packet_seq_num == seq && cut == nr * (BODY + sizeof(last)));
	chunk_stream_close(&w->streams[0]);
	fill(w);
	chunk_stream_close(&w->streams[0]);
	chunk_stream_close(&w->streams[1]);
}

/* @limited: each packet has a file. */
static void damaged(bool limited)
{
	const char *file = limited ? "ust/uid/1/chan_0_1" : "ust/uid/1/chan_0";
	char name[] = "/tmp/ltt-chunk.XXXXXX";
	struct writer w;

	CHECK(mkdtemp(name));
	top = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w = writer_of(true);
	begin(&w);
	w.config[0].tracefile_size = limited;
	fill(&w);
	chunk_stream_close(&w.streams[0]);
	chunk_stream_close(&w.streams[1]);
	go_on(&w, UINT64_MAX, 1, 0);
	spoil(file);
	go_on(&w, 0, 1, 0); /* no check */
	go_on(&w, 1, 1, 0); /* the file is not old */
	go_on(&w, UINT64_MAX, 0, 1);
	if (!limited)
		compare(top, false);
	chunk_fini(&w.chunk);
	close(top);
	dir_remove(AT_FDCWD, name);
}

/* --- a file that can't be opened or read for now ------------------------------------ */

/* The successor is refused, and finds all packets when it tries again. */
static void try_fault(struct writer *w, const char *name, bool opens, int error)
{
	struct packet_header last;
	uint64_t cut = 0;
	int found;

	fault.name = name;
	fault.opens = opens;
	fault.error = error;
	chunk_stream_init(&w->streams[0], &w->config[0], 0);
	found = chunk_stream_continue(&w->streams[0], &last, &cut);
	chunk_stream_close(&w->streams[0]);
	fault.name = NULL;
	fault.fd = -1;
	CHECK(found == -error && !cut);
	go_on(w, UINT64_MAX, PACKETS - 1, 0);
}

static void with_faults(bool limited)
{
	static const char *const of_one[] = { "chan_0", "chan_0.idx", NULL };
	static const char *const of_many[] = { "chan_0_0", "chan_0_1", "chan_0_1.idx", ".", NULL };
	static const int errors[] = { EMFILE, ENFILE, EIO, EACCES, ENOMEM };
	char name[] = "/tmp/ltt-chunk.XXXXXX";
	struct writer w;

	CHECK(mkdtemp(name));
	top = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w = writer_of(true);
	begin(&w);
	w.config[0].tracefile_size = limited;
	fill(&w);
	chunk_stream_close(&w.streams[0]);
	chunk_stream_close(&w.streams[1]);
	for (const char *const *file = limited ? of_many : of_one; *file; file++) {
		for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
			try_fault(&w, *file, true, errors[i]);
		if (strcmp(*file, ".") != 0)
			try_fault(&w, *file, false, EIO);
	}
	chunk_fini(&w.chunk);
	close(top);
	dir_remove(AT_FDCWD, name);
}

/* --- a full disk ------------------------------------------------------------------ */

/* Nothing is moved before the list of traces is complete; the same call finishes it. */
static void full_disk(void)
{
	char name[] = "/tmp/ltt-chunk.XXXXXX";
	struct writer w;
	int ballast;

	CHECK(mkdtemp(name));
	if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("small", name, "tmpfs", 0, "size=256k") == 0) { /* else: only root can */
		top = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		w = writer_of(true);
		was_filled(&w);
		end_close(&w);
		ballast = openat(top, "ballast", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		while (write(ballast, body, sizeof(body)) > 0)
			;
		for (int i = 0; i < 2; i++)
			CHECK_IS(chunk_hand_on(&w.chunk, &w.other), ==, -ENOSPC);
		CHECK(faccessat(top, paths[0], F_OK, 0) == 0 &&
		      faccessat(top, "archive", F_OK, 0) < 0);
		CHECK_IS(chunk_hand_on_again(top, &w.other), ==, -ENOENT);
		CHECK(ftruncate(ballast, 0) == 0 && chunk_hand_on(&w.chunk, &w.other) == 0);
		chunk_fini(&w.chunk);
		close(ballast);
		compare(openat(top, "archive", O_RDONLY | O_DIRECTORY | O_CLOEXEC), false);
		close(top);
		CHECK_IS(umount2(name, MNT_DETACH), ==, 0);
	}
	dir_remove(AT_FDCWD, name);
}

int main(void)
{
	unsigned int stride = getenv("LTT_TEST_SHORT") ? 10 : 2;

	memset(body, 7, sizeof(body));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		unsigned int stops = (unsigned int)i % stride;

		run(&steps[i], STOPS_MAX);
		while (run(&steps[i], stops))
			stops += stride;
		printf("%-22s killed up to stop %u\n", steps[i].name, stops);
		CHECK_IS(stops, >, 6);
	}
	damaged(false);
	damaged(true);
	with_faults(false);
	with_faults(true);
	full_disk();
	return 0;
}
