/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tls.h"

#include <errno.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/str.h"
#include "tls_priv.h"

#define RECORD_BYTES 16384u
#define MAX_HANDSHAKE_BYTES (32u << 10)

/* Ciphers with hardware support come first; a shared key needs SHA-256. */
#define PRIORITY                                                                \
	"NONE:+VERS-TLS1.3:+AES-128-GCM:+CHACHA20-POLY1305:+AES-256-GCM:+AEAD:" \
	"+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+SIGN-ALL:+COMP-NULL:" \
	"+CTYPE-X509:%DISABLE_TLS13_COMPAT_MODE"
#define WITH_CERT ":+ECDHE-ECDSA:+ECDHE-RSA"
#define WITH_PSK ":+ECDHE-PSK"

struct tls {
	int fd; /* the owner's */
	struct tls_keys *keys;
	gnutls_session_t session;
	bool is_server, up;
	bool unsent; /* the library has a record that could not be sent */
	char *host;  /* client: the required name of the relay */
	char *peer;
	bool peer_is_viewer;
	char problem[200];
};

const struct tls_keys *tls_keys_of(gnutls_session_t session)
{
	const struct tls *tls = gnutls_session_get_ptr(session);

	return tls->keys;
}

/* --- authentication -------------------------------------------------------------------- */

static int disbelieve(struct tls *tls, const char *why)
{
	snprintf(tls->problem, sizeof(tls->problem), "%s", why);
	return GNUTLS_E_CERTIFICATE_ERROR;
}

/* 0: unknown. */
static time_t tls_certificate_end(const gnutls_datum_t *der)
{
	gnutls_x509_crt_t crt;
	time_t ret = 0;

	if (!der || gnutls_x509_crt_init(&crt) < 0)
		return 0;
	if (gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER) == 0)
		ret = gnutls_x509_crt_get_expiration_time(crt);
	gnutls_x509_crt_deinit(crt);
	return MAX(ret, 0);
}

/* Whether a certificate has expired, and then tls->problem. @whose: "its", "this host's" */
static bool tls_explain_expiry(struct tls *tls, const gnutls_datum_t *der, const char *whose)
{
	time_t end = tls_certificate_end(der);
	char date[32];
	struct tm tm;

	if (!end || end > time(NULL) || !gmtime_r(&end, &tm))
		return false;
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &tm);
	snprintf(tls->problem, sizeof(tls->problem),
		 "%s certificate expired on %s UTC: have the authority sign a new one", whose,
		 date);
	return true;
}

static int tls_explain(struct tls *tls, unsigned int status)
{
	unsigned int nr;

	if (status & GNUTLS_CERT_REVOKED)
		return disbelieve(tls, "its certificate has been revoked");
	if (status & GNUTLS_CERT_SIGNER_NOT_FOUND)
		return disbelieve(tls, "its certificate is not signed by an authority in "
				       "our " TLS_FILE_CA);
	if (status & GNUTLS_CERT_EXPIRED)
		return tls_explain_expiry(tls, gnutls_certificate_get_peers(tls->session, &nr),
					  tls->is_server ? "its" : "the relay's") ?
			       GNUTLS_E_CERTIFICATE_ERROR :
			       disbelieve(tls, "the certificate of its authority has expired");
	if (status & GNUTLS_CERT_NOT_ACTIVATED)
		return disbelieve(tls, "its certificate is not valid yet; check the clocks of both "
				       "hosts");
	if (status & GNUTLS_CERT_PURPOSE_MISMATCH)
		return disbelieve(tls, tls->is_server ? "its certificate was not issued for a "
							"host" :
							"its certificate was not issued for a "
							"relay");
	if (!(status & GNUTLS_CERT_UNEXPECTED_OWNER))
		return disbelieve(tls, "its certificate is not trusted");
	snprintf(tls->problem, sizeof(tls->problem), "its certificate is not for the name '%.80s'",
		 tls->host);
	return GNUTLS_E_CERTIFICATE_ERROR;
}

