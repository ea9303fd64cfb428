/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay receives arbitrary messages from its ltt-archive: each is taken, or the connection is
 * closed, and a new one is served all the while. No memory and no descriptor stays.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "io/sock.h"
#include "lib/fuzz_fds.h"
#include "lib/fuzz_loop.h"
#include "proto/relay.h"
#include "relayd/archive/archiver.h"

#define MAX_INPUT (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Return: the far end of a new connection. */
static int start_child(int spawner)
{
	int fds[2];

	MUST_HOLD(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	MUST_HOLD(sock_send(spawner, "", 1, fds, 1) == 0);
	close(fds[0]);
	fuzz_pump();
	return fds[1];
}

/* Return: whether the relay has sent something. */
static bool has_input(int fd)
{
	uint8_t buf[4096];

	return recv(fd, buf, sizeof(buf), 0) > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t id[RELAY_ID_BYTES] = "id";
	char problem[ARCHIVER_PROBLEM_BYTES];
	struct archived *session;
	struct archiver *archiver;
	int before, fds[2], child;
	uint64_t seq;

	if (size > MAX_INPUT)
		return 0;
	log_init("fuzz", LOG_QUIET);
	if (!fuzz_loop)
		fuzz_loop_begin();
	before = fuzz_open_fds();
	MUST_HOLD(sock_pair(fds) == 0);
	MUST_HOLD(fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0);
	MUST_HOLD(archiver_new(&archiver, fuzz_loop, fds[0], ARCHIVER_SILENCE_US) == 0);
	session = archiver_receive(archiver, "host/one", id);
	child = start_child(fds[1]);
	MUST_HOLD(has_input(child));
	(void)!send(child, data, size, MSG_NOSIGNAL);
	fuzz_pump();
	close(child);
	(void)archived_durable(session, "ust", 0, 0, &seq);
	archived_problem(session, problem);
	fuzz_pump();
	child = start_child(fds[1]);
	MUST_HOLD(has_input(child));
	archived_leave(session, true);
	(void)archiver_has(archiver, "host/one", true, false);
	archiver_sweep(archiver);
	close(child);
	close(fds[1]);
	archiver_free(archiver);
	MUST_HOLD(fuzz_open_fds() == before);
	return 0;
}
