/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * describe.h - a copy of an event's description in one block of memory.
 *
 * A point may outlive the libraries that contain its sites, and the helper thread reads its
 * description while they may be unloaded; so each point owns a copy.
 */
#ifndef TRACER_SITE_DESCRIBE_H
#define TRACER_SITE_DESCRIBE_H

#include <stdint.h>

#include <ltt/site.h>

/**
 * describe_event() - copy @event with all strings, fields and enumerations.
 * @fields: @nr_fields of them, in libltt's own size; the copy's own fields point
 *          to copies of these.
 * Return: one block for free(), or NULL.
 */
struct ltt_event *describe_event(const struct ltt_event *event, const struct ltt_field *fields,
				 uint32_t nr_fields);

#endif