/* The one common name of a certificate. Allocated; NULL: there is none that is fit. */
static char *common_name(const gnutls_datum_t *der)
{
	static const char oid[] = GNUTLS_OID_X520_COMMON_NAME;
	char name[NAME_MAX_BYTES + 1], other[4];
	size_t len = sizeof(name), other_len = sizeof(other);
	gnutls_x509_crt_t crt;
	char *ret = NULL;

	if (gnutls_x509_crt_init(&crt) < 0)
		return NULL;
	if (gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER) == 0 &&
	    gnutls_x509_crt_get_dn_by_oid(crt, oid, 0, 0, name, &len) == 0 &&
	    gnutls_x509_crt_get_dn_by_oid(crt, oid, 1, 0, other, &other_len) ==
		    GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE &&
	    strlen(name) == len && !name_check(name))
		ret = xstrdup(name);
	gnutls_x509_crt_deinit(crt);
	return ret;
}

/* A unit that can't be read is none of a host. */
static bool is_viewers(const gnutls_datum_t *der)
{
	char unit[NAME_MAX_BYTES + 1];
	bool is_viewer = true;
	gnutls_x509_crt_t crt;

	if (gnutls_x509_crt_init(&crt) < 0)
		return true;
	if (gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER) == 0) {
		unsigned int nr = 0;
		size_t len;
		int ret;

		is_viewer = false;
		do {
			len = sizeof(unit);
			ret = gnutls_x509_crt_get_dn_by_oid(
				crt, GNUTLS_OID_X520_ORGANIZATIONAL_UNIT_NAME, nr++, 0, unit, &len);
			is_viewer |= ret == 0 && strcmp(unit, TLS_UNIT_VIEWER) == 0;
		} while (ret == 0);
		is_viewer |= ret != GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE;
	}
	gnutls_x509_crt_deinit(crt);
	return is_viewer;
}

static int check_certificate(struct tls *tls)
{
	const char *purpose = tls->is_server ? GNUTLS_KP_TLS_WWW_CLIENT : GNUTLS_KP_TLS_WWW_SERVER;
	gnutls_typed_vdata_st wanted[2] = {
		{ GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *)purpose, 0 },
		{ GNUTLS_DT_DNS_HOSTNAME, (unsigned char *)tls->host, 0 },
	};
	unsigned int nr = 0, status = 0;

	if (!gnutls_certificate_get_peers(tls->session, &nr) || !nr)
		return disbelieve(tls, "it has not sent a certificate");
	if (gnutls_certificate_verify_peers(tls->session, wanted, tls->host ? 2 : 1, &status) < 0)
		return disbelieve(tls, "its certificate can't be checked");
	return status ? tls_explain(tls, status) : 0;
}

int tls_verify(gnutls_session_t session)
{
	struct tls *tls = gnutls_session_get_ptr(session);
	unsigned int nr;
	int ret = check_certificate(tls);

	if (ret < 0)
		return ret;
	free(tls->peer);
	tls->peer = common_name(gnutls_certificate_get_peers(session, &nr));
	tls->peer_is_viewer = is_viewers(gnutls_certificate_get_peers(session, &nr));
	return tls->peer ? 0 : disbelieve(tls, "its certificate has no valid name");
}

/* Is the key that it has proven to have among @keys, under the same name? */
static int check_psk(struct tls *tls, const struct tls_keys *keys)
{
	const struct tls_psk *had = tls_psk_find(tls->keys, tls->peer);
	const struct tls_psk *has = tls_psk_find(keys, tls->peer);

	if (had && has && had->len == has->len && had->is_viewer == has->is_viewer &&
	    gnutls_memcmp(had->key, has->key, has->len) == 0)
		return 0;
	return disbelieve(tls, "its pre-shared key has been revoked");
}

static int recheck(struct tls *tls, struct tls_keys *keys)
{
	if (!tls->up)
		return disbelieve(tls, "the local keys changed while it connected");
	if (gnutls_auth_get_type(tls->session) == GNUTLS_CRD_PSK)
		return check_psk(tls, keys);
	if (!keys->cert)
		return disbelieve(tls, "certificates are no longer accepted");
	if (gnutls_credentials_set(tls->session, GNUTLS_CRD_CERTIFICATE, keys->cert) < 0)
		return disbelieve(tls, "its certificate can't be checked");
	return check_certificate(tls);
}

int tls_recheck(struct tls *tls, struct tls_keys *keys)
{
	struct tls_keys *had = tls->keys;
	int ret = recheck(tls, keys);

	tls->keys = tls_keys_ref(keys);
	tls_keys_unref(had);
	return ret < 0 ? -EPROTO : 0;
}

