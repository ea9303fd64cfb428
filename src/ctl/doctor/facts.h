/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * facts.h - the conditions of recording the kernel, as files of this machine have them: the module,
 * and the kernel's settings. Read at each call; of the thread of `lttctl doctor`.
 */
#ifndef CTL_DOCTOR_FACTS_H
#define CTL_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "doctor.h"

/**
 * struct facts
 * @module: path of the file of ltt.ko that depmod has listed; "": none.
 * @version, @source: of the module that is loaded; may be "".
 * @lockdown: "none" if the kernel has none.
 */
struct facts {
	char release[65];
	char module[512], version[64], source[64], lockdown[32];
	bool loaded, headers, btf, branches, perf, tracefs, secure_boot;
	bool hidden; /* addresses of the kernel, from root as well */
};

/** struct facts_user - the user of lttctl. @group: its members may record the kernel by root's
 *  daemon; NULL: there is none. */
struct facts_user {
	uint32_t uid;
	const char *group;
	bool member, container;
};

/** @root: in front of each path; "" but in tests. @release: of the kernel. */
void facts_read(struct facts *facts, const char *root, const char *release);
void facts_read_user(struct facts_user *user);
/** Add the findings: the module, rights, lockdown, Secure Boot, names of addresses. */
void facts_report(struct doctor *d, const struct facts *facts, const struct facts_user *user);

#endif
