/* SPDX-License-Identifier: GPL-2.0-only */
/* A live relay that answers with any bytes: the view ends, and prints no control byte. */
#include "read/live/live.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "must_hold.h"
#include "lib/view_dir.h"

#define MAX_INPUT (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The requests are read, so that the viewer can send more. */
static void *drain(void *priv)
{
	const int *fd = priv;
	char buf[4096];

	while (read(*fd, buf, sizeof(buf)) > 0)
		;
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int room = 1 << 20;
	struct live_session session = { .nr = 1, .rest_ms = 1 };
	struct view_select select = { .has_begin = false };
	struct view *view;
	pthread_t thread;
	int fds[2];

	if (size > MAX_INPUT)
		return 0;
	MUST_HOLD(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	MUST_HOLD(write(fds[1], data, size) == (ssize_t)size);
	MUST_HOLD(shutdown(fds[1], SHUT_WR) == 0);
	MUST_HOLD(pthread_create(&thread, NULL, drain, &fds[1]) == 0);
	session.fd = fds[0];
	session.ids = xalloc(sizeof(*session.ids));
	if (view_open_live(&session, fuzz_report, NULL, &view) == 0)
		fuzz_print(view, &select, size % 2 ? VIEW_JSON : VIEW_TEXT);
	pthread_join(thread, NULL);
	close(fds[1]);
	return 0;
}
