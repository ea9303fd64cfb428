/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host that keeps more files at a relay than the loop can count at once: it waits until they are
 * counted, all of them count, and files that were removed meanwhile do not.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "check.h"
#include "relayd/sender/relpeer.h"
#include "relayd/store/usage.h"

#define NR_FILES (2 * USAGE_AT_ONCE)

static char top[] = "/tmp/relay-usage-XXXXXX";
static int top_fd;
static struct relpeers peers;

static void name_of(char *name, size_t size, unsigned int nr)
{
	snprintf(name, size, "web1/one-20260101-000000/f%u", nr);
}

static void make_files(void)
{
	char name[64];

	CHECK_IS(mkdirat(top_fd, "web1", 0700), ==, 0);
	CHECK_IS(mkdirat(top_fd, "web1/one-20260101-000000", 0700), ==, 0);
	for (unsigned int i = 0; i < NR_FILES; i++) {
		name_of(name, sizeof(name), i);
		close(openat(top_fd, name, O_CREAT | O_WRONLY, 0600));
	}
}

static void remove_files(unsigned int from, unsigned int to)
{
	char name[64];

	for (unsigned int i = from; i < to; i++) {
		name_of(name, sizeof(name), i);
		CHECK_IS(unlinkat(top_fd, name, 0), ==, 0);
	}
}

static void limit_files(uint64_t limit)
{
	struct relquotas quotas;

	relquotas_init(&quotas);
	quotas.rate = 0;
	quotas.limits[RELQUOTA_FILES] = limit;
	relpeers_limit(&peers, &quotas);
}

static int make_one(struct relpeer *peer)
{
	struct err err = { 0 };

	return relpeer_make(peer, 1, &err) == 0 ? 0 : -err.code;
}

static void await_count(struct relpeer *peer)
{
	while (peer->count)
		relpeer_wait_us(peer);
}

static struct relpeer *join(void)
{
	struct relpeer *peer;
	struct err err;

	CHECK_IS(relpeer_join(&peers, "web1", &peer, &err), ==, 0);
	return peer;
}

/* It has NR_FILES and two directories' entries; one is promised before that is known. */
static void test_waits_until_counted(void)
{
	struct relpeer *peer = join();

	CHECK_IS(make_one(peer), ==, 0);
	while (relpeer_wait_us(peer))
		CHECK_IS(peer->used[RELQUOTA_FILES], ==, 1);
	CHECK(!peer->count);
	CHECK_IS(peer->used[RELQUOTA_FILES], ==, NR_FILES + 1 + 1);
	CHECK_IS(make_one(peer), ==, -ERR_LIMIT);
	CHECK_IS(relpeer_wait_us(peer), ==, 0); /* only the first count is waited for */
	relpeer_leave(peer);
}

static void test_removed_count_no_more(void)
{
	struct relpeer *peer = join();

	remove_files(0, USAGE_AT_ONCE / 2);
	CHECK_IS(make_one(peer), ==, -ERR_LIMIT); /* the disk was checked a moment ago */
	CHECK(!peer->count);
	peer->counted_ns = 1;
	CHECK_IS(make_one(peer), ==, -ERR_LIMIT);
	CHECK(peer->count && relpeer_wait_us(peer) == 0);
	await_count(peer);
	CHECK_IS(peer->used[RELQUOTA_FILES], ==, NR_FILES + 1 - USAGE_AT_ONCE / 2);
	CHECK_IS(make_one(peer), ==, 0);
	relpeer_leave(peer);
}

/* The disk is checked before a host is refused because of files that it has removed. */
static void test_asked_in_time(void)
{
	struct relpeer *peer = join();

	peer->used[RELQUOTA_FILES] = NR_FILES - NR_FILES / 16;
	peer->counted_ns = 1;
	CHECK_IS(make_one(peer), ==, 0);
	CHECK(peer->count);
	CHECK_IS(make_one(peer), ==, 0); /* files that are made meanwhile are added */
	await_count(peer);
	CHECK_IS(peer->used[RELQUOTA_FILES], ==, NR_FILES + 1 - USAGE_AT_ONCE / 2 + 2);
	relpeer_leave(peer);
}

/* All but a few are gone: that is seen at once. */
static void test_few_are_counted_at_once(void)
{
	struct relpeer *peer = join();

	remove_files(USAGE_AT_ONCE / 2, NR_FILES - 10);
	peer->used[RELQUOTA_FILES] = NR_FILES;
	peer->counted_ns = 1;
	CHECK_IS(make_one(peer), ==, 0);
	CHECK(!peer->count);
	CHECK_IS(peer->used[RELQUOTA_FILES], ==, 10 + 1 + 1);
	relpeer_leave(peer);
}

/* Bytes that are coming count once, as do those that have come. */
static void test_bytes_count_once(void)
{
	struct relpeer *peer = join();
	struct err err = { 0 };

	peers.quotas.limits[RELQUOTA_BYTES] = 100;
	peer->used[RELQUOTA_BYTES] = 0;
	CHECK_IS(relpeer_reserve(peer, 60, &err), ==, 0);
	CHECK_IS(relpeer_reserve(peer, 60, &err), ==, ERR_LIMIT);
	relpeer_commit(peer, 60);
	CHECK_IS(relpeer_reserve(peer, 40, &err), ==, 0);
	relpeer_unreserve(peer, 40);
	CHECK_IS(relpeer_reserve(peer, 41, &err), ==, ERR_LIMIT);
	CHECK(peer->reserved == 0 && peer->used[RELQUOTA_BYTES] == 60);
	relpeer_leave(peer);
}

static void remove_all(void)
{
	remove_files(NR_FILES - 10, NR_FILES);
	CHECK_IS(unlinkat(top_fd, "web1/one-20260101-000000", AT_REMOVEDIR), ==, 0);
	CHECK_IS(unlinkat(top_fd, "web1", AT_REMOVEDIR), ==, 0);
	CHECK_IS(rmdir(top), ==, 0);
	close(top_fd);
}

int main(void)
{
	CHECK(mkdtemp(top));
	top_fd = open(top, O_RDONLY | O_DIRECTORY);
	make_files();
	relpeers_init(&peers, top_fd);
	limit_files(NR_FILES);
	test_waits_until_counted();
	test_removed_count_no_more();
	test_asked_in_time();
	test_few_are_counted_at_once();
	test_bytes_count_once();
	relpeers_fini(&peers);
	remove_all();
	return 0;
}
