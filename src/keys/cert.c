/* SPDX-License-Identifier: GPL-2.0-only */
#include "cert.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "io/tls_keys.h"

#define DAY_S 86400
#define CLOCKS_DIFFER_S 300 /* a new certificate is valid also on a machine whose clock is behind */

static int keys_cert_error(struct err *err, const char *what, int error)
{
	return err_set(err, ERR_INTERNAL, "can't create %s: %s", what, gnutls_strerror(error));
}

static int keys_cert_make_key(gnutls_x509_privkey_t *ret)
{
	const unsigned int bits = GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
	int error = gnutls_x509_privkey_init(ret);

	return error < 0 ? error : gnutls_x509_privkey_generate(*ret, GNUTLS_PK_ECDSA, bits, 0);
}

/* Validity and serial number: each certificate has its own. */
static int set_times(gnutls_x509_crt_t crt, unsigned int days)
{
	time_t now = time(NULL);
	uint8_t serial[16];
	int error = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	serial[0] = (uint8_t)((serial[0] & 0x7f) | 0x40); /* positive, and always as long */
	if (error == 0)
		error = gnutls_x509_crt_set_version(crt, 3);
	if (error == 0)
		error = gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
	if (error == 0)
		error = gnutls_x509_crt_set_activation_time(crt, now - CLOCKS_DIFFER_S);
	return error == 0 ? gnutls_x509_crt_set_expiration_time(crt, now + (time_t)days * DAY_S) :
			    error;
}

/* Key ids of a new certificate and of its signer, by which a chain is found. */
static int set_ids(gnutls_x509_crt_t crt, gnutls_x509_crt_t ca)
{
	uint8_t id[32];
	size_t len = sizeof(id);
	int error = gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA1, id, &len);

	if (error == 0)
		error = gnutls_x509_crt_set_subject_key_id(crt, id, len);
	if (error < 0 || !ca)
		return error;
	len = sizeof(id);
	error = gnutls_x509_crt_get_subject_key_id(ca, id, &len, NULL);
	return error == 0 ? gnutls_x509_crt_set_authority_key_id(crt, id, len) : error;
}

static int set_name(gnutls_x509_crt_t crt, const char *name)
{
	return gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
					     (unsigned int)strlen(name));
}

/* --- authorities ---------------------------------------------------------------------- */

static int build_authority(const struct authority *ca, const char *name, unsigned int days)
{
	int error = gnutls_x509_crt_set_key(ca->crt, ca->key);

	if (error == 0)
		error = set_times(ca->crt, days);
	if (error == 0)
		error = set_name(ca->crt, name);
	if (error == 0)
		error = set_ids(ca->crt, NULL);
	if (error == 0)
		error = gnutls_x509_crt_set_basic_constraints(ca->crt, 1, 0);
	if (error == 0)
		error = gnutls_x509_crt_set_key_usage(ca->crt, GNUTLS_KEY_KEY_CERT_SIGN |
								       GNUTLS_KEY_CRL_SIGN);
	return error == 0 ? gnutls_x509_crt_sign2(ca->crt, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0) :
			    error;
}

int authority_new(const char *name, unsigned int days, gnutls_datum_t *ret_key,
		  gnutls_datum_t *ret_crt, struct err *err)
{
	struct authority ca CLEANUP(authority_fini) = { 0 };
	int error = keys_cert_make_key(&ca.key);

	if (error == 0)
		error = gnutls_x509_crt_init(&ca.crt);
	if (error == 0)
		error = build_authority(&ca, name, days);
	if (error == 0)
		error = gnutls_x509_privkey_export2(ca.key, GNUTLS_X509_FMT_PEM, ret_key);
	if (error == 0)
		error = gnutls_x509_crt_export2(ca.crt, GNUTLS_X509_FMT_PEM, ret_crt);
	return error < 0 ? keys_cert_error(err, "an authority", error) : 0;
}

static gnutls_datum_t keys_cert_datum(const char *text)
{
	return (gnutls_datum_t){ (unsigned char *)text, (unsigned int)strlen(text) };
}

int authority_load(struct authority *ca, const char *key, const char *crt, struct err *err)
{
	const gnutls_datum_t key_pem = keys_cert_datum(key), crt_pem = keys_cert_datum(crt);
	int error = gnutls_x509_privkey_init(&ca->key);

	if (error == 0)
		error = gnutls_x509_privkey_import(ca->key, &key_pem, GNUTLS_X509_FMT_PEM);
	if (error == 0)
		error = gnutls_x509_crt_init(&ca->crt);
	if (error == 0)
		error = gnutls_x509_crt_import(ca->crt, &crt_pem, GNUTLS_X509_FMT_PEM);
	if (error == 0)
		return 0;
	return err_set(err, ERR_INVALID, "this authority can't be used: %s",
		       gnutls_strerror(error));
}

void authority_fini(struct authority *ca)
{
	if (ca->key)
		gnutls_x509_privkey_deinit(ca->key);
	if (ca->crt)
		gnutls_x509_crt_deinit(ca->crt);
	*ca = (struct authority){ 0 };
}

/* --- machines --------------------------------------------------------------------------- */

static void free_key(gnutls_x509_privkey_t *key)
{
	if (*key)
		gnutls_x509_privkey_deinit(*key);
}

static void free_crt(gnutls_x509_crt_t *crt)
{
	if (*crt)
		gnutls_x509_crt_deinit(*crt);
}

static int add_name(gnutls_x509_crt_t crt, const char *name)
{
	uint8_t address[16];
	unsigned int bytes = 0;

	if (inet_pton(AF_INET, name, address) == 1)
		bytes = 4;
	else if (inet_pton(AF_INET6, name, address) == 1)
		bytes = 16;
	if (bytes)
		return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, address,
							    bytes, GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
						    (unsigned int)strlen(name), GNUTLS_FSAN_APPEND);
}

