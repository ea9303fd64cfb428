/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tls_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "tls_priv.h"

#define MAX_FILE_BYTES (1 << 20)
#define MAX_CHAIN 5u
#define MAX_KEY_BITS 8192u

/* Programs that do not use the library skip its initialisation. */
GNUTLS_SKIP_GLOBAL_INIT

static void init_library(void)
{
	gnutls_global_init();
}

char *tls_keys_default_dir(void)
{
	const char *dir = getenv("LTT_KEYS"), *home = getenv("LTT_HOME");

	if (dir && *dir)
		return xstrdup(dir);
	if (geteuid() == 0)
		return xstrdup("/etc/ltt/keys");
	if (!home || !*home)
		home = getenv("HOME");
	return home && *home ? xasprintf("%s/.ltt-keys", home) : NULL;
}

/* --- files -------------------------------------------------------------------------- */

static int tls_keys_check_file(int fd, const char *path, const char *name, bool secret, size_t *ret,
			       struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't access %s/%s", path, name);
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_FILE_BYTES)
		return err_set(err, ERR_INVALID, "%s/%s is not a regular file of a valid size",
			       path, name);
	if (secret && (st.st_mode & 077))
		return err_set(
			err, ERR_DENIED,
			"%s/%s can be read or changed by others (mode %04o): run chmod 600, and "
			"create a new one if others may have read it",
			path, name, st.st_mode & 0777u);
	if (st.st_mode & 022)
		return err_set(err, ERR_DENIED, "%s/%s can be changed by others (mode %04o)", path,
			       name, st.st_mode & 0777u);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(err, ERR_DENIED, "%s/%s belongs to another user (uid %u)", path,
			       name, st.st_uid);
	*ret = (size_t)st.st_size;
	return 0;
}

int tls_file_read(int dir_fd, const char *path, const char *name, bool secret, char **ret,
		  struct err *err)
{
	AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	AUTO_FREE char *text = NULL;
	size_t size = 0;

