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
#include "base/text.h"
#include "io/tcp.h"
#include "io/tls.h"
#include "proto/viewproto.h"
#include "read/live/live.h"

#define CONNECT_MS 2000u
#define ANSWER_MS 5000	     /* for the whole conversation */
#define MAX_SESSIONS 100000u /* a relay that claims to have more makes no sense */
#define NAMED_SESSIONS 10u   /* in a sentence */
#define MINOR VIEW_MINOR_CTF_2
#define NAME_BYTES_MAX 65536u /* of a name that is cut */
#define COMMANDS 1u	     /* type of the connection */

static void live_show(const char *origin, struct live_url *ret)
{
	const char *relay = origin ? strstr(origin, "://") : NULL;

	if (relay)
		snprintf(ret->shown, sizeof(ret->shown), "%.*s", (int)strcspn(relay + 3, "/"),
			 relay + 3);
	else
		snprintf(ret->shown, sizeof(ret->shown),
			 strchr(ret->relay, ':') ? "[%s]:%s" : "%s:%s", ret->relay, ret->port);
}

int live_url_parse(const char *url, const char *origin, struct live_url *ret)
{
	const char *at = strncmp(url, "net://", 6) == 0 ? url + 6 : "";
	uint16_t port = VIEW_PORT;

	*ret = (struct live_url){ .host = NULL };
	at = tcp_parse_host(at, ret->relay, sizeof(ret->relay));
	at = at ? tcp_parse_port(at, &port) : NULL;
	if (!at)
		return -EINVAL;
	snprintf(ret->port, sizeof(ret->port), "%u", port);
	live_show(origin, ret);
	if (!*at || strcmp(at, "/") == 0)
		return 0;
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

struct live_talk {
	int fd;
	int64_t until_ms;
	bool expects_tls;
	uint32_t minor; /* of both */
};

static int64_t live_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int live_wait(const struct live_talk *live, short events)
{
	int64_t left = live->until_ms - live_now_ms();
	struct pollfd pfd = { .fd = live->fd, .events = events };
	int n = left > 0 ? poll(&pfd, 1, (int)left) : 0;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return n ? 0 : -ETIMEDOUT;
}

static int live_send(const struct live_talk *live, const void *data, size_t len)
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

static int live_receive(struct live_talk *live, void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = recv(live->fd, (char *)data + done, len - done, 0);
		int ret = n < 0 && errno == EAGAIN ? live_wait(live, POLLIN) : 0;

		if (n == 0 || (n < 0 && errno == ECONNRESET))
			live->expects_tls = tls_is_alert(data, done);
		if (n == 0)
			return -ECONNRESET;
		if (ret < 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return ret < 0 ? ret : -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int live_request(const struct live_talk *live, uint32_t command, const void *body,
			size_t len)
{
	struct view_request request = { .bytes = htobe64(len), .command = htobe32(command) };
	int ret = live_send(live, &request, sizeof(request));

	return ret == 0 && len ? live_send(live, body, len) : ret;
}

static int live_introduce(struct live_talk *live)
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
	live->minor = MIN(be32toh(hello.minor), MINOR);
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

/* A name without a NUL, to a field in which it is cut. */
static int live_receive_name(struct live_talk *live, uint32_t bytes, char *field, size_t room)
{
	AUTO_FREE char *name = bytes <= NAME_BYTES_MAX ? xalloc(bytes + 1) : NULL;
	int ret = name ? live_receive(live, name, bytes) : -EPROTO;

	if (ret == 0)
		memcpy(field, name, MIN(bytes, room - 1));
	return ret;
}

static int live_receive_long(struct live_talk *live, struct view_session_entry *ret)
{
	struct view_session_long entry = { 0 };
	int result = live_receive(live, &entry, sizeof(entry));

	*ret = (struct view_session_entry){ .id = entry.id,
					    .period_us = entry.period_us,
					    .viewers = entry.viewers,
					    .streams = entry.streams };
	if (result == 0)
		result = live_receive_name(live, be32toh(entry.host_bytes), ret->host,
					   sizeof(ret->host));
	if (result == 0)
		result = live_receive_name(live, be32toh(entry.name_bytes), ret->name,
					   sizeof(ret->name));
	return result;
}

/* A session of the relay. */
typedef void (*live_session_fn)(void *priv, const struct view_session_entry *session);

/* Return: 0 or negative errno. */
static int live_each(struct live_talk *live, live_session_fn each, void *priv)
{
	struct view_session_entry session;
	uint32_t nr;
	int ret = live_request(live, VIEW_LIST_SESSIONS, NULL, 0);

	if (ret == 0)
		ret = live_receive(live, &nr, sizeof(nr));
	nr = ret == 0 ? be32toh(nr) : 0;
	if (nr > MAX_SESSIONS)
		return -EPROTO;
	for (uint32_t i = 0; i < nr && ret == 0; i++) {
		ret = live->minor >= VIEW_MINOR_LONG_NAMES ?
			      live_receive_long(live, &session) :
			      live_receive(live, &session, sizeof(session));
		if (ret == 0)
			each(priv, &session);
	}
	return ret;
}

struct live_search {
	const struct live_url *url;
	uint64_t *ids;
	uint32_t nr_ids;
	char *names; /* of others */
	uint32_t nr;
};

static void live_add_name(struct live_search *search, const struct view_session_entry *session)
{
	AUTO_FREE char *before = search->names;

	if (search->nr == NAMED_SESSIONS)
		search->names = xasprintf("%s, ...", before);
	else
		search->names =
			xasprintf("%s%s%.*s/%.*s", before ? before : "", before ? ", " : "",
				  (int)strnlen(session->host, sizeof(session->host)), session->host,
				  (int)strnlen(session->name, sizeof(session->name)),
				  session->name);
}

static void live_compare(void *priv, const struct view_session_entry *session)
{
	struct live_search *search = priv;
	const struct live_url *url = search->url;

	if (is_field(session->host, sizeof(session->host), url->host, url->host_len) &&
	    is_field(session->name, sizeof(session->name), url->session, strlen(url->session))) {
		search->ids = xrealloc(search->ids, (search->nr_ids + 1) * sizeof(*search->ids));
		search->ids[search->nr_ids++] = be64toh(session->id);
		return;
	}
	if (search->nr <= NAMED_SESSIONS)
		live_add_name(search, session);
	search->nr++;
}

static int live_connect(const struct live_url *url, struct err *err)
{
	int fd = tcp_connect_host(url->relay, url->port, CONNECT_MS, err);

	if (fd < 0 && !err->code)
		err_errno(err, ERR_OUTPUT, -fd, "no relay answers viewers at %s", url->shown);
	return fd;
}

/* Connect, and call @each for each session. @ret_fd: the connection; NULL: it is closed. Return: 0;
 * negative: @err is set. */
static int live_converse(const struct live_url *url, live_session_fn each, void *priv, int *ret_fd,
			 struct err *err)
{
	AUTO_FD int fd = live_connect(url, err);
	struct live_talk live = { fd, live_now_ms() + ANSWER_MS, false, 0 };
	int ret;

	if (fd < 0)
		return -EIO;
	ret = live_introduce(&live);
	if (ret == 0)
		ret = live_each(&live, each, priv);
	if (live.expects_tls)
		err_set(err, ERR_OUTPUT,
			"the relay at %s does not list its live sessions: " TLS_EXPECTED,
			url->shown);
	else if (ret < 0)
		err_errno(err, ERR_OUTPUT, -ret, "the relay at %s does not list its live sessions",
			  url->shown);
	if (ret == 0 && ret_fd)
		*ret_fd = TAKE_FD(fd);
	return ret;
}

int live_connect_to(const struct live_url *url, struct live_session *ret, struct err *err)
{
	struct live_search search = { .url = url };
	int rc = live_converse(url, live_compare, &search, &ret->fd, err);
	AUTO_FREE char *names = search.names;

	ret->ids = search.ids;
	ret->nr = search.nr_ids;
	if (rc < 0)
		return err->code;
	if (ret->nr)
		return 0;
	return err_set(err, ERR_NO_SESSION,
		       "the relay has no live session '%s' of host '%.*s'; %s%s", url->session,
		       (int)url->host_len, url->host,
		       names ? "it has HOST/SESSION: " : "it has none that you may follow",
		       names ? names : "");
}

int live_find(const struct live_url *url, struct err *err)
{
	struct live_session found = { .fd = -1 };

	(void)!live_connect_to(url, &found, err);
	close_fd(found.fd);
	free(found.ids);
	return err->code;
}

/* --- list --------------------------------------------------------------------------- */

struct live_listing {
	const struct live_url *url;
	const char *scheme;
	FILE *out;
	uint32_t nr;
};

static void live_print_name(FILE *out, const char *name, size_t bytes)
{
	char *text AUTO_FREE = xasprintf("%.*s", (int)bytes, name);
	char *safe AUTO_FREE = text_escape(text);

	fputs(safe, out);
}

static void live_print(void *priv, const struct view_session_entry *session)
{
	struct live_listing *listing = priv;

	fprintf(listing->out, "%s%s/host/", listing->scheme, listing->url->shown);
	live_print_name(listing->out, session->host, sizeof(session->host));
	fputc('/', listing->out);
	live_print_name(listing->out, session->name, sizeof(session->name));
	fprintf(listing->out, " (timer = %u, %u stream(s), %u client(s) connected)\n",
		be32toh(session->period_us), be32toh(session->streams), be32toh(session->viewers));
	listing->nr++;
}

int live_list(const struct live_url *url, const char *scheme, FILE *out, uint32_t *ret_nr,
	      struct err *err)
{
	struct live_listing listing = { url, scheme, out, 0 };

	if (live_converse(url, live_print, &listing, NULL, err) < 0)
		return err->code;
	*ret_nr = listing.nr;
	return 0;
}
