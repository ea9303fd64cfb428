/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * offer.h - ring sets that an application still holds after the session daemon lost its own
 * descriptors, and the commands that wait for them.
 */
#ifndef DOMAIN_USER_OFFER_H
#define DOMAIN_USER_OFFER_H

#include "user.h"

/** Request the next ring set that the application may have. Return: whether an answer will
 *  follow. */
bool offers_request(struct user_app *app);
/** Whether a lost ring set is wanted that only the application @app could offer. */
bool offers_expected(const struct user_domain *user, uint64_t app);
/** A session does not wait for offers any more: if none does, complete the commands that wait. */
void offers_done(struct user_domain *user);
void awaits_finish(struct loop_work *work);

#endif
