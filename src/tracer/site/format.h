/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * format.h - parses a marker's format string: its fields and the types of its arguments. Parsed
 * once, when the first site with that format is registered; the result is read by each event.
 * ltt/marker.h describes the names of fields.
 */
#ifndef TRACER_SITE_FORMAT_H
#define TRACER_SITE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include <ltt/site.h>

#define FORMAT_MAX_FIELDS 32u

/** How an argument is passed. A pointer is passed as an integer of its size. */
enum format_arg {
	ARG_INT, /* and types that are promoted to it */
	ARG_LONG,
	ARG_LLONG,
	ARG_DOUBLE,
	ARG_LDOUBLE,
	ARG_STRING,
	ARG_WIDTH,     /* a '*': no field */
	ARG_PRECISION, /* a '.*': no field, but the longest length of the string */
};

#define FORMAT_NO_PRECISION (-1)
#define FORMAT_STAR_PRECISION (-2) /* the value of the last ARG_PRECISION */

struct format_op {
	uint8_t arg;	   /* enum format_arg */
	uint8_t bytes;	   /* as stored; 0: no field, or a string */
	int32_t precision; /* ARG_STRING */
};

struct format {
	uint32_t nr_fields;
	uint32_t nr_ops;
	struct ltt_field *fields; /* fields, ops and names are in one block of memory */
	struct format_op *ops;
	char *names;
};

/**
 * format_parse() - parse a format.
 * Return: 0; -EINVAL if it has conversions that a trace cannot hold (%n, %m, wide strings,
 * positions like %1$d) or unknown ones; -E2BIG for more than FORMAT_MAX_FIELDS fields; -ENOMEM.
 */
int format_parse(const char *text, struct format **ret_format);
void format_free(struct format *format);

#endif
