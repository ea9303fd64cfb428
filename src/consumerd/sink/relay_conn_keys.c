/* SPDX-License-Identifier: GPL-2.0-only */
#include "relay_conn_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

char *relay_conn_host_of(const char *addr)
{
	const char *end = strrchr(addr, ':');
	size_t skip = *addr == '[', len = (size_t)(end - addr) - 2 * skip;
	char *host = xalloc(len + 1);

	memcpy(host, addr + skip, len);
	return host;
}

/* A worker opens files as the session's owner (worker/jobs.c): not these. */
static int load_as_daemon(const char *dir, struct tls_keys **ret, struct err *err)
{
	long owner = syscall(SYS_setfsuid, geteuid());
	int code = tls_keys_load(dir, ret, err);

	syscall(SYS_setfsuid, owner);
	if (syscall(SYS_setfsuid, -1) == owner)
		return code;
	*ret = code ? NULL : tls_keys_unref(*ret);
	return err_set(err, ERR_INTERNAL, "can't restore the user id of the session's owner");
}

#define DAY_S 86400

/* Once a day, of all workers. */
static void warn_of_expiry(const struct tls_keys *keys, const char *dir)
{
	static _Atomic time_t warned_s;
	time_t now = time(NULL), last = warned_s;
	AUTO_FREE char *sentence = NULL;

	if ((last && now - last < DAY_S) || !atomic_compare_exchange_strong(&warned_s, &last, now))
		return;
	sentence = tls_keys_expiry(keys, dir);
	if (sentence)
		log_warn("%s", sentence);
}

/* As of a user's own consumer, where the keys are root's. */
static bool is_denied(const char *dir)
{
	AUTO_FREE char *key = xasprintf("%s/" TLS_FILE_KEY, dir);

	return faccessat(AT_FDCWD, key, R_OK, AT_EACCESS) < 0 && errno == EACCES;
}

int relay_conn_secure(enum relay_link link, const struct tcp_addr *addr, struct tls_keys **ret,
		      struct err *err)
{
	AUTO_FREE char *dir = NULL;
	struct err why = { 0 };

	*ret = NULL;
	if (link == RELAY_LINK_CLEAR || (link == RELAY_LINK_DEFAULT && tcp_is_local(addr)))
		return 0;
	dir = tls_keys_default_dir();
	if (!dir)
		return err_set(err, ERR_INVALID,
			       "HOME is not set: the directory of the keys is not known");
	if (load_as_daemon(dir, ret, &why) == 0) {
		warn_of_expiry(*ret, dir);
		return 0;
	}
	if (is_denied(dir))
		return err_set(err, why.code,
			       "the session is written by user %u, which may not read the keys in "
			       "%s; use a relay without keys, or a directory",
			       (unsigned int)geteuid(), dir);
	return err_set(err, why.code,
		       "%s; make keys (ltt-keys), or ask for clear text (create --clear-text)",
		       why.text);
}
