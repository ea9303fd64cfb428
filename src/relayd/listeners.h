/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * listeners.h - where a relay listens, as the command line says it: at which addresses, for senders
 * and for viewers, with keys or in the clear. Contradictions are reported here. Used by main()
 * before anybody is served.
 */
#ifndef RELAYD_LISTENERS_H
#define RELAYD_LISTENERS_H

#include "relay.h"
#include "viewers.h"

struct listen_config {
	char *const *senders, *const *viewers; /* lists of URLs; NULL: this machine's usual ports */
	const char *keys;		       /* their directory; NULL: the usual one */
	bool clear_text;		       /* other hosts are spoken with in the open */
};

/** @ring: zeroed; it is filled where keys are needed, and the caller's then.
 *  Return: 0 or negative errno, and it has been said why. */
int listeners_open(const struct listen_config *config, struct relay *relay, struct viewers *viewers,
		   struct keyring *ring) MUST_CHECK;

#endif
