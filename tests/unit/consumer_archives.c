/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The removal of archives: the oldest go, by number, age and size; the newest one stays, and so
 * does everything that is not an archive. One that was being removed when a consumer ended goes as
 * well.
 */
#include <sys/stat.h>

#include "lib/consumer_client.h"

#define OUT "out"

/* Of 1000 bytes each; the first one ended in 2020, the last one in 2099. */
static const char *const archives[] = {
	"20200101T000000+0000-20200101T010000+0000-1", "20200101T010000+0000-20300101T010000+0000-2",
	"20200101T020000+0000-20990101T020000+0000-10", "20990101T020000+0000-20990101T030000+0000-11"
};
static const char *const others[] = { "mine", ".hidden", "20200101T000000+0000-now-3",
				      "20200101T000000+0000-20200101T010000+0000-", "a-b-1" };

static bool is_there(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), OUT "/archives/%s", name);
	return access(path, F_OK) == 0;
}

static void make(const char *name)
{
	static const char content[1000];
	char path[256];
	int fd;

	snprintf(path, sizeof(path), OUT "/archives/%s", name);
	CHECK_IS(mkdir(path, 0700), ==, 0);
	snprintf(path, sizeof(path), OUT "/archives/%s/ust", name);
	CHECK_IS(mkdir(path, 0700), ==, 0);
	snprintf(path, sizeof(path), OUT "/archives/%s/ust/chan_0", name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, content, sizeof(content)) == sizeof(content));
	close(fd);
}

/* Which of the archives stay, as bits. */
static unsigned int left_of(struct daemon *d, struct req_con_archive_remove limits)
{
	struct rep_con_archive_remove rep;
	unsigned int left = 0, nr = 0;
	struct reply r;

	for (size_t i = 0; i < ARRAY_SIZE(archives); i++)
		if (!is_there(archives[i]))
			make(archives[i]);
	do /* the thread of the one before may not have ended */
		ASK(d, &r, con_archive_remove, .output = 1, .most = limits.most,
		    .since_s = limits.since_s, .max_size = limits.max_size);
	while (r.code == ERR_BUSY);
	CHECK_IS(r.code, ==, 0);
	CHECK_IS(rep_con_archive_remove_decode(&r.dec, &rep), ==, 0);
	for (size_t i = 0; i < ARRAY_SIZE(archives); i++) {
		left |= (unsigned int)is_there(archives[i]) << i;
		nr += is_there(archives[i]);
	}
	CHECK_IS(rep.archives, ==, nr);
	CHECK_IS(rep.removed, ==, ARRAY_SIZE(archives) - nr);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(is_there(others[i]));
	return left;
}

static void limits(struct daemon *d)
{
	struct rep_con_archive_remove rep;
	struct reply r;

	open_output(d, 1, fresh_dir(OUT), 1000);
	ASK(d, &r, con_archive_remove, .output = 1, .most = 1); /* there are none */
	CHECK(r.code == 0 && rep_con_archive_remove_decode(&r.dec, &rep) == 0 && !rep.archives);
	CHECK_IS(mkdir(OUT "/archives", 0700), ==, 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		make(others[i]);
	make(".removed-x");
	CHECK_IS(left_of(d, (struct req_con_archive_remove){ .most = 0 }), ==, 0xf);
	CHECK(!is_there(".removed-x"));
	CHECK_IS(left_of(d, (struct req_con_archive_remove){ .most = 4 }), ==, 0xf);
	CHECK_IS(left_of(d, (struct req_con_archive_remove){ .most = 2 }), ==, 0xc);
	CHECK_IS(left_of(d, (struct req_con_archive_remove){ .since_s = 1700000000 }), ==, 0xe);
	CHECK_IS(left_of(d, (struct req_con_archive_remove){ .since_s = 9000000000 }), ==, 0x8);
	CHECK_IS(left_of(d, (struct req_con_archive_remove){ .max_size = 3999 }), ==, 0xe);
	CHECK_IS(left_of(d, (struct req_con_archive_remove){ .max_size = 2000 }), ==, 0xc);
	CHECK_IS(left_of(d, (struct req_con_archive_remove){ .max_size = 1 }), ==, 0x8);
	MUST(d, con_output_close, .output = 1);
	ASK(d, &r, con_archive_remove, .output = 1, .most = 1);
	CHECK_IS(r.code, ==, ERR_INVALID);
}

int main(void)
{
	struct daemon d;

	enter_test_dir();
	d = daemon_start();
	limits(&d);
	daemon_end(&d);
	return 0;
}
