/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A consumer keeps the counters of a closed ring set until the session daemon does not need
 * them any more, and the files of a trace until it is closed. Neither is forgotten while in use.
 */
#include "lib/consumer_client.h"

#include <dirent.h>

#define EVENTS 100u

static unsigned int open_files(pid_t pid)
{
	char path[64];
	unsigned int nr = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	CHECK(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

static void record(const struct rings *rings, struct daemon *d)
{
	struct producer p;

	producer_init(&p, rings, 0);
	enable_rings(d, 1, rings->id, true);
	for (unsigned int i = 0; i < EVENTS; i++)
		produce(&p);
}

static void refused(struct daemon *d)
{
	struct reply r;

	ASK(d, &r, con_ring_forget, .ring = 1);
	CHECK(r.code == ERR_INVALID && strstr(r.text, "no closed ring set 1"));
	ASK(d, &r, con_trace_close, .trace = 1);
	CHECK(r.code == ERR_INVALID && strstr(r.text, "no trace 1 without ring sets"));
	ASK(d, &r, con_ring_forget, .ring = 7);
	CHECK_IS(r.code, ==, ERR_INVALID);
	ASK(d, &r, con_trace_close, .trace = 7);
	CHECK_IS(r.code, ==, ERR_INVALID);
}

int main(void)
{
	struct daemon d;
	struct rings rings;
	struct walked walked;
	unsigned int before;
	struct reply r;
	int dir, trace;

	need_rseq();
	enter_test_dir();
	dir = fresh_dir("out");
	d = daemon_start();
	open_output(&d, 1, fcntl(dir, F_DUPFD_CLOEXEC, 3), 0);
	before = open_files(d.pid);
	open_trace(&d, 1, 1, "short");
	rings = open_rings(&d, 1, 1, 4, 65536);
	record(&rings, &d);
	refused(&d);
	MUST(&d, con_ring_close, .ring = 1);
	CHECK_IS(get_stats(&d, 1).recorded, ==, EVENTS);
	MUST(&d, con_ring_forget, .ring = 1);
	CHECK_IS(get_stats(&d, 1).streams, ==, 0);
	ASK(&d, &r, con_ring_forget, .ring = 1);
	CHECK_IS(r.code, ==, ERR_INVALID);
	CHECK_IS(open_files(d.pid), >, before);
	MUST(&d, con_trace_close, .trace = 1);
	CHECK_IS(open_files(d.pid), ==, before);
	ASK(&d, &r, con_metadata_append, .trace = 1, .text = text_blob("/* late */"));
	CHECK_IS(r.code, ==, ERR_INVALID);

	trace = openat(dir, "short", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	walked = walk_trace(trace, "chan", rings.nr);
	CHECK(walked.records == EVENTS && walked.lost == 0);
	/* the others of the output go on */
	open_trace(&d, 1, 2, "next");
	rings = open_rings(&d, 2, 2, 4, 65536);
	record(&rings, &d);
	MUST(&d, con_output_close, .output = 1);
	close(trace);
	close(dir);
	daemon_end(&d);
	return 0;
}
