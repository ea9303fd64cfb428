/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * types.h - types of the attributes in the .def tables. For each of them:
 *
 *   MODEL_CLASS_  TEXT or NUMBER: the way in which it is copied, compared and freed
 *   MODEL_WIRE_   its type in messages (proto/codec.h)
 *   MODEL_TYPE_   its type in C, of a member that borrows a text
 */
#ifndef MODEL_TYPES_H
#define MODEL_TYPES_H

/* a text that is shown even if it is empty */
#define MODEL_CLASS_text TEXT
#define MODEL_WIRE_text str
#define MODEL_TYPE_text const char *

/* a text that is not shown if it is empty */
#define MODEL_CLASS_option TEXT
#define MODEL_WIRE_option str
#define MODEL_TYPE_option const char *

/* a text that libltt-ctl derives from other options */
#define MODEL_CLASS_derived TEXT
#define MODEL_WIRE_derived str
#define MODEL_TYPE_derived const char *

/* names, separated by commas */
#define MODEL_CLASS_names TEXT
#define MODEL_WIRE_names str
#define MODEL_TYPE_names const char *

#define MODEL_CLASS_flag NUMBER
#define MODEL_WIRE_flag u8
#define MODEL_TYPE_flag bool

#define MODEL_CLASS_u32 NUMBER
#define MODEL_WIRE_u32 u32
#define MODEL_TYPE_u32 uint32_t

#define MODEL_CLASS_u64 NUMBER
#define MODEL_WIRE_u64 u64
#define MODEL_TYPE_u64 uint64_t

/* a number that libltt-ctl derives from other options */
#define MODEL_CLASS_derived_u64 NUMBER
#define MODEL_WIRE_derived_u64 u64
#define MODEL_TYPE_derived_u64 uint64_t

/* a log level, of LOGLEVEL_AT_LEAST and LOGLEVEL_ONLY */
#define MODEL_CLASS_loglevel NUMBER
#define MODEL_WIRE_loglevel i64
#define MODEL_TYPE_loglevel int

#define MODEL_CLASS_loglevel_type NUMBER
#define MODEL_WIRE_loglevel_type u8
#define MODEL_TYPE_loglevel_type enum loglevel_type

#define MODEL_CLASS_rule_kind NUMBER
#define MODEL_WIRE_rule_kind u8
#define MODEL_TYPE_rule_kind enum rule_kind

#define MODEL_CLASS_ownership NUMBER
#define MODEL_WIRE_ownership u8
#define MODEL_TYPE_ownership enum ownership

#define MODEL_CLASS_output_type NUMBER
#define MODEL_WIRE_output_type u8
#define MODEL_TYPE_output_type enum output_type

/* whether a channel overwrites its oldest events; in a request: enum channel_mode */
#define MODEL_CLASS_mode NUMBER
#define MODEL_WIRE_mode u8
#define MODEL_TYPE_mode bool

#define MODEL_CLASS_map_value NUMBER
#define MODEL_WIRE_map_value u8
#define MODEL_TYPE_map_value enum map_value

#define MODEL_CLASS_map_update NUMBER
#define MODEL_WIRE_map_update u8
#define MODEL_TYPE_map_update enum map_update

#define MODEL_CLASS_map_dead NUMBER
#define MODEL_WIRE_map_dead u8
#define MODEL_TYPE_map_dead enum map_dead

#define MODEL_CLASS_sync_mode NUMBER
#define MODEL_WIRE_sync_mode u8
#define MODEL_TYPE_sync_mode enum sync_mode

#define MODEL_CLASS_trace_format NUMBER
#define MODEL_WIRE_trace_format u8
#define MODEL_TYPE_trace_format enum trace_format

#define MODEL_CLASS_condition NUMBER
#define MODEL_WIRE_condition u8
#define MODEL_TYPE_condition enum condition

#define MODEL_CLASS_action_kind NUMBER
#define MODEL_WIRE_action_kind u8
#define MODEL_TYPE_action_kind enum action_kind

/* derived, too */
#define MODEL_CLASS_relay_link NUMBER
#define MODEL_WIRE_relay_link u8
#define MODEL_TYPE_relay_link enum relay_link

/* The rows of a table as fields of a message, for example `#define SAVED MODEL_F`. */
#define MODEL_F(type, name, init, doc) MODEL_F_WIRE(MODEL_WIRE_##type, name, doc)
#define MODEL_F_WIRE(wire, name, doc) F(wire, name, doc)
#define MODEL_IN(type, name, init, doc) MODEL_IN_WIRE(MODEL_WIRE_##type, name, doc)
#define MODEL_IN_WIRE(wire, name, doc) IN(wire, name, doc)

/* The C type of a row's field in a message. */
#define MODEL_WIRE_TYPE(type) MODEL_PASTE(MODEL_OF_, MODEL_WIRE_##type)
#define MODEL_OF_str const char *
#define MODEL_OF_u8 uint8_t
#define MODEL_OF_u32 uint32_t
#define MODEL_OF_u64 uint64_t
#define MODEL_OF_i64 int64_t

/* A macro whose name ends with the class of a type: MODEL_BY_CLASS(text, COPY_)(...) is
 * COPY_TEXT(...). */
#define MODEL_BY_CLASS(type, prefix) MODEL_PASTE(prefix, MODEL_CLASS_##type)
#define MODEL_PASTE(a, b) MODEL_PASTE_NOW(a, b)
#define MODEL_PASTE_NOW(a, b) a##b

#endif
