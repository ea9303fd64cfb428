/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * both.h - the user and the kernel domain as one: what is done to a session is done in
 * both, and done when both have. Owned by the daemon; runs on its loop.
 */
#ifndef DOMAIN_BOTH_H
#define DOMAIN_BOTH_H

#include "domain.h"

/** The two stay the caller's, and outlive the result. */
struct domain_tracer *both_new(struct domain_tracer *user, struct domain_tracer *kernel);
struct domain_tracer *both_free(struct domain_tracer *domain);

#endif
