/* SPDX-License-Identifier: GPL-2.0-only */
#include "live.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "io/tcp.h"
#include "proto/viewproto.h"

#define CONNECT_MS 2000u
#define ANSWER_MS 5000	     /* for the whole conversation */
#define MAX_SESSIONS 100000u /* a relay that claims to have more makes no sense */
#define NAMED_SESSIONS 10u   /* in a sentence */
#define MINOR 4u	     /* names are cut to the fields of struct view_session since then */
#define COMMANDS 1u	     /* type of the connection */

int live_url_parse(const char *url, struct live_url *ret)
{
	const char *at = strncmp(url, "net://", 6) == 0 ? url + 6 : "";
	uint16_t port = VIEW_PORT;

	at = tcp_parse_host(at, ret->relay, sizeof(ret->relay));
	at = at ? tcp_parse_port(at, &port) : NULL;
	if (!at)
		return -EINVAL;
	snprintf(ret->port, sizeof(ret->port), "%u", port);
	if (strncmp(at, "/host/", 6) != 0)
		return -EINVAL;
	ret->host = at + 6;
	ret->host_len = strcspn(ret->host, "/");
	if (!ret->host_len || !ret->host[ret->host_len] || !ret->host[ret->host_len + 1])
		return -EINVAL;
	ret->session = ret->host + ret->host_len + 1;
	return 0;
}

/* --- the conversation -------------------------------------------------------------------- */

struct live {
	int fd;
	int64_t until_ms;
};

static int64_t live_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int live_wait(const struct live *live, short events)
{
	int64_t left = live->until_ms - live_now_ms();
	struct pollfd pfd = { .fd = live->fd, .events = events };
	int n = left > 0 ? poll(&pfd, 1, (int)left) : 0;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n ? 0 : -ETIMEDOUT;
}

static int live_send(const struct live *live, const void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = send(live->fd, (const char *)data + done, len - done, MSG_NOSIGNAL);
		int ret = n < 0 && errno == EAGAIN ? live_wait(live, POLLOUT) : 0;

		if (ret < 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return ret < 0 ? ret : -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int live_receive(const struct live *live, void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = recv(live->fd, (char *)data + done, len - done, 0);
		int ret = n < 0 && errno == EAGAIN ? live_wait(live, POLLIN) : 0;

		if (n == 0)
			return -ECONNRESET;
		if (ret < 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return ret < 0 ? ret : -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int live_request(const struct live *live, uint32_t command, const void *body, size_t len)
{
	struct view_request request = { .bytes = htobe64(len), .command = htobe32(command) };
	int ret = live_send(live, &request, sizeof(request));

	return ret == 0 && len ? live_send(live, body, len) : ret;
}

static int live_introduce(const struct live *live)
{
	struct view_connect hello = {
		.viewer = UINT64_MAX,
		.major = htobe32(VIEW_MAJOR),
		.minor = htobe32(MINOR),
		.type = htobe32(COMMANDS),
	};
	int ret = live_request(live, VIEW_CONNECT, &hello, sizeof(hello));

	if (ret == 0)
		ret = live_receive(live, &hello, sizeof(hello));
	return ret == 0 && be32toh(hello.major) != VIEW_MAJOR ? -EPROTO : ret;
}

/* --- search --------------------------------------------------------------------- */

/* Is the field, which is cut where it is too small, @text? */
static bool is_field(const char *field, size_t bytes, const char *text, size_t len)
{
	size_t has = strnlen(field, bytes - 1);

	return len >= bytes - 1 ? strncmp(field, text, bytes - 1) == 0 :
				  has == len && memcmp(field, text, len) == 0;
}

static void live_add_name(char **names, uint32_t nr, const struct view_session *session)
{
	AUTO_FREE char *before = *names;

	if (nr == NAMED_SESSIONS)
		*names = xasprintf("%s, ...", before);
	else
		*names =
			xasprintf("%s%s%.*s/%.*s", before ? before : "", before ? ", " : "",
				  (int)strnlen(session->host, sizeof(session->host)), session->host,
				  (int)strnlen(session->name, sizeof(session->name)),
				  session->name);
}

/* Return: 1: it is there; 0: it is not, and @names has others; negative errno. */
static int live_search(const struct live *live, const struct live_url *url, char **names)
{
	struct view_session session;
	uint32_t nr;
	int ret = live_request(live, VIEW_LIST_SESSIONS, NULL, 0);

	if (ret == 0)
		ret = live_receive(live, &nr, sizeof(nr));
	nr = ret == 0 ? be32toh(nr) : 0;
	if (nr > MAX_SESSIONS)
		return -EPROTO;
	for (uint32_t i = 0; i < nr; i++) {
		ret = live_receive(live, &session, sizeof(session));
		if (ret < 0)
			return ret;
		if (is_field(session.host, sizeof(session.host), url->host, url->host_len) &&
		    is_field(session.name, sizeof(session.name), url->session,
			     strlen(url->session)))
			return 1;
		if (i <= NAMED_SESSIONS)
			live_add_name(names, i, &session);
	}
	return ret;
}

static int live_connect(const struct live_url *url, struct err *err)
{
	int fd = tcp_connect_host(url->relay, url->port, CONNECT_MS, err);

	if (fd < 0 && !err->code)
		err_errno(err, ERR_OUTPUT, -fd, "no relay answers viewers at %s:%s", url->relay,
			  url->port);
	return fd;
}

int live_find(const struct live_url *url, struct err *err)
{
	AUTO_FREE char *names = NULL;
	AUTO_FD int fd = live_connect(url, err);
	struct live live = { fd, live_now_ms() + ANSWER_MS };
	int ret;

	if (fd < 0)
		return err->code;
	ret = live_introduce(&live);
	if (ret == 0)
		ret = live_search(&live, url, &names);
	if (ret > 0)
		return 0;
	if (ret < 0)
		return err_errno(err, ERR_OUTPUT, -ret,
				 "the relay at %s:%s does not list its live sessions", url->relay,
				 url->port);
	return err_set(err, ERR_NO_SESSION,
		       "the relay has no live session '%s' of host '%.*s'; %s%s", url->session,
		       (int)url->host_len, url->host,
		       names ? "it has HOST/SESSION: " : "it has none that you may follow",
		       names ? names : "");
}
