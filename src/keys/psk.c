/* SPDX-License-Identifier: GPL-2.0-only */
/* psk.c - creates a pre-shared key for a relay and a host, instead of certificates. */
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "io/tls_keys.h"
#include "place.h"
#include "verbs.h"

#define KEY_BYTES 32u

/* Has @text a line that begins as @line does, up to the colon? */
static bool keys_psk_has_name(const char *text, const char *line)
{
	size_t len = strcspn(line, ":") + 1;

	for (const char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strncmp(at, line, len) == 0)
			return true;
	return false;
}

/* A relay has one behind the other, a host but its own. */
static int add_line(int dir, const char *machine, const char *line, bool only, struct err *err)
{
	AUTO_FD int own = place_open(dir, machine, true, err);
	char *old CLEANUP(tls_file_forget) = NULL, *all CLEANUP(tls_file_forget) = NULL;
	gnutls_datum_t text;

	if (own < 0 || tls_file_read(own, machine, TLS_FILE_PSK, true, &old, err))
		return err->code;
	if (old && (only || keys_psk_has_name(old, line)))
		return err_set(err, ERR_INVALID,
			       "%s/" TLS_FILE_PSK " has a key for that already, and nothing is "
			       "overwritten",
			       machine);
	all = xasprintf("%s%s", old ? old : "", line);
	text = (gnutls_datum_t){ (unsigned char *)all, (unsigned int)strlen(all) };
	return place_write(own, TLS_FILE_PSK, &text, true, old ? PLACE_REPLACE : PLACE_NEW, err);
}

static char *make_line(const char *name, struct err *err)
{
	char hex[2 * KEY_BYTES + 1];
	uint8_t key[KEY_BYTES];
	char *line;

	if (gnutls_rnd(GNUTLS_RND_KEY, key, sizeof(key)) < 0) {
		err_set(err, ERR_INTERNAL, "can't generate random bytes");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(key); i++)
		snprintf(hex + 2 * i, 3, "%02x", key[i]);
	line = xasprintf("%s:%s\n", name, hex);
	gnutls_memset(hex, 0, sizeof(hex));
	gnutls_memset(key, 0, sizeof(key));
	return line;
}

/* The relay's line contains it. */
static char *make_viewers_line(const char *line)
{
	return xasprintf("%.*s:" TLS_UNIT_VIEWER "\n", (int)strcspn(line, "\n"), line);
}

int verb_psk(const struct order *order, struct err *err)
{
	const char *relay = order->names[0], *host = order->names[1];
	char *line CLEANUP(tls_file_forget) = NULL, *theirs CLEANUP(tls_file_forget) = NULL;
	AUTO_FD int dir = -1;

	if (name_check(relay) || name_check(host) || strchr(host, ':'))
		return err_set(err, ERR_INVALID,
			       "'%.80s' and '%.80s' have to be names, the second one without a "
			       "colon",
			       relay, host);
	dir = place_open(AT_FDCWD, order->dir, true, err);
	line = dir < 0 ? NULL : make_line(host, err);
	if (line && order->viewer)
		theirs = make_viewers_line(line);
	if (!line || add_line(dir, host, line, true, err) ||
	    add_line(dir, relay, theirs ? theirs : line, false, err))
		return err->code;
	printf("%s/%s/" TLS_FILE_PSK " is for the relay, %s/%s/" TLS_FILE_PSK " for %s\n",
	       order->dir, relay, order->dir, host, host);
	return 0;
}