time_t tls_expiry(const struct tls *tls)
{
	unsigned int nr = 0;

	return tls_certificate_end(gnutls_certificate_get_peers(tls->session, &nr));
}

/* Of a handshake that is done. */
static int tls_identify(struct tls *tls)
{
	if (gnutls_auth_get_type(tls->session) == GNUTLS_CRD_PSK) {
		const char *name = tls->is_server ? gnutls_psk_server_get_username(tls->session) :
						    tls->keys->psks[0].name;
		const struct tls_psk *psk;

		free(tls->peer);
		tls->peer = name && !name_check(name) ? xstrdup(name) : NULL;
		psk = tls->is_server && tls->peer ? tls_psk_find(tls->keys, tls->peer) : NULL;
		tls->peer_is_viewer = psk && psk->is_viewer;
	}
	if (tls->peer && gnutls_protocol_get_version(tls->session) == GNUTLS_TLS1_3)
		return 0;
	disbelieve(tls, "it has not authenticated");
	return -EPROTO;
}

/* --- its bytes: by the calls that a daemon's filter lets through -------------------------- */

static ssize_t push(gnutls_transport_ptr_t ptr, const giovec_t *iov, int nr)
{
	struct tls *tls = ptr;
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)nr };
	ssize_t n = sendmsg(tls->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		gnutls_transport_set_errno(tls->session, errno);
	return n;
}

static ssize_t pull(gnutls_transport_ptr_t ptr, void *buf, size_t len)
{
	struct tls *tls = ptr;
	struct iovec iov = { buf, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(tls->fd, &msg, MSG_DONTWAIT);

	if (n < 0)
		gnutls_transport_set_errno(tls->session, errno);
	return n;
}

/* --- life -------------------------------------------------------------------------------- */

/* A client presents one of both: the certificate, if it has one. */
static int tls_choose(struct tls *tls)
{
	const struct tls_keys *keys = tls->keys;
	bool psk = keys->nr_psks && (tls->is_server || !keys->cert);
	char priority[300];
	int ret;

	snprintf(priority, sizeof(priority), "%s%s%s", PRIORITY, keys->cert ? WITH_CERT : "",
		 psk ? WITH_PSK : "");
	ret = gnutls_priority_set_direct(tls->session, priority, NULL);
	if (ret == 0 && keys->cert)
		ret = gnutls_credentials_set(tls->session, GNUTLS_CRD_CERTIFICATE, keys->cert);
	if (ret == 0 && psk && tls->is_server)
		ret = gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK, keys->psk_server);
	else if (ret == 0 && psk)
		ret = gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK, keys->psk_client);
	return ret;
}

static int tls_set_up(struct tls *tls)
{
	unsigned int flags = tls->is_server ? GNUTLS_SERVER : GNUTLS_CLIENT;

	if (gnutls_init(&tls->session,
			flags | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS) < 0)
		return -ENOMEM;
	gnutls_session_set_ptr(tls->session, tls);
	gnutls_transport_set_ptr(tls->session, tls);
	gnutls_transport_set_vec_push_function(tls->session, push);
	gnutls_transport_set_pull_function(tls->session, pull);
	gnutls_handshake_set_max_packet_length(tls->session, MAX_HANDSHAKE_BYTES);
	if (tls->is_server)
		gnutls_certificate_server_set_request(tls->session, GNUTLS_CERT_REQUIRE);
	return tls_choose(tls) < 0 ? -EINVAL : 0;
}

static int tls_make(struct tls_keys *keys, int fd, const char *host, struct tls **ret)
{
	struct tls *tls = calloc(1, sizeof(*tls));
	int error;

	if (!tls)
		return -ENOMEM;
	tls->fd = fd;
	tls->keys = tls_keys_ref(keys);
	tls->is_server = !host;
	tls->host = host ? xstrdup(host) : NULL;
	error = tls_set_up(tls);
	if (error < 0)
		tls_free(tls);
	else
		*ret = tls;
	return error;
}

int tls_new_server(struct tls_keys *keys, int fd, struct tls **ret)
{
	return tls_make(keys, fd, NULL, ret);
}

int tls_new_client(struct tls_keys *keys, int fd, const char *host, struct tls **ret)
{
	return tls_make(keys, fd, host, ret);
}

