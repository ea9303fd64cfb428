/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay turns to the next chunk of a session: the traces move, each stream goes on in a file that
 * begins with an empty packet, and nothing is done twice. A turn that was cut at any step is
 * finished, or undone; one that can't be made leaves the session as it was.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "check.h"
#include "lib/relay_place.h"
#include "lib/relay_sender.h"
#include "relayd/store/turn.h"
#include "relayd/viewer/viewstream.h"
#include "trace/index.h"

#define SESSION "host/turns-stamp/"

static struct relay_place place;
static atomic_bool no_reserve;

/* In place of libc's: the disk may be full. */
int fallocate(int fd, int mode, off_t offset, off_t len)
{
	if (!atomic_load(&no_reserve))
		return (int)syscall(SYS_fallocate, fd, mode, offset, len);
	errno = ENOSPC;
	return -1;
}

static bool exists(const char *path)
{
	return relay_place_has(&place, path);
}

/* Packets of the stream's file in directory @of of the session. */
static uint64_t stored(const char *of)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), SESSION "%sust/index/chan_0.idx", of);
	CHECK_IS(fstatat(place.fd, path, &st, 0), ==, 0);
	return index_entries((uint64_t)st.st_size);
}

static struct packet_header packet_of(const char *of, uint64_t nr)
{
	struct packet_header h = { 0 };
	char path[128];
	int fd;

	snprintf(path, sizeof(path), SESSION "%sust/chan_0", of);
	fd = openat(place.fd, path, O_RDONLY | O_CLOEXEC);
	CHECK_IS(pread(fd, &h, sizeof(h), (off_t)(nr * (sizeof(h) + 4))), ==, sizeof(h));
	close(fd);
	return h;
}

static void send_packet(int fd, uint64_t seq)
{
	struct packet_header header = sender_header(seq, "four", 4);

	header.stream_pos = 4 * seq;
	header.events_recorded = 10 * (seq + 1);
	header.timestamp_begin = 100 * seq;
	header.timestamp_end = 100 * seq + 50;
	header.crc32c = packet_checksum(&header, "four", 4);
	CHECK(sender_write_packet(fd, &header, "four", 4));
	CHECK_IS(sender_answer(fd), ==, 0);
}

static uint64_t metadata_bytes(const char *of)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), SESSION "%sust/metadata", of);
	CHECK_IS(fstatat(place.fd, path, &st, 0), ==, 0);
	return (uint64_t)st.st_size;
}

static void test_turn(int fd)
{
	static const struct blob text = { (const uint8_t *)"/* CTF 1.8 */", 13 };
	struct packet_header opening;

	CHECK_IS(SENDER_ASK(fd, rel_metadata, { 1, text }), ==, 0);
	CHECK_IS(SENDER_ASK(fd, rel_stream, { .trace = 1, .stream = 2, .channel = "mute" }), ==, 0);
	send_packet(fd, 0);
	send_packet(fd, 1);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/one", 0 }), ==, 0);
	CHECK_IS(stored("archives/one/"), ==, 2);
	CHECK_IS(stored(""), ==, 1);
	CHECK_IS(metadata_bytes(""), ==, metadata_bytes("archives/one/"));
	opening = packet_of("", 0);
	CHECK_IS(opening.packet_seq_num, ==, 2);
	CHECK_IS(opening.packet_size, ==, 8 * sizeof(opening));
	CHECK_IS(opening.stream_pos, ==, 8);
	CHECK_IS(opening.events_recorded, ==, 20);
	CHECK_IS(opening.timestamp_begin, ==, 150);
	CHECK_IS(opening.crc32c, ==, packet_checksum(&opening, NULL, 0));
	send_packet(fd, 3);
	CHECK_IS(SENDER_ASK(fd, rel_metadata, { 1, text }), ==, 0);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/one", 0 }), ==, 0); /* done */
	CHECK_IS(stored(""), ==, 2);
	CHECK(exists(SESSION ".traces") && exists(SESSION "archives/one/.traces"));
	CHECK(!exists(SESSION ".next"));
}

static void test_refused(int fd)
{
	char longer[300];

	memset(longer, 'x', sizeof(longer) - 1);
	memcpy(longer, "archives/", 9);
	longer[sizeof(longer) - 1] = '\0';
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "", 0 }), ==, ERR_INVALID);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "ust", 0 }), ==, ERR_INVALID);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/", 0 }), ==, ERR_INVALID);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/..", 0 }), ==, ERR_INVALID);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/a/b", 0 }), ==, ERR_INVALID);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { longer, 0 }), ==, ERR_INVALID);
	CHECK_IS(mkdirat(place.fd, SESSION "archives/taken", 0700), ==, 0);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/taken", 0 }), ==, ERR_OUTPUT);
	CHECK_IS(unlinkat(place.fd, SESSION "archives/taken", AT_REMOVEDIR), ==, 0);
	CHECK_IS(SENDER_ASK(fd, rel_trace, { 9, "archives/x", { sender_id, 16 }, 0, 0 }), ==,
		 ERR_INVALID);
	CHECK_IS(stored(""), ==, 2);
	send_packet(fd, 4);
	CHECK_IS(stored(""), ==, 3);
}

