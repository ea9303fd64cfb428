/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attribute.h - the attributes of the model's tables (model/words.h) in structs of ltt/control.h.
 * A member has the name of its row, with the exceptions below; one that is missing does not
 * compile.
 */
#ifndef LIBCTL_ATTRIBUTE_H
#define LIBCTL_ATTRIBUTE_H

#include "model/types.h"
#include "pool.h"

/** The member of a row. */
#define CONTROL_MEMBER(type, name) MODEL_PASTE(CONTROL_MEMBER_, type)(name)
#define CONTROL_MEMBER_text(name) name
#define CONTROL_MEMBER_option(name) name
#define CONTROL_MEMBER_derived(name) name
#define CONTROL_MEMBER_names(name) name
#define CONTROL_MEMBER_flag(name) name
#define CONTROL_MEMBER_u32(name) name
#define CONTROL_MEMBER_u64(name) name
#define CONTROL_MEMBER_mode(name) name
#define CONTROL_MEMBER_loglevel(name) name
#define CONTROL_MEMBER_loglevel_type(name) level_type
#define CONTROL_MEMBER_rule_kind(name) kind
#define CONTROL_MEMBER_ownership(name) owner
#define CONTROL_MEMBER_output_type(name) output_type
#define CONTROL_MEMBER_sync_mode(name) sync
#define CONTROL_MEMBER_relay_link(name) clear_text

/** The value of a message for the value of an option, whose flags are any numbers. */
#define CONTROL_ASK(type, value) ((MODEL_WIRE_TYPE(type))(MODEL_TYPE_##type)(value))
/** Set a field of a request to the option of @options that the row is; not for derived ones. */
#define CONTROL_SET(type, name, req, options) \
	MODEL_PASTE(CONTROL_SET_, type)(name, type, req, options)
#define CONTROL_SET_text CONTROL_SET_OPTION
#define CONTROL_SET_flag CONTROL_SET_OPTION
#define CONTROL_SET_u32 CONTROL_SET_OPTION
#define CONTROL_SET_u64 CONTROL_SET_OPTION
#define CONTROL_SET_sync_mode CONTROL_SET_OPTION
#define CONTROL_SET_derived(name, type, req, options) ((void)0)
#define CONTROL_SET_relay_link(name, type, req, options) ((void)0)
#define CONTROL_SET_OPTION(name, type, req, options) \
	((req)->name = CONTROL_ASK(type, (options)->CONTROL_MEMBER(type, name)))

/** Copy the value of a message to the member @to. Texts stay the message's. */
#define CONTROL_TAKE(to, value) ((to) = (__typeof__(to))(value))
/** Copy a text that is lent to @pool; NULL: no memory, which the pool remembers. */
#define CONTROL_KEEP(type, pool, to) MODEL_BY_CLASS(type, CONTROL_KEEP_)(pool, to)
#define CONTROL_KEEP_TEXT(pool, to) ((to) = pool_str(pool, to))
#define CONTROL_KEEP_NUMBER(pool, to) ((void)(to))

#endif
