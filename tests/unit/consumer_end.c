/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ways to end: SIGTERM and a connection that closes both write the contents of the rings, leave
 * no ring recording, and take well under two seconds. ^C is meant for other processes. Files belong
 * to the output's user.
 */
#include "lib/consumer_client.h"

static void end_by(const char *path, int signo)
{
	struct daemon d = daemon_start();
	int dir = fresh_dir(path);
	struct rings rings[2];
	struct producer p[2];
	uint64_t begin;
	char sub[64];

	open_output(&d, 1, dir, 60000000);
	open_trace(&d, 1, 1, "t");
	open_trace(&d, 1, 2, "u");
	for (uint32_t i = 0; i < 2; i++) {
		rings[i] = open_rings(&d, 1 + i, 1 + i, 4, 65536);
		enable_rings(&d, 1, 1 + i, true);
		producer_init(&p[i], &rings[i], i);
	}
	for (int i = 0; i < 1000; i++) {
		produce(&p[0]);
		produce(&p[1]);
	}
	begin = mono_ns();
	kill(d.pid, SIGINT);
	if (signo)
		kill(d.pid, signo);
	else
		close(d.fd);
	CHECK_IS(daemon_wait(&d), ==, 0);
	CHECK_IS(mono_ns() - begin, <, 2000000000u);
	printf("%s: ended after %.2f ms\n", path, (double)(mono_ns() - begin) / 1e6);
	produce(&p[0]); /* off: not recorded, no error */
	CHECK_IS(walk_trace(openat(dir, "t", O_RDONLY), "chan", rings[0].nr).records, ==, 1000);
	CHECK_IS(walk_trace(openat(dir, "u", O_RDONLY), "chan", rings[1].nr).records, ==, 1000);
	/* (not both at once: they have the same UUID) */
	snprintf(sub, sizeof(sub), "%s/t", path);
	long lines = babeltrace(sub, COMPLAINT_NONE);
	CHECK(lines < 0 || lines == 1000);
}

static void check_owner_of(int dir, const char *name, uid_t uid, gid_t gid)
{
	struct stat st;

	CHECK_IS(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), ==, 0);
	CHECK(st.st_uid == uid && st.st_gid == gid && !(st.st_mode & 07));
}

/* root's daemon, another user's session. */
static void check_owner(void)
{
	struct daemon d = daemon_start();
	int dir = fresh_dir("owned"), root_only = fresh_dir("roots");
	struct rings rings;
	struct producer p;
	struct stat st;
	struct reply r;
	char name[64];

	CHECK(fchown(dir, 65534, 65533) == 0 && fchmod(root_only, 0700) == 0);
	MUST(&d, con_output_open, .doorbell = -1, .output = 1, .dir = dir, .uid = 65534,
	     .gid = 65533);
	open_trace(&d, 1, 1, "a/b");
	rings = open_rings(&d, 1, 1, 4, 65536);
	CHECK(fstat(rings.ctl_fd, &st) == 0 && st.st_uid == 0 && (st.st_mode & 0777) == 0600);
	enable_rings(&d, 1, 1, true);
	producer_init(&p, &rings, 0);
	produce(&p);
	MUST(&d, con_output_flush, .output = 1);
	check_owner_of(dir, "a", 65534, 65533);
	check_owner_of(dir, "a/b/index", 65534, 65533);
	check_owner_of(dir, "a/b/metadata", 65534, 65533);
	for (uint32_t cpu = 0; cpu < rings.nr; cpu++) {
		snprintf(name, sizeof(name), "a/b/chan_%u", cpu);
		if (faccessat(dir, name, F_OK, 0) == 0)
			check_owner_of(dir, name, 65534, 65533);
	}
	/* and no further than that user could go */
	MUST(&d, con_output_open, .doorbell = -1, .output = 2, .dir = root_only, .uid = 65534,
	     .gid = 65533);
	ASK(&d, &r, con_trace, .metadata = -1, .output = 2, .trace = 2, .path = "t",
	    .uuid = { (const uint8_t *)TEST_UUID, 16 });
	CHECK(r.code == ERR_OUTPUT && strstr(r.text, "Permission denied"));
	daemon_end(&d);
}

int main(void)
{
	need_rseq();
	enter_test_dir();
	end_by("term", SIGTERM);
	end_by("gone", 0);
	if (geteuid() == 0)
		check_owner();
	return 0;
}
