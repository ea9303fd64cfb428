/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * labels.h - names of the values of system calls' arguments and outputs: tables that
 * scripts/syscall-labels makes of labels.txt and the headers of the target. Constant.
 */
#ifndef DOMAIN_KERNEL_LABELS_H
#define DOMAIN_KERNEL_LABELS_H

#include "trace/layout.h"
#include "trace/metadata.h"

/** No pointers: each page of these would be changed when the daemon starts. */
struct label_value {
	char text[64];
	int64_t value;
};

/** struct label_set - @is_set, @mask: as of a layout's field. */
struct label_set {
	const struct label_value *labels;
	uint32_t nr;
	bool is_set;
	uint64_t mask;
};

/** The names of a field of "[compat_]syscall_entry_CALL" or "[compat_]syscall_exit_CALL"; NULL: it
 *  has none. */
const struct label_set *labels_of(const char *event, const char *field);
/** Memory that layout_new() needs for them. */
size_t labels_text_bytes(const struct label_set *set);
/** Give the layout's last field these names: an integer becomes an enumeration, the elements of a
 *  sequence do. Return: false where there is no room. */
bool labels_add(struct layout *layout, const struct label_set *set);
/** The layout of the exit of a system call with the names of errors at its result, which remains an
 *  integer. Return: allocated; NULL: the event is none, or no memory. */
struct layout *labels_with_results(const char *event, const struct layout *layout);
/** The declaration of METADATA_RESULTS. Return: allocated, or NULL. */
char *labels_of_results(enum metadata_form form);

#endif
