/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * main.c - ltt-keys: creates the credentials of relays and hosts, in the folder of an authority:
 * a folder for each machine, to be copied to the key directory of its daemons (io/tls_keys.h).
 * Only `renew` and `revoke` overwrite files.
 */
#include <gnutls/gnutls.h>
#include <popt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/stdfds.h"
#include "base/str.h"
#include "verbs.h"

#define MAX_DAYS 36500u

static struct {
	char *dir, *days;
	int viewer, version;
} opt;

static const struct poptOption options[] = {
	{ "dir", 'd', POPT_ARG_STRING, &opt.dir, 0, "folder of the authority (default: ltt-ca)",
	  "DIR" },
	{ "days", 0, POPT_ARG_STRING, &opt.days, 0,
	  "validity in days (default: 365; an authority: 3650)", "N" },
	{ "viewer", 0, POPT_ARG_NONE, &opt.viewer, 0,
	  "psk: the key is for viewing only, not for sending", NULL },
	{ "version", 'V', POPT_ARG_NONE, &opt.version, 0, "print the version and exit", NULL },
	POPT_AUTOHELP POPT_TABLEEND
};

static const struct {
	const char *word;
	int (*run)(const struct order *order, struct err *err);
	size_t least, most;
} verbs[] = {
	{ "ca", verb_ca, 0, 0 },
	{ "relay", verb_relay, 1, 64 },
	{ "host", verb_host, 1, 1 },
	{ "viewer", verb_viewer, 1, 1 },
	{ "psk", verb_psk, 2, 2 },
	{ "renew", verb_renew, 1, 1 },
	{ "revoke", verb_revoke, 1, 1 },
	{ "show", verb_show, 1, SIZE_MAX },
	{ "check", verb_check, 0, SIZE_MAX },
};

/* @word: the first argument; NULL: there is none. */
static void report_usage(const char *word)
{
	const char *problem = word ? "unknown verb" : "missing verb";

	for (size_t i = 0; word && i < ARRAY_SIZE(verbs); i++)
		if (strcmp(word, verbs[i].word) == 0)
			problem = "wrong number of names";
	log_error("%s%s%s: use one of ca, relay NAME..., host NAME, viewer NAME, psk RELAY HOST, "
		  "renew NAME, revoke NAME, show DIR..., check [DIR...]; see ltt-keys(1)",
		  word ? word : "", word ? ": " : "", problem);
}

static int keys_run(const char **words, unsigned int days)
{
	struct order order = { opt.dir ? opt.dir : "ltt-ca", days, NULL, 0, opt.viewer };
	struct err err = { 0 };

	order.names = words ? (char *const *)words + 1 : NULL;
	while (words && words[0] && order.names[order.nr])
		order.nr++;
	if (opt.viewer && !(words && words[0] && strcmp(words[0], "psk") == 0)) {
		log_error("--viewer is for psk; a viewer's certificate is made by: viewer NAME");
		return 2;
	}
	for (size_t i = 0; words && words[0] && i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(words[0], verbs[i].word) != 0 || order.nr < verbs[i].least ||
		    order.nr > verbs[i].most)
			continue;
		if (verbs[i].run(&order, &err) == 0)
			return 0;
		log_error("%s", err.text);
		return 1;
	}
	report_usage(words ? words[0] : NULL);
	return 2;
}

/* Return: -1: go on; else the exit status. */
static int check_options(poptContext ctx, int rc, uint64_t *ret_days)
{
	*ret_days = 0;
	if (rc < -1) {
		log_error("%s: %s; see --help", poptBadOption(ctx, POPT_BADOPTION_NOALIAS),
			  poptStrerror(rc));
		return 2;
	}
	if (opt.version) {
		printf("ltt-keys %s\n", LTT_VERSION);
		return 0;
	}
	if (!opt.days || (parse_u64(opt.days, ret_days) == 0 && *ret_days && *ret_days <= MAX_DAYS))
		return -1;
	log_error("--days=%s: this is not a number of days from 1 to %u", opt.days, MAX_DAYS);
	return 2;
}

int main(int argc, char **argv)
{
	poptContext ctx = poptGetContext("ltt-keys", argc, (const char **)argv, options, 0);
	uint64_t days;
	int rc, ret;

	stdfds_open();
	log_init("ltt-keys", LOG_WARN);
	umask(022);
	poptSetOtherOptionHelp(
		ctx, "[OPTION...] ca | relay NAME... | host NAME | viewer NAME | "
		     "psk RELAY HOST | renew NAME | revoke NAME | show DIR... | check [DIR...]");
	while ((rc = poptGetNextOpt(ctx)) > 0)
		;
	ret = check_options(ctx, rc, &days);
	if (ret < 0 && gnutls_global_init() < 0)
		ret = 1;
	if (ret < 0)
		ret = keys_run(poptGetArgs(ctx), (unsigned int)days);
	poptFreeContext(ctx);
	return ret;
}
