/* SPDX-License-Identifier: GPL-2.0-only */
#include "relay_conn_names.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "consumerd/now.h"

#define FRESH_NS 10000000000ull	 /* an answer that came late counts for so long */

/** Of the worker and the thread, until both have left it. */
struct name_lookup {
	unsigned int users; /* atomic */
	int done_fd;	    /* readable when the rest is there */
	struct relayurl url;
	uint64_t done_ns;
	int error; /* of getaddrinfo() */
	struct name_addrs addrs;
};

struct name_lookup *relay_conn_names_leave(struct name_lookup *lookup)
{
	if (lookup && __atomic_sub_fetch(&lookup->users, 1, __ATOMIC_ACQ_REL) == 0) {
		close_fd(lookup->done_fd);
		free(lookup);
	}
	return NULL;
}

static int relay_conn_names_resolve(const struct relayurl *url, int flags, struct name_addrs *ret)
{
	struct addrinfo hints = { .ai_flags = flags,
				  .ai_family = url->family,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *at;
	char port[8];
	int error;

	snprintf(port, sizeof(port), "%u", url->port);
	error = getaddrinfo(url->host, port, &hints, &list);
	ret->nr = 0;
	if (error)
		return error;
	for (at = list; at && ret->nr < RELAY_ADDRS_MAX; at = at->ai_next) {
		struct tcp_addr *addr = &ret->addr[ret->nr++];

		*addr = (struct tcp_addr){ .len = at->ai_addrlen };
		memcpy(&addr->sa, at->ai_addr, at->ai_addrlen);
	}
	freeaddrinfo(list);
	return 0;
}

static void *lookup_main(void *data)
{
	struct name_lookup *lookup = data;

	lookup->error = relay_conn_names_resolve(&lookup->url, 0, &lookup->addrs);
	lookup->done_ns = now_ns();
	(void)!eventfd_write(lookup->done_fd, 1);
	relay_conn_names_leave(lookup);
	return NULL;
}

static struct name_lookup *relay_conn_names_begin(const struct relayurl *url)
{
	struct name_lookup *lookup = xalloc(sizeof(*lookup));
	int error;

	lookup->url = *url;
	lookup->users = 2;
	lookup->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = lookup->done_fd < 0 ? -1 : thread_start(NULL, lookup_main, lookup);
	if (!error)
		return lookup;
	relay_conn_names_leave(lookup);
	return relay_conn_names_leave(lookup);
}

static bool relay_conn_names_is_done(const struct name_lookup *lookup)
{
	eventfd_t nr;

	return eventfd_read(lookup->done_fd, &nr) == 0;
}

static bool relay_conn_names_is_same(const struct relayurl *a, const struct relayurl *b)
{
	return strcmp(a->host, b->host) == 0 && a->port == b->port && a->family == b->family;
}

/* While one lookup is slow, no other is started, for any name. */
static int relay_conn_names_await(struct name_lookup **lookup, const struct relayurl *url,
				  struct wire *wire)
{
	bool usable;

	for (;;) {
		int ret;

		if (!*lookup)
			*lookup = relay_conn_names_begin(url);
		if (!*lookup)
			return -ENOMEM;
		ret = wire_await(wire, (*lookup)->done_fd);
		if (!relay_conn_names_is_done(*lookup))
			return ret < 0 ? ret : -ETIMEDOUT;
		usable = relay_conn_names_is_same(&(*lookup)->url, url) &&
			 now_ns() - (*lookup)->done_ns < FRESH_NS;
		if (usable)
			return 0;
		*lookup = relay_conn_names_leave(*lookup);
	}
}

int relay_conn_names_find(struct name_lookup **lookup, const struct relayurl *url,
			  struct wire *wire, struct name_addrs *ret, const char **ret_problem)
{
	int error;

	if (relay_conn_names_resolve(url, AI_NUMERICHOST, ret) == 0)
		return 0;
	error = relay_conn_names_await(lookup, url, wire);
	*ret_problem = "its name's address was not found in time";
	if (error < 0)
		return -ETIMEDOUT;
	*ret = (*lookup)->addrs;
	error = (*lookup)->error;
	*ret_problem = error ? gai_strerror(error) : NULL;
	*lookup = relay_conn_names_leave(*lookup);
	return error ? -EHOSTUNREACH : 0;
}
