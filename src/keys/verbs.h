/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verbs.h - the verbs of ltt-keys, each with its arguments on the command line. Return: 0 or the
 * code in @err; the results are printed on stdout.
 */
#ifndef KEYS_VERBS_H
#define KEYS_VERBS_H

#include <stdbool.h>

#include "base/err.h"

/** The arguments of a verb. */
struct order {
	const char *dir;   /* directory of the authority */
	unsigned int days; /* validity; 0: the default */
	char *const *names;
	size_t nr;
	bool viewer; /* for `psk`: the key is for viewing only */
};

int verb_ca(const struct order *order, struct err *err);
int verb_relay(const struct order *order, struct err *err);
int verb_host(const struct order *order, struct err *err);
int verb_viewer(const struct order *order, struct err *err);
int verb_psk(const struct order *order, struct err *err);
int verb_renew(const struct order *order, struct err *err);
int verb_revoke(const struct order *order, struct err *err);
int verb_show(const struct order *order, struct err *err);
int verb_check(const struct order *order, struct err *err);

#endif
