/* SPDX-License-Identifier: GPL-2.0-only */
/* fields.h - an event's fields as reported to user space (abi/ltt_kmod.h). Pure. */
#ifndef KMOD_FIELDS_H
#define KMOD_FIELDS_H

#include "event.h"
#include "ltt_kmod.h"
#include "stats.h"

/** @nth: in the order of the payload. Return: 0, or -ENOENT after the last one. */
int field_describe(const struct event *event, u32 nth, struct ltt_kmod_field *ret);
/** The same for a single field. */
void field_describe_one(const struct field *field, struct ltt_kmod_field *ret);
/** The field's position in the payload. Return: 0; -ENOENT; -EINVAL: it is not an integer. */
int field_locate(const struct event *event, u32 nth, struct stat_field *ret);

#endif
