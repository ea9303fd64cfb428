/* SPDX-License-Identifier: GPL-2.0-only */
#include "listeners.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "proto/relay.h"
#include "proto/viewproto.h"

/* For senders or for viewers. */
struct url_listener {
	const char *whose;
	char *const *urls;
	unsigned int port;
	int (*open)(void *of, const struct tcp_addr *addr, enum relay_link link);
	void *of;
	const struct listen_config *config;
	struct keyring *ring;
};

static int open_to_senders(void *of, const struct tcp_addr *addr, enum relay_link link)
{
	return relay_listen(of, addr, link);
}

static int open_to_viewers(void *of, const struct tcp_addr *addr, enum relay_link link)
{
	return viewers_listen(of, addr, link);
}

/* Looked for where they are needed: a relay for this machine only needs none. */
static int find_keys(const struct listen_config *config, struct keyring *ring)
{
	AUTO_FREE char *path = config->keys ? xstrdup(config->keys) : tls_keys_default_dir();
	struct err err = { 0 };

	if (ring->keys)
		return 0;
	if (!path)
		err_set(&err, ERR_INVALID, "HOME is not set, where keys would be");
	else if (keyring_init(ring, path, &err) == 0)
		return 0;
	log_error("%s", err.text);
	return -ENOKEY;
}

static int listeners_listen_at(const struct url_listener *listener, const struct tcp_addr *addr,
			       enum relay_link link)
{
	bool local = tcp_is_local(addr);
	char text[TCP_TEXT_BYTES];
	int ret;

	tcp_text(addr, text);
	if (link == RELAY_LINK_DEFAULT && !local && listener->config->clear_text)
		link = RELAY_LINK_CLEAR;
	if ((link == RELAY_LINK_TLS || (link == RELAY_LINK_DEFAULT && !local)) &&
	    find_keys(listener->config, listener->ring) < 0) {
		log_error("%s%s: make keys (ltt-keys)%s", text,
			  local ? " is to speak TLS" : " can be reached from other hosts",
			  link == RELAY_LINK_TLS ? "" : ", or ask for --clear-text");
		return -EPERM;
	}
	ret = listener->open(listener->of, addr, link);
	if (ret < 0)
		log_error("can't listen at %s: %s", text, strerror(-ret));
	else
		log_info("listening at %s%s", text, listener->whose);
	return ret;
}

static int listen_by_default(const struct url_listener *listener)
{
	struct tcp_addr four, six;
	char text[TCP_TEXT_BYTES];

	snprintf(text, sizeof(text), "127.0.0.1:%u", listener->port);
	if (tcp_parse(text, &four) < 0 ||
	    listeners_listen_at(listener, &four, RELAY_LINK_DEFAULT) < 0)
		return -EADDRINUSE;
	snprintf(text, sizeof(text), "[::1]:%u", listener->port);
	if (tcp_parse(text, &six) == 0 &&
	    listener->open(listener->of, &six, RELAY_LINK_DEFAULT) < 0)
		log_info("not listening at %s", text); /* a machine may have no IPv6 */
	return 0;
}

static int parse_url(const char *url, struct tcp_addr *ret_addr, enum relay_link *ret_link)
{
	bool tls = strncmp(url, "tls://", 6) == 0;
	const char *text = tls || strncmp(url, "tcp://", 6) == 0 ? url + 6 : url;
	bool named = strncmp(text, "localhost:", 10) == 0;
	AUTO_FREE char *local = named ? xasprintf("127.0.0.1:%s", text + 10) : NULL;

	if (tcp_parse(local ? local : text, ret_addr) < 0)
		return -EINVAL;
	*ret_link = tls ? RELAY_LINK_TLS : RELAY_LINK_DEFAULT;
	return 0;
}

static int listen_at_urls(const struct url_listener *listener)
{
	int ret = 0;

	if (!listener->urls)
		return listen_by_default(listener);
	for (char *const *url = listener->urls; *url && ret == 0; url++) {
		enum relay_link link;
		struct tcp_addr addr;

		ret = parse_url(*url, &addr, &link);
		if (ret == 0)
			ret = listeners_listen_at(listener, &addr, link);
	}
	return ret;
}

static int check_urls(char *const *urls)
{
	enum relay_link link;
	struct tcp_addr addr;

	for (; urls && *urls; urls++)
		if (parse_url(*urls, &addr, &link) < 0) {
			log_error("'%s': this is not an address: use tcp://ADDRESS:PORT or "
				  "tls://ADDRESS:PORT, with a numeric address",
				  *urls);
			return -EINVAL;
		}
	return 0;
}

int listeners_check(const struct listen_config *config)
{
	return check_urls(config->senders) < 0 ? -EINVAL : check_urls(config->viewers);
}

int listeners_open(const struct listen_config *config, struct relay *relay, struct viewers *viewers,
		   struct keyring *ring)
{
	const struct url_listener for_senders = {
		"", config->senders, RELAY_PORT, open_to_senders, relay, config, ring
	};
	const struct url_listener for_viewers = {
		", for viewers", config->viewers, VIEW_PORT, open_to_viewers, viewers, config, ring
	};
	int ret = listen_at_urls(&for_senders);

	if (ret == 0)
		ret = listen_at_urls(&for_viewers);
	relay->live_port = viewers_port(viewers, false);
	relay->live_tls_port = viewers_port(viewers, true);
	relay->keyring = viewers->keyring = ring->keys ? ring : NULL;
	return ret;
}