struct tls *tls_free(struct tls *tls)
{
	if (!tls)
		return NULL;
	if (tls->session && tls->up && !tls->unsent)
		gnutls_bye(tls->session, GNUTLS_SHUT_WR);
	if (tls->session)
		gnutls_deinit(tls->session);
	tls_keys_unref(tls->keys);
	free(tls->host);
	free(tls->peer);
	free(tls);
	return NULL;
}

const char *tls_peer(const struct tls *tls)
{
	return tls->peer;
}

bool tls_is_viewer(const struct tls *tls)
{
	return tls->peer_is_viewer;
}

const char *tls_problem(const struct tls *tls)
{
	return tls->problem;
}

/* --- bytes ---------------------------------------------------------------------------------- */

bool tls_wants_write(const struct tls *tls)
{
	return gnutls_record_get_direction(tls->session) == 1;
}

bool tls_pending(const struct tls *tls)
{
	return gnutls_record_check_pending(tls->session) > 0;
}

static bool is_line(int error)
{
	return error == GNUTLS_E_PREMATURE_TERMINATION || error == GNUTLS_E_PULL_ERROR ||
	       error == GNUTLS_E_PUSH_ERROR;
}

/* The peer's reason, if it has sent one, is more precise. */
static int tls_fail(struct tls *tls, int error)
{
	tls->up = false;
	if (is_line(error))
		return -ECONNRESET;
	if (error == GNUTLS_E_FATAL_ALERT_RECEIVED &&
	    tls_explain_expiry(tls, gnutls_certificate_get_ours(tls->session),
			       tls->is_server ? "this relay's" : "this host's"))
		return -EPROTO;
	if (error == GNUTLS_E_FATAL_ALERT_RECEIVED)
		snprintf(tls->problem, sizeof(tls->problem), "it rejects the local keys: %s",
			 gnutls_alert_get_name(gnutls_alert_get(tls->session)));
	else if (!*tls->problem)
		snprintf(tls->problem, sizeof(tls->problem), "%s", gnutls_strerror(error));
	return -EPROTO;
}

int tls_handshake(struct tls *tls)
{
	int ret;

	do
		ret = gnutls_handshake(tls->session);
	while (ret == GNUTLS_E_INTERRUPTED);
	if (ret == GNUTLS_E_AGAIN)
		return -EAGAIN;
	if (ret < 0) {
		gnutls_alert_send_appropriate(tls->session, ret);
		return tls_fail(tls, ret);
	}
	tls->up = true;
	return tls_identify(tls);
}

ssize_t tls_read(struct tls *tls, void *buf, size_t len)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = gnutls_record_recv(tls->session, (char *)buf + got, len - got);

		if (n > 0)
			got += (size_t)n;
		else if (n == GNUTLS_E_INTERRUPTED)
			continue;
		else if (got)
			break; /* if it is the end, that comes again */
		else if (n == GNUTLS_E_AGAIN)
			return -EAGAIN;
		else
			return n == 0 ? 0 : tls_fail(tls, (int)n);
	}
	return (ssize_t)got;
}

/* Small buffers become one record. Return: its bytes. */
static size_t tls_gather(const struct iovec *iov, unsigned int nr, uint8_t *record)
{
	size_t len = 0;

	for (unsigned int i = 0; i < nr && len < RECORD_BYTES; i++) {
		size_t some = MIN(iov[i].iov_len, RECORD_BYTES - len);

		memcpy(record + len, iov[i].iov_base, some);
		len += some;
	}
	return len;
}

ssize_t tls_write(struct tls *tls, const struct iovec *iov, unsigned int nr)
{
	uint8_t record[RECORD_BYTES];
	ssize_t n;

	do {
		if (tls->unsent)
			n = gnutls_record_send(tls->session, NULL, 0);
		else if (iov[0].iov_len >= RECORD_BYTES)
			n = gnutls_record_send(tls->session, iov[0].iov_base, RECORD_BYTES);
		else
			n = gnutls_record_send(tls->session, record, tls_gather(iov, nr, record));
		tls->unsent = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
	} while (n == GNUTLS_E_INTERRUPTED);
	if (n == GNUTLS_E_AGAIN)
		return -EAGAIN;
	return n < 0 ? tls_fail(tls, (int)n) : n;
}
