/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt-sessiond receives arbitrary replies of a keeper, or none: it gets three descriptors or
 * none, and sends its next request. An input is a series of replies, each behind two bytes of
 * length, which are sent before the first request; three descriptors are attached to each.
 * The keeper closes the connection behind the last one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "lib/fuzz_fds.h"
#include "io/sock.h"
#include "must_hold.h"
#include "proto/codec.h"
#include "sessiond/peers/keeper.h"

static struct loop *loop;
static char path[64];
static int listener, null;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void nothing(struct keeper *keeper)
{
	(void)keeper;
}

static void remove_socket(void)
{
	unlink(path);
}

static void set_up(void)
{
	log_init("test", LOG_QUIET);
	snprintf(path, sizeof(path), "/tmp/keeper-fuzz-%d.sock", (int)getpid());
	listener = sock_listen(path, 0600, (gid_t)-1);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	MUST_HOLD(listener >= 0 && null >= 0 && loop_new(&loop) == 0);
	atexit(remove_socket);
}

/* Each unchanged, but with the serial of the next request, if @agree. */
static void answer(int fd, const uint8_t *data, size_t size, bool agree)
{
	static uint8_t copy[65536];
	uint32_t serial = 1;

	while (size > 2) {
		size_t len = data[0] | (size_t)data[1] << 8;
		int fds[3] = { null, null, null };

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		memcpy(copy, data, len);
		if (agree && len >= 8) {
			memcpy(copy + 4, &serial, sizeof(serial));
			serial += !(copy[2] & MSG_ITEM);
		}
		(void)!sock_send(fd, copy, len, fds, 3);
		data += len;
		size -= len;
	}
	shutdown(fd, SHUT_WR);
}

static void get(struct keeper *keeper)
{
	int fds[KEEPER_FDS] = { -1, -1, -1 };

	if (keeper_get(keeper, 0, "ring", 7, fds) < 0)
		for (int i = 0; i < KEEPER_FDS; i++)
			MUST_HOLD(fds[i] == -1);
	for (int i = 0; i < KEEPER_FDS; i++)
		if (fds[i] >= 0)
			MUST_HOLD(close(fds[i]) == 0);
}

static bool is_wanted(struct keeper *keeper, const char *kind, uint64_t id)
{
	(void)keeper;
	MUST_HOLD(strlen(kind) < 64);
	return id & 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fds[KEEPER_FDS] = { null, null, -1 };
	struct keeper keeper;
	int server, before;

	if (!size)
		return 0;
	if (!path[0])
		set_up();
	before = fuzz_open_fds();
	keeper_init(&keeper, loop, path, NULL, "/nowhere", nothing);
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	MUST_HOLD(server >= 0);
	answer(server, data + 1, size - 1, data[0] & 1);
	keeper_put(&keeper, "ring", 7, fds);
	get(&keeper);
	keeper_sweep(&keeper, is_wanted);
	get(&keeper);
	keeper_drop(&keeper, "ring", 7);
	keeper_fini(&keeper);
	close(server);
	MUST_HOLD(fuzz_open_fds() == before);
	return 0;
}
