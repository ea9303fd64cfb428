/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doors.h - where a relay listens, as the command line says it: at which addresses, for senders
 * and for viewers, with keys or in the clear. Contradictions are reported here. Used by main()
 * before anybody is served.
 */
#ifndef RELAYD_DOORS_H
#define RELAYD_DOORS_H

#include "relay.h"
#include "viewers.h"

struct doors {
	char *const *senders, *const *lookers; /* lists of URLs; NULL: this machine's usual ports */
	const char *keys;		       /* their directory; NULL: the usual one */
	bool clear_text;		       /* other hosts are spoken with in the open */
};

/** @ring: zeroed; it is filled where keys are needed, and the caller's then.
 *  Return: 0 or negative errno, and it has been said why. */
int doors_open(const struct doors *doors, struct relay *relay, struct viewers *viewers,
	       struct keyring *ring) MUST_CHECK;

#endif
