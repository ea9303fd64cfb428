/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * list.h - counts and listings of the user domain, for clients.
 */
#ifndef DOMAIN_USER_LIST_H
#define DOMAIN_USER_LIST_H

#include "sessiond/domain/domain.h"

uint32_t user_count_apps(struct domain_tracer *domain, const struct session *session);
uint32_t user_count_points(struct domain_tracer *domain, const struct session *session,
			   const struct rule *rule, uint32_t *ret_never);
void user_each_point(struct domain_tracer *domain, const struct caller *caller,
		     void (*fn)(const struct domain_point *point, void *data), void *data);

#endif
