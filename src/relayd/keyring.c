/* SPDX-License-Identifier: GPL-2.0-only */
#include "keyring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/tcp.h"

#define FILE_VIEWERS "viewers"
#define BLANKS " \t\r"

int keyring_init(struct keyring *ring, const char *path, struct err *err)
{
	*ring = (struct keyring){ .path = xstrdup(path) };
	pthread_mutex_init(&ring->lock, NULL);
	ring->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ring->dir_fd < 0)
		err_errno(err, ERR_OUTPUT, errno, "there are no keys in %s", path);
	else if (keyring_reload(ring, err) == 0)
		return 0;
	keyring_fini(ring);
	return err->code;
}

void keyring_fini(struct keyring *ring)
{
	ring->keys = tls_keys_unref(ring->keys);
	free(TAKE(ring->viewers));
	free(TAKE(ring->path));
	ring->dir_fd = close_fd(ring->dir_fd);
	pthread_mutex_destroy(&ring->lock);
}

int keyring_reload(struct keyring *ring, struct err *err)
{
	AUTO_FREE char *viewers = NULL;
	struct tls_keys *keys, *old;
	char *old_viewers;

	if (tls_file_read(ring->dir_fd, ring->path, FILE_VIEWERS, false, &viewers, err) ||
	    tls_keys_load_at(ring->dir_fd, ring->path, &keys, err))
		return err->code;
	pthread_mutex_lock(&ring->lock);
	old = ring->keys;
	old_viewers = ring->viewers;
	ring->keys = keys;
	ring->viewers = TAKE(viewers);
	pthread_mutex_unlock(&ring->lock);
	tls_keys_unref(old);
	free(old_viewers);
	return 0;
}

static struct tls_keys *keyring_acquire_keys(struct keyring *ring)
{
	struct tls_keys *keys;

	pthread_mutex_lock(&ring->lock);
	keys = tls_keys_ref(ring->keys);
	pthread_mutex_unlock(&ring->lock);
	return keys;
}

void keyring_warn(struct keyring *ring)
{
	struct tls_keys *keys = keyring_acquire_keys(ring);
	AUTO_FREE char *sentence = tls_keys_expiry(keys, ring->path);

	tls_keys_unref(keys);
	if (sentence)
		log_warn("%s", sentence);
}

/* Both ends see the same address, and decide by it alike. */
static bool is_within(int fd)
{
	struct tcp_addr own = { .len = sizeof(own.sa) };

	return getsockname(fd, (struct sockaddr *)&own.sa, &own.len) == 0 && tcp_is_local(&own);
}

int keyring_accept(struct keyring *ring, enum relay_link link, int fd, struct tls **ret)
{
	struct tls_keys *keys;
	int error;

	*ret = NULL;
	if (link == RELAY_LINK_CLEAR || (link == RELAY_LINK_DEFAULT && is_within(fd)))
		return 0;
	if (!ring)
		return -ENOKEY;
	keys = keyring_acquire_keys(ring);
	error = tls_new_server(keys, fd, ret);
	tls_keys_unref(keys);
	return error;
}

int keyring_recheck(struct keyring *ring, struct chan *chan)
{
	struct tls_keys *keys = keyring_acquire_keys(ring);
	int ret = chan_recheck(chan, keys);

	tls_keys_unref(keys);
	return ret;
}

/* Not further ahead: the machine's clock may be put right meanwhile. */
#define WATCH_MAX_S 3600

void keyring_watch(struct loop_timer *timer, const struct chan *chan)
{
	time_t expiry = chan_expiry(chan), left = expiry - time(NULL);

	if (expiry)
		loop_timer_set(timer, (uint64_t)(MAX(MIN(left, WATCH_MAX_S), 0) + 1) * 1000000);
}

/* --- rights of viewers ------------------------------------------------------------------ */

static void keyring_add_host(struct view_acl *view_acl, const char *host)
{
	if (strcmp(host, "*") == 0)
		view_acl->all = true;
	view_acl->hosts =
		xrealloc(view_acl->hosts, (view_acl->nr_hosts + 1) * sizeof(*view_acl->hosts));
	view_acl->hosts[view_acl->nr_hosts++] = xstrdup(host);
}

/* NAME HOST... */
static void keyring_parse_line(char *line, const char *peer, struct view_acl *ret)
{
	char *rest, *name, *host;

	line[strcspn(line, "#")] = '\0';
	name = strtok_r(line, BLANKS, &rest);
	if (!name || strcmp(name, peer) != 0)
		return;
	while ((host = strtok_r(NULL, BLANKS, &rest)))
		keyring_add_host(ret, host);
}

void keyring_view_acl(struct keyring *ring, const char *peer, struct view_acl *ret)
{
	AUTO_FREE char *text = NULL;
	char *at, *line;

	*ret = (struct view_acl){ 0 };
	keyring_add_host(ret, peer);
	pthread_mutex_lock(&ring->lock);
	text = ring->viewers ? xstrdup(ring->viewers) : NULL;
	pthread_mutex_unlock(&ring->lock);
	for (at = text; at && (line = strsep(&at, "\n"));)
		keyring_parse_line(line, peer, ret);
}
