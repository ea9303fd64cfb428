/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replaced.h - rules about places in programs follow a file that is replaced, as by `make` or the
 * upgrade of a package: while a session records, the folders of the files are watched, and a new
 * file is searched for the place by a process of its own, as it is untrusted. The module adds the
 * new places to the event; programs that still run the earlier file are recorded, too.
 *
 * Owned by the kernel domain; runs on the daemon's loop.
 */
#ifndef DOMAIN_KERNEL_REPLACED_H
#define DOMAIN_KERNEL_REPLACED_H

#include "io/loop.h"

struct kernel_probe;

/**
 * struct replaced
 * @check: compares all files with those that are known.
 * @notify: inotify; reports a change in a folder.
 * @search: the process that searches a file; its result is in the memory @found.
 * @searched: the probe that it is for; NULL: there is none any more.
 * @identity: of the file that it searches.
 * @due: a change was reported. @soon: a file waits that was replaced a moment ago.
 */
struct replaced {
	struct loop_timer check;
	struct loop_fd notify;
	struct loop_child search;
	struct loop_timer late;
	int found;
	struct kernel_probe *searched;
	char *identity;
	bool due, soon;
};

/** struct probe_file - the file of a probe. Texts are its own, or NULL.
 *  @seen: identity of the file that was searched last; NULL: that of the rule.
 *  @places: as a rule has them, of the newest file that has the place; NULL: those of the rule.
 *  @why: why the file of @seen is not recorded; NULL: it is.
 *  @earlier: DEVICE:INODE of files before that of @places, separated by commas.
 *  @again_ns: earliest time of the next search.
 *  @rewritten: the file itself has other contents, and its places in the module have to go. */
struct probe_file {
	char *seen, *places, *why, *earlier;
	uint64_t again_ns;
	bool rewritten;
};

void replaced_init(struct replaced *replaced, struct loop *loop);
void replaced_fini(struct replaced *replaced);
/** Compare the files soon: a session has begun to record, or has other rules. */
void replaced_touch(struct replaced *replaced);
/** The probe is off: the file is compared anew when it is on; earlier files are not recorded. */
void replaced_reset(struct probe_file *file);
/** The probe is being freed. */
void replaced_forget(struct replaced *replaced, struct kernel_probe *probe);

#endif