static int sign(const struct authority *ca, gnutls_x509_crt_t crt, unsigned int days)
{
	int error = set_times(crt, days);

	return error == 0 ? gnutls_x509_crt_sign2(crt, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0) :
			    error;
}

static int keys_cert_describe(gnutls_x509_crt_t crt, enum cert_kind kind, char *const *names,
			      size_t nr)
{
	const char *purpose =
		kind == CERT_RELAY ? GNUTLS_KP_TLS_WWW_SERVER : GNUTLS_KP_TLS_WWW_CLIENT;
	int error = set_name(crt, names[0]);

	if (error == 0 && kind == CERT_VIEWER)
		error = gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_ORGANIZATIONAL_UNIT_NAME,
						      0, TLS_UNIT_VIEWER, strlen(TLS_UNIT_VIEWER));
	if (error == 0)
		error = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
	if (error == 0)
		error = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (error == 0)
		error = gnutls_x509_crt_set_key_purpose_oid(crt, purpose, 0);
	for (size_t i = 0; i < nr && error == 0 && kind == CERT_RELAY; i++)
		error = add_name(crt, names[i]);
	return error;
}

int cert_new(const struct authority *ca, enum cert_kind kind, char *const *names, size_t nr,
	     unsigned int days, gnutls_datum_t *ret_key, gnutls_datum_t *ret_crt, struct err *err)
{
	gnutls_x509_privkey_t key CLEANUP(free_key) = NULL;
	gnutls_x509_crt_t crt CLEANUP(free_crt) = NULL;
	int error = keys_cert_make_key(&key);

	if (error == 0)
		error = gnutls_x509_crt_init(&crt);
	if (error == 0)
		error = gnutls_x509_crt_set_key(crt, key);
	if (error == 0)
		error = keys_cert_describe(crt, kind, names, nr);
	if (error == 0)
		error = set_ids(crt, ca->crt);
	if (error == 0)
		error = sign(ca, crt, days);
	if (error == 0)
		error = gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, ret_key);
	if (error == 0)
		error = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, ret_crt);
	return error < 0 ? keys_cert_error(err, "a certificate", error) : 0;
}

static int import(const char *text, gnutls_x509_crt_t *ret, struct err *err)
{
	const gnutls_datum_t pem = keys_cert_datum(text);
	int error = gnutls_x509_crt_init(ret);

	if (error == 0)
		error = gnutls_x509_crt_import(*ret, &pem, GNUTLS_X509_FMT_PEM);
	if (error == 0)
		return 0;
	return err_set(err, ERR_INVALID, "this is not a certificate: %s", gnutls_strerror(error));
}

int cert_renew(const struct authority *ca, const char *old, unsigned int days,
	       gnutls_datum_t *ret_crt, struct err *err)
{
	gnutls_x509_crt_t crt CLEANUP(free_crt) = NULL;
	int error;

	if (import(old, &crt, err))
		return err->code;
	if (!gnutls_x509_crt_check_issuer(crt, ca->crt))
		return err_set(err, ERR_INVALID, "another authority signed this certificate");
	error = sign(ca, crt, days);
	if (error == 0)
		error = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, ret_crt);
	return error < 0 ? keys_cert_error(err, "a certificate", error) : 0;
}

/* --- revocation lists ---------------------------------------------------- */

static int build_list(const struct authority *ca, gnutls_x509_crl_t crl, gnutls_x509_crt_t crt,
		      const char *old, unsigned int days)
{
	const gnutls_datum_t pem = keys_cert_datum(old ? old : "");
	time_t now = time(NULL);
	int error = old ? gnutls_x509_crl_import(crl, &pem, GNUTLS_X509_FMT_PEM) :
			  gnutls_x509_crl_set_version(crl, 2);

	if (error == 0)
		error = gnutls_x509_crl_set_this_update(crl, now - CLOCKS_DIFFER_S);
	if (error == 0)
		error = gnutls_x509_crl_set_next_update(crl, now + (time_t)days * DAY_S);
	if (error == 0)
		error = gnutls_x509_crl_set_crt(crl, crt, now - CLOCKS_DIFFER_S);
	return error == 0 ? gnutls_x509_crl_sign2(crl, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0) :
			    error;
}

int cert_revoke(const struct authority *ca, const char *text, const char *old, unsigned int days,
		gnutls_datum_t *ret_crl, struct err *err)
{
	gnutls_x509_crt_t crt CLEANUP(free_crt) = NULL;
	gnutls_x509_crl_t crl;
	int error;

	if (import(text, &crt, err))
		return err->code;
	if (gnutls_x509_crl_init(&crl) < 0)
		return keys_cert_error(err, "a list", GNUTLS_E_MEMORY_ERROR);
	error = build_list(ca, crl, crt, old, days);
	if (error == 0)
		error = gnutls_x509_crl_export2(crl, GNUTLS_X509_FMT_PEM, ret_crl);
	gnutls_x509_crl_deinit(crl);
	return error < 0 ? keys_cert_error(err, "a list", error) : 0;
}

char *cert_show(const char *text)
{
	gnutls_x509_crt_t crt CLEANUP(free_crt) = NULL;
	struct err ignored = { 0 };
	gnutls_datum_t line;
	char *ret;

	if (import(text, &crt, &ignored) ||
	    gnutls_x509_crt_print(crt, GNUTLS_CRT_PRINT_ONELINE, &line) < 0)
		return NULL;
	ret = xstrdup((const char *)line.data);
	gnutls_free(line.data);
	return ret;
}