	*ret = NULL;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't open %s/%s", path, name);
	if (tls_keys_check_file(fd, path, name, secret, &size, err))
		return err->code;
	text = xalloc(size + 1);
	if (read(fd, text, size) < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't read %s/%s", path, name);
	*ret = TAKE(text);
	return 0;
}

void tls_file_forget(char **text)
{
	if (*text)
		gnutls_memset(*text, 0, strlen(*text));
	free(TAKE(*text));
}

/* --- keys that two share ----------------------------------------------------------------- */

static int tls_keys_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* @line: NAME:HEX, or NAME:HEX:viewer; is changed. */
static int take_psk(struct tls_keys *keys, char *line)
{
	char *hex = strchr(line, ':'), *role = hex ? strchr(hex + 1, ':') : NULL;
	size_t len = hex ? strcspn(hex + 1, ":") : 0;
	struct tls_psk psk = { .len = len / 2, .is_viewer = role };

	if (role && strcmp(role + 1, TLS_UNIT_VIEWER) != 0)
		return -EINVAL;
	if (len % 2 || psk.len < TLS_PSK_LEAST || psk.len > TLS_PSK_MOST)
		return -EINVAL;
	*hex++ = '\0';
	if (name_check(line))
		return -EINVAL;
	for (size_t i = 0; i < psk.len; i++) {
		int high = tls_keys_hex_digit(hex[2 * i]), low = tls_keys_hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		psk.key[i] = (uint8_t)(high << 4 | low);
	}
	psk.name = xstrdup(line);
	keys->psks = xrealloc(keys->psks, (keys->nr_psks + 1) * sizeof(psk));
	keys->psks[keys->nr_psks++] = psk;
	return 0;
}

const struct tls_psk *tls_psk_find(const struct tls_keys *keys, const char *name)
{
	for (size_t i = 0; i < keys->nr_psks; i++)
		if (strcmp(keys->psks[i].name, name) == 0)
			return &keys->psks[i];
	return NULL;
}

static int give_psk(gnutls_session_t session, const char *name, gnutls_datum_t *ret)
{
	const struct tls_psk *psk = tls_psk_find(tls_keys_of(session), name);

	ret->data = psk ? gnutls_malloc(psk->len) : NULL;
	if (!ret->data)
		return -1;
	memcpy(ret->data, psk->key, psk->len);
	ret->size = (unsigned int)psk->len;
	return 0;
}

static int use_psks(struct tls_keys *keys)
{
	const struct tls_psk *own = &keys->psks[0];
	const gnutls_datum_t key = { (unsigned char *)own->key, (unsigned int)own->len };

	if (gnutls_psk_allocate_server_credentials(&keys->psk_server) < 0 ||
	    gnutls_psk_allocate_client_credentials(&keys->psk_client) < 0)
		return -ENOMEM;
	gnutls_psk_set_server_credentials_function(keys->psk_server, give_psk);
	return gnutls_psk_set_client_credentials(keys->psk_client, own->name, &key,
						 GNUTLS_PSK_KEY_RAW);
}

static int load_psks(struct tls_keys *keys, int dir_fd, const char *path, struct err *err)
{
	char *text CLEANUP(tls_file_forget) = NULL;
	unsigned int number = 0;
	char *at, *line;

	if (tls_file_read(dir_fd, path, TLS_FILE_PSK, true, &text, err))
		return err->code;
	for (at = text; at && (line = strsep(&at, "\n"));) {
		number++;
		if (*line && *line != '#' && take_psk(keys, line) < 0)
			return err_set(err, ERR_INVALID,
				       "%s/" TLS_FILE_PSK ", line %u: this is not NAME:HEX with %u "
				       "to %u bytes",
				       path, number, TLS_PSK_LEAST, TLS_PSK_MOST);
	}
	if (keys->nr_psks && use_psks(keys) < 0)
		return err_set(err, ERR_NO_MEMORY, "no memory for %s/" TLS_FILE_PSK, path);
	return 0;
}

/* --- certificates ------------------------------------------------------------------------ */

static gnutls_datum_t tls_keys_datum(const char *text)
{
	return (gnutls_datum_t){ (unsigned char *)text, (unsigned int)strlen(text) };
}

static int use_certificate(struct tls_keys *keys, const char *path, const char *ca,
			   const char *cert, const char *key, struct err *err)
{
	const gnutls_datum_t cas = tls_keys_datum(ca), certs = tls_keys_datum(cert),
			     secret = tls_keys_datum(key);
	int ret = gnutls_certificate_allocate_credentials(&keys->cert);

	if (ret == 0)
		ret = gnutls_certificate_set_x509_trust_mem(keys->cert, &cas, GNUTLS_X509_FMT_PEM);
	if (ret <= 0)
		return err_set(err, ERR_INVALID, "%s/" TLS_FILE_CA " has no certificate: %s", path,
			       gnutls_strerror(ret));
	ret = gnutls_certificate_set_x509_key_mem(keys->cert, &certs, &secret, GNUTLS_X509_FMT_PEM);
	if (ret < 0)
		return err_set(err, ERR_INVALID,
			       "%s/" TLS_FILE_CERT " and " TLS_FILE_KEY " can't be used: %s", path,
			       gnutls_strerror(ret));
	gnutls_certificate_set_verify_limits(keys->cert, MAX_KEY_BITS, MAX_CHAIN);
	gnutls_certificate_set_verify_function(keys->cert, tls_verify);
	return 0;
}

static int use_crl(struct tls_keys *keys, int dir_fd, const char *path, struct err *err)
{
	AUTO_FREE char *crl = NULL;
	gnutls_datum_t data;

	if (tls_file_read(dir_fd, path, TLS_FILE_CRL, false, &crl, err))
		return err->code;
	if (!crl)
		return 0;
	data = tls_keys_datum(crl);
	if (gnutls_certificate_set_x509_crl_mem(keys->cert, &data, GNUTLS_X509_FMT_PEM) <= 0)
		return err_set(err, ERR_INVALID,
			       "%s/" TLS_FILE_CRL
			       " is not a revocation list of an authority in " TLS_FILE_CA,
			       path);
	return 0;
}

static int load_certificate(struct tls_keys *keys, int dir_fd, const char *path, struct err *err)
{
	char *key CLEANUP(tls_file_forget) = NULL;
	AUTO_FREE char *ca = NULL, *cert = NULL;

	if (tls_file_read(dir_fd, path, TLS_FILE_KEY, true, &key, err) ||
	    tls_file_read(dir_fd, path, TLS_FILE_CA, false, &ca, err) ||
	    tls_file_read(dir_fd, path, TLS_FILE_CERT, false, &cert, err))
		return err->code;
	if (!key)
		return 0;
	if (!ca || !cert)
		return err_set(err, ERR_INVALID, "%s has " TLS_FILE_KEY ", but no %s", path,
			       ca ? TLS_FILE_CERT : TLS_FILE_CA);
	if (use_certificate(keys, path, ca, cert, key, err))
		return err->code;
	return use_crl(keys, dir_fd, path, err);
}

#define DAY_S 86400
#define EXPIRY_DAYS 30

char *tls_keys_expiry(const struct tls_keys *keys, const char *path)
{
	gnutls_x509_crt_t *crts = NULL;
	time_t end = (time_t)-1, left;
	unsigned int nr = 0;
	char date[32] = "";
	struct tm tm;

	if (!keys->cert || gnutls_certificate_get_x509_crt(keys->cert, 0, &crts, &nr) < 0)
		return NULL;
	if (nr)
		end = gnutls_x509_crt_get_expiration_time(crts[0]);
	for (unsigned int i = 0; i < nr; i++)
		gnutls_x509_crt_deinit(crts[i]);
	gnutls_free(crts);
	left = end - time(NULL);
	if (end == (time_t)-1 || left > EXPIRY_DAYS * DAY_S || !gmtime_r(&end, &tm))
		return NULL;
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &tm);
	if (left <= 0)
		return xasprintf("the certificate %s/" TLS_FILE_CERT " expired on %s UTC: have its "
				 "authority renew it (ltt-keys renew NAME)",
				 path, date);
	return xasprintf("the certificate %s/" TLS_FILE_CERT
			 " expires on %s UTC, in %d day%s: have "
			 "its authority renew it (ltt-keys renew NAME)",
			 path, date, (int)(left / DAY_S), left / DAY_S == 1 ? "" : "s");
}

