/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace can be read at any instant: babeltrace2 reads it again and again while
 * an application records and metadata grows, and after the consumer was killed.
 */
#include "lib/consumer_client.h"

static pid_t start_recorder(const struct daemon *d, const struct rings *rings, uint32_t writer)
{
	pid_t pid = fork_child(d);

	if (pid == 0) {
		struct producer p;

		producer_init(&p, rings, writer);
		for (;;) { /* some 20,000 a second */
			for (int i = 0; i < 20; i++)
				produce(&p);
			sleep_ms(1);
		}
	}
	return pid;
}

static void append_event(struct daemon *d, unsigned int id)
{
	static char text[8192];
	int len = snprintf(text, sizeof(text),
			   "event { name = \"later%u\"; id = %u; stream_id = 0;\n"
			   " fields := struct { uint32_t _x; }; };\n/*",
			   id, id);

	/* of all sizes, so that pages are crossed */
	memset(text + len, '-', id * 37 % 5000);
	strcpy(text + len + id * 37 % 5000, "*/\n");
	MUST(d, con_metadata_append, .trace = 1, .text = text_blob(text));
}

/* Not between a packet's size and its header: a successor would repair that. */
static void kill_consumer(struct daemon *d)
{
	int status;
	long lines;

	do {
		kill(d->pid, SIGCONT);
		sleep_ms(1);
		kill(d->pid, SIGSTOP);
		CHECK(waitpid(d->pid, &status, WUNTRACED) == d->pid && WIFSTOPPED(status));
	} while (!babeltrace_reads("out", COMPLAINT_LOSSES | COMPLAINT_GROWING, &lines));
	kill(d->pid, SIGKILL);
	CHECK(WIFSIGNALED(daemon_wait(d)));
}

int main(void)
{
	struct rings rings;
	struct daemon d;
	pid_t pids[2];
	long lines = 0, before = 0;
	uint64_t end;
	unsigned int reads = 0;

	need_rseq();
	if (system("command -v babeltrace2 >/dev/null") != 0)
		SKIP("babeltrace2 is not installed");
	enter_test_dir();
	d = daemon_start();
	open_output(&d, 1, fresh_dir("out"), 1000); /* a cut every millisecond */
	open_trace(&d, 1, 1, "t");
	rings = open_rings(&d, 1, 1, 4, 65536);
	enable_rings(&d, 1, 1, true);
	for (uint32_t i = 0; i < 2; i++)
		pids[i] = start_recorder(&d, &rings, i);
	for (end = mono_ns() + 4000000000u; mono_ns() < end; reads++) {
		append_event(&d, 1 + reads * 2);
		append_event(&d, 2 + reads * 2);
		lines = babeltrace("out", COMPLAINT_LOSSES | COMPLAINT_GROWING);
		CHECK_IS(lines, >=, before);
		before = lines;
	}
	/* the end of the consumer is not the end of the trace */
	kill_consumer(&d);
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		CHECK_IS(waitpid(pids[i], NULL, 0), ==, pids[i]);
	}
	lines = babeltrace("out", COMPLAINT_LOSSES | COMPLAINT_GROWING);
	CHECK(lines >= before && lines > 0);
	printf("read %u times while it grew to %ld events\n", reads, lines);
	return 0;
}
