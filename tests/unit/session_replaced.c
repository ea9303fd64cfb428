/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(), and a simulated kernel module: a rule about a function of a program
 * follows the program's file while it is replaced, rewritten, removed, and by anything else.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "lib/kernel_fake.h"
#include "place/places.h"

#define WAIT_US 5000u
#define WAITS 2000

static char path[200], next[220];

int replaced_here(int a);
int replaced_here(int a)
{
	return a + 1;
}

/* A copy of a file, but for its last bytes. */
static void copy(const char *to, const char *from, long less)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	struct stat st;

	CHECK(in >= 0 && out >= 0 && fstat(in, &st) == 0);
	for (off_t left = st.st_size - less; left > 0;) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left);

		CHECK(n > 0);
		left -= n;
	}
	close(in);
	close(out);
}

static void replace(const char *by, long less)
{
	copy(next, by, less);
	CHECK_IS(rename(next, path), ==, 0);
}

static struct answer enable_place(int client, const char *location)
{
	struct location parsed CLEANUP(location_fini) = { 0 };
	struct places places CLEANUP(places_fini) = { 0 };
	struct err err = { 0 };
	int fd = open(path, O_RDONLY);

	CHECK(location_parse(location, &parsed, &err) == 0);
	CHECK(places_find(fd, path, &parsed, &places, &err) == 0);
	close(fd);
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = "u",
		     .exclude = "", .kind = RULE_USER, .location = location, .file = path,
		     .places = places.text, .fetch = "");
	kernel_fake_settle();
	return harness_answer(client);
}

static void await_users(unsigned int users)
{
	for (int i = 0; i < WAITS && kernel_fake.users != users; i++)
		harness_wait(WAIT_US);
	CHECK_IS(kernel_fake.users, ==, users);
}

static unsigned int refusals(int client)
{
	return HARNESS_CALL(client, session_show, NAME).items[MSG_refusal];
}

static void await_refusals(int client, unsigned int nr)
{
	for (int i = 0; i < WAITS && refusals(client) != nr; i++)
		harness_wait(WAIT_US);
	CHECK_IS(refusals(client), ==, nr);
}

static uint64_t inode(void)
{
	struct stat st;

	CHECK_IS(stat(path, &st), ==, 0);
	return st.st_ino;
}

/* Each is reported, and recorded again when the program is back. */
static void follow_others(int client)
{
	unsigned int users = kernel_fake.users;

	replace("/bin/true", 0); /* lacks the function */
	await_refusals(client, 1);
	replace("/proc/self/exe", 0);
	await_users(++users);
	await_refusals(client, 0);
	replace("/proc/self/exe", 9000); /* damaged */
	await_refusals(client, 1);
	CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
	harness_wait(300000);
	CHECK_IS(refusals(client), ==, 1);
	CHECK(rmdir(path) == 0 && mkfifo(path, 0700) == 0);
	harness_wait(300000);
	CHECK_IS(refusals(client), ==, 1);
	CHECK_IS(unlink(path), ==, 0);
	harness_wait(300000);
	CHECK_IS(refusals(client), ==, 1);
	CHECK_IS(kernel_fake.users, ==, users);
	replace("/proc/self/exe", 0);
	await_users(++users);
	await_refusals(client, 0);
}

/* Its places are those of the new contents. */
static void follow_rewritten(int client)
{
	unsigned int users = kernel_fake.users;
	uint64_t same = inode();

	harness_wait(200000);
	copy(path, "/proc/self/exe", 0);
	CHECK_IS(inode(), ==, same);
	for (int i = 0; i < WAITS && kernel_fake.users == users; i++)
		harness_wait(WAIT_US);
	CHECK_IS(kernel_fake.users, >, users);
	await_refusals(client, 0);
}

/* The last one is recorded in the end; not each is searched. */
static void follow_many(int client)
{
	unsigned int users = kernel_fake.users;
	uint64_t begin = loop_now_ns();

	for (int i = 0; i < 300; i++) {
		replace("/proc/self/exe", 0);
		if (i % 10 == 0)
			harness_wait(1000);
	}
	/* the last file may have the number of one before */
	for (int i = 0; i < WAITS &&
			(kernel_fake.users == users || kernel_fake.user_inode != inode());
	     i++)
		harness_wait(WAIT_US);
	CHECK_IS(kernel_fake.user_inode, ==, inode());
	/* changes of 10 ms come together, however long the replacements take here */
	CHECK_IS(kernel_fake.users, >, users);
	CHECK_IS(kernel_fake.users - users, <, 20 + (loop_now_ns() - begin) / 10000000);
	await_refusals(client, 0);
}

/* While it is stopped, and with an older module, nothing is searched. */
static void follow_stopped(int client)
{
	unsigned int users = kernel_fake.users;

	CHECK_IS(HARNESS_CALL(client, session_stop, NAME).code, ==, 0);
	replace("/proc/self/exe", 0);
	harness_wait(200000);
	CHECK_IS(kernel_fake.users, ==, users);
	HARNESS_SEND(client, session_start, NAME);
	await_users(users + 1);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).items[MSG_refusal], ==, 0);
	CHECK_IS(kernel_fake.user_inode, ==, inode());
}

int main(void)
{
	char location[220];
	uint32_t id;
	int client;

	if (geteuid() != 0)
		return 77;
	snprintf(path, sizeof(path), "%s/replaced", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	snprintf(next, sizeof(next), "%s.new", path);
	snprintf(location, sizeof(location), "elf:%s:replaced_here", path);
	copy(path, "/proc/self/exe", 0);
	client = kernel_fake_begin(true);
	CHECK_IS(enable_place(client, location).code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
	CHECK_IS(kernel_fake.users, ==, 1);
	id = kernel_fake.user.id;
	harness_wait(50000);
	replace("/proc/self/exe", 0);
	await_users(2);
	CHECK(kernel_fake.user.id == id && kernel_fake.user_inode == inode());
	CHECK_IS(refusals(client), ==, 0);
	follow_others(client);
	follow_rewritten(client);
	follow_many(client);
	follow_stopped(client);
	CHECK_IS(kernel_fake.user.id, ==, id);
	replace("/proc/self/exe", 0); /* the search is under way when the daemon ends */
	harness_wait(15000);
	close(client);
	harness_end();
	unlink(path);
	return 0;
}