static void test_clear(int fd)
{
	CHECK_IS(SENDER_ASK(fd, rel_turn, { ".cleared-3", 1 }), ==, 0);
	CHECK_IS(stored(""), ==, 1);
	CHECK(!exists(SESSION ".cleared") && exists(SESSION "archives/one"));
	send_packet(fd, 6);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/one", 0 }), ==, 0); /* done before that */
	CHECK_IS(SENDER_ASK(fd, rel_turn, { ".cleared-3", 1 }), ==, 0);
	CHECK_IS(stored(""), ==, 2);
	retention_await_erased(&place.relay);
	CHECK(!exists(".removed"));
}

static bool has_gap(const char *entry)
{
	int fd = openat(place.fd, SESSION "archives/.gaps", O_RDONLY | O_CLOEXEC);
	char text[64] = "";

	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	return strstr(text, entry);
}

/* A clear is refused where its number could not be noted later: it would count as a loss. */
static void test_clear_on_full_disk(int fd)
{
	atomic_store(&no_reserve, true);
	for (int i = 0; i < 2; i++)
		CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/cleared-4", 1 }), ==, ERR_OUTPUT);
	CHECK(!exists(SESSION ".next") && !exists(SESSION ".cleared") && !has_gap("4"));
	CHECK_IS(stored(""), ==, 2);
	atomic_store(&no_reserve, false);
	CHECK_IS(SENDER_ASK(fd, rel_turn, { "archives/cleared-4", 1 }), ==, 0);
	CHECK(has_gap("\n4//"));
	CHECK_IS(stored(""), ==, 1);
	send_packet(fd, 8);
	retention_await_erased(&place.relay);
}

/* The stream that had no packet before. */
static void test_reconnected(int fd, int again)
{
	close(fd);
	CHECK_IS(sender_begin(again, "turns", SYNC_NONE, 0), ==, 0);
	CHECK_IS(SENDER_ASK(again, rel_turn, { "archives/two", 0 }), ==, 0);
	CHECK_IS(SENDER_ASK(again, rel_turn, { "archives/three", 0 }), ==, 0); /* nothing in it */
	CHECK_IS(stored("archives/two/"), ==, 2);
	CHECK_IS(stored("archives/three/"), ==, 1);
	send_packet(again, 11);
	CHECK_IS(stored(""), ==, 2);
	CHECK_IS(packet_of("", 0).packet_seq_num, ==, 10);
}

/* --- cut turns ----------------------------------------------------------------------------- */

static void move(int dir_fd, const char *from, const char *to)
{
	CHECK_IS(renameat(dir_fd, from, dir_fd, to), ==, 0);
}

static void put(int dir_fd, const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK_IS(write(fd, text, strlen(text)), ==, strlen(text));
	close(fd);
}

/* The new trace, and all that step 1 writes. */
static void begin_turn(int dir_fd)
{
	CHECK_IS(mkdirat(dir_fd, ".next", 0700), ==, 0);
	CHECK_IS(mkdirat(dir_fd, ".next/ust", 0700), ==, 0);
	put(dir_fd, ".next/ust/new", "1");
	put(dir_fd, ".next/list", "\n/open//\nust//");
}

static void begin_move(int dir_fd)
{
	begin_turn(dir_fd);
	put(dir_fd, ".next/turn", "Rarchives/cut");
	CHECK_IS(mkdirat(dir_fd, "archives/.cut", 0700), ==, 0);
}

static void check_undone(int dir_fd)
{
	CHECK_IS(relturn_finish(&place.relay, dir_fd), ==, 0);
	CHECK(!exists(SESSION ".next") && !exists(SESSION "archives/.cut"));
	CHECK(!exists(SESSION "archives/cut") && !exists(SESSION "ust/new"));
}

static void check_done(int dir_fd)
{
	CHECK_IS(relturn_finish(&place.relay, dir_fd), ==, 1);
	CHECK(!exists(SESSION ".next") && !exists(SESSION "archives/.cut"));
	CHECK(exists(SESSION "archives/cut/ust/index") && exists(SESSION "ust/new"));
	CHECK_IS(unlinkat(dir_fd, "ust/new", 0), ==, 0); /* as it was before */
	CHECK_IS(unlinkat(dir_fd, "ust", AT_REMOVEDIR), ==, 0);
	move(dir_fd, "archives/cut/ust", "ust");
	dir_remove(dir_fd, "archives/cut");
}