/* --- all of it ------------------------------------------------------------------------------ */

int tls_keys_load_at(int dir_fd, const char *path, struct tls_keys **ret, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct tls_keys *keys = xalloc(sizeof(*keys));

	pthread_once(&once, init_library);
	atomic_init(&keys->refs, 1);
	if (load_certificate(keys, dir_fd, path, err) == 0 &&
	    load_psks(keys, dir_fd, path, err) == 0 && !keys->cert && !keys->nr_psks)
		err_set(err, ERR_INVALID, "%s has neither " TLS_FILE_KEY " nor " TLS_FILE_PSK,
			path);
	if (err->code)
		tls_keys_unref(keys);
	else
		*ret = keys;
	return err->code;
}

int tls_keys_load(const char *path, struct tls_keys **ret, struct err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, ERR_OUTPUT, errno, "there are no keys in %s", path);
	return tls_keys_load_at(fd, path, ret, err);
}

struct tls_keys *tls_keys_ref(struct tls_keys *keys)
{
	atomic_fetch_add(&keys->refs, 1);
	return keys;
}

struct tls_keys *tls_keys_unref(struct tls_keys *keys)
{
	if (!keys || atomic_fetch_sub(&keys->refs, 1) != 1)
		return NULL;
	if (keys->cert)
		gnutls_certificate_free_credentials(keys->cert);
	if (keys->psk_server)
		gnutls_psk_free_server_credentials(keys->psk_server);
	if (keys->psk_client)
		gnutls_psk_free_client_credentials(keys->psk_client);
	for (size_t i = 0; i < keys->nr_psks; i++) {
		gnutls_memset(keys->psks[i].key, 0, sizeof(keys->psks[i].key));
		free(keys->psks[i].name);
	}
	free(keys->psks);
	free(keys);
	return NULL;
}
