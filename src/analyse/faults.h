/* SPDX-License-Identifier: GPL-2.0-only */
/* faults.h - the meaning of the kernel's events of page faults (x86), ours and LTTng's. Pure. */
#ifndef ANALYSE_FAULTS_H
#define ANALYSE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct event;

/** The names of the events, for view_select.names. */
#define FAULTS_EVENTS "*page_fault_user,*page_fault_kernel"

/** struct fault - @address: that was accessed, by the instruction at @ip. @mode: "user", "kernel".
 *  @access: "read", "write", "execute"; NULL: unknown. @present: the page was there, but did not
 *  allow the access. */
struct fault {
	const char *mode, *access;
	uint64_t address, ip;
	bool present;
};

/** Return: false: the event is no page fault. */
bool fault_of(struct fault *ret, const struct event *event);

#endif
