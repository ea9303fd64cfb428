/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * both.h - the user and the kernel domain combined: each operation on a session is run in both,
 * and completes when both have completed. Owned by the daemon; runs on its loop.
 */
#ifndef DOMAIN_BOTH_H
#define DOMAIN_BOTH_H

#include "domain.h"

/** @user, @kernel: owned by the caller; they must outlive the result. */
struct domain_tracer *both_new(struct domain_tracer *user, struct domain_tracer *kernel);
struct domain_tracer *both_free(struct domain_tracer *domain);

#endif
