/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * listeners.h - the addresses at which a relay listens, from the command line: for senders and for
 * viewers, encrypted or not. Contradictions are reported here. Used by main() before the first
 * connection is accepted.
 */
#ifndef RELAYD_LISTENERS_H
#define RELAYD_LISTENERS_H

#include "relay.h"
#include "relayd/viewer/viewers.h"

struct listen_config {
	char *const *senders, *const *viewers; /* lists of URLs; NULL: default ports, loopback */
	const char *keys;		       /* directory of the keys; NULL: the default one */
	bool clear_text;		       /* connections to other hosts are not encrypted */
};

/** Check the syntax of all addresses, before anything is opened. Return: 0 or -EINVAL, after an
 *  error message. */
int listeners_check(const struct listen_config *config) MUST_CHECK;
/** Open the addresses, which listeners_check() has accepted. @ring: zeroed; initialised if keys are
 *  needed; owned by the caller. Return: 0 or negative errno, after an error message. */
int listeners_open(const struct listen_config *config, struct relay *relay, struct viewers *viewers,
		   struct keyring *ring) MUST_CHECK;

#endif
