/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * attribute.h - names of the attributes of the model's tables (model/words.h): in structs of
 * ltt/control.h, and in records, which saved sessions share with JSON. They are those of the rows,
 * with these exceptions. A type that is missing here does not compile.
 */
#ifndef CTL_ATTRIBUTE_H
#define CTL_ATTRIBUTE_H

#include "model/types.h"

/** The member of a row in a struct of ltt/control.h. */
#define ATTRIBUTE_MEMBER(type, name) MODEL_PASTE(ATTRIBUTE_MEMBER_, type)(name)
#define ATTRIBUTE_MEMBER_text(name) name
#define ATTRIBUTE_MEMBER_option(name) name
#define ATTRIBUTE_MEMBER_derived(name) name
#define ATTRIBUTE_MEMBER_names(name) name
#define ATTRIBUTE_MEMBER_flag(name) name
#define ATTRIBUTE_MEMBER_u32(name) name
#define ATTRIBUTE_MEMBER_u64(name) name
#define ATTRIBUTE_MEMBER_mode(name) name
#define ATTRIBUTE_MEMBER_loglevel(name) name
#define ATTRIBUTE_MEMBER_rule_kind(name) name
#define ATTRIBUTE_MEMBER_sync_mode(name) name
#define ATTRIBUTE_MEMBER_output_type(name) name
#define ATTRIBUTE_MEMBER_loglevel_type(name) level_type
#define ATTRIBUTE_MEMBER_ownership(name) owner
#define ATTRIBUTE_MEMBER_relay_link(name) clear_text

/** The key of a row in a record. */
#define ATTRIBUTE_KEY(type, name) MODEL_PASTE(ATTRIBUTE_KEY_, type)(name)
#define ATTRIBUTE_KEY_text(name) #name
#define ATTRIBUTE_KEY_option(name) #name
#define ATTRIBUTE_KEY_derived(name) #name
#define ATTRIBUTE_KEY_names(name) #name
#define ATTRIBUTE_KEY_flag(name) #name
#define ATTRIBUTE_KEY_u32(name) #name
#define ATTRIBUTE_KEY_u64(name) #name
#define ATTRIBUTE_KEY_loglevel(name) #name
#define ATTRIBUTE_KEY_loglevel_type(name) #name
#define ATTRIBUTE_KEY_rule_kind(name) #name
#define ATTRIBUTE_KEY_sync_mode(name) #name
#define ATTRIBUTE_KEY_output_type(name) #name
#define ATTRIBUTE_KEY_mode(name) "mode"
#define ATTRIBUTE_KEY_ownership(name) "buffer_ownership"
#define ATTRIBUTE_KEY_relay_link(name) "clear_text"

#endif