static void test_cut(void)
{
	static const char plan[] = "\n/open//\nust//\n/ended//";
	int dir_fd = openat(place.fd, SESSION, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	begin_turn(dir_fd); /* killed in step 1 */
	check_undone(dir_fd);
	begin_turn(dir_fd); /* behind step 2 */
	put(dir_fd, ".next/turn", "Rarchives/cut");
	check_undone(dir_fd);
	begin_move(dir_fd);
	put(dir_fd, "archives/.cut/.traces", "\n/open//\nust//"); /* incomplete */
	check_undone(dir_fd);
	begin_move(dir_fd);
	put(dir_fd, "archives/.cut/.traces", plan);
	check_done(dir_fd);
	begin_move(dir_fd);
	put(dir_fd, "archives/.cut/.traces", plan);
	move(dir_fd, "ust", "archives/.cut/ust");
	check_done(dir_fd);
	begin_move(dir_fd);
	move(dir_fd, "ust", "archives/.cut/ust");
	move(dir_fd, "archives/.cut", "archives/cut");
	move(dir_fd, ".next/ust", "ust");
	check_done(dir_fd);
	CHECK_IS(relturn_finish(&place.relay, dir_fd), ==, 0);
	close(dir_fd);
}

/* --- viewers ------------------------------------------------------------------------------- */

static void find_id(const struct live_session *session, unsigned int streams, void *data)
{
	(void)streams;
	*(uint64_t *)data = session->id;
}

/* Return: the number of the next packet; UINT64_MAX: there is none. */
static uint64_t view_next(struct vstream *vs)
{
	struct packet_header header;
	struct view_index index;

	CHECK_IS(vstream_index(vs, &index), ==, 0);
	if (be32toh(index.status) != VIEW_INDEX)
		return UINT64_MAX;
	CHECK_IS(vstream_read(vs, be64toh(index.offset), &header, sizeof(header)), ==, 0);
	return header.packet_seq_num;
}

static void must_turn(int fd, const char *name, bool clear)
{
	CHECK_IS(SENDER_ASK(fd, rel_turn, { name, clear }), ==, 0);
}

/* Each packet comes once, over several turns; after a clear, new packets come. */
static void test_viewer(int fd)
{
	const struct view_acl acl = { .all = true };
	struct view_files files = { .max = 10 };
	uint64_t id = 0, next_id = 1;
	struct vsession *session;
	struct vstream *vs;

	CHECK_IS(sender_begin(fd, "viewed", SYNC_NONE, 20000), ==, 0);
	live_each(&place.relay.live, &acl, find_id, &id);
	session = vsession_new(&place.relay.live, id, &acl, true, 0);
	CHECK(session);
	send_packet(fd, 0);
	must_turn(fd, "archives/1", false); /* before the viewer has begun */
	send_packet(fd, 2);
	vs = vsession_next(session, &files, &next_id);
	CHECK(vs);
	for (uint64_t seq = 0; seq < 3; seq++)
		CHECK_IS(view_next(vs), ==, seq);
	CHECK_IS(view_next(vs), ==, UINT64_MAX);
	send_packet(fd, 3);
	must_turn(fd, "archives/2", false);
	must_turn(fd, "archives/3", false);
	send_packet(fd, 6);
	for (uint64_t seq = 3; seq < 7; seq++)
		CHECK_IS(view_next(vs), ==, seq);
	send_packet(fd, 7);
	must_turn(fd, "cleared", true);
	retention_await_erased(&place.relay);
	send_packet(fd, 9);
	CHECK_IS(view_next(vs), ==, 8);
	CHECK_IS(view_next(vs), ==, 9);
	CHECK_IS(view_next(vs), ==, UINT64_MAX);
	vsession_free(session);
	CHECK_IS(SENDER_ASK(fd, rel_end, {}), ==, 0);
	close(fd);
	CHECK_IS(live_fds(&place.relay.live), ==, 0);
}

/* Archives are removed also while their session is received. */
static void test_retention(int fd)
{
	CHECK_IS(retention_start(&place.retention), ==, 0);
	while (exists(SESSION "archives/one") || exists(SESSION "archives/three"))
		usleep(1000);
	send_packet(fd, 12);
	CHECK_IS(stored(""), ==, 3);
}

int main(void)
{
	int fds[3];

	relay_place_init(&place, fds, ARRAY_SIZE(fds));
	CHECK_IS(sender_begin(fds[0], "turns", SYNC_NONE, 0), ==, 0);
	test_turn(fds[0]);
	test_refused(fds[0]);
	test_clear(fds[0]);
	test_clear_on_full_disk(fds[0]);
	test_reconnected(fds[0], fds[1]);
	test_cut();
	test_viewer(fds[2]);
	test_retention(fds[1]);
	close(fds[1]);
	relay_place_fini(&place);
	return 0;
}
