/* SPDX-License-Identifier: GPL-2.0-only */
/* corefile.h - write the core to a file, as the kernel does where core_pattern names a file. */
#ifndef CRASH_COREFILE_H
#define CRASH_COREFILE_H

#define COREFILE_ROOT_ONLY \
	'2' /* %d: the process had changed its user, or its program can't be read */

/**
 * corefile_write() - copy standard input.
 * @tid: of the process, whose working directory, root and user apply.
 * @limits: "-LIMIT:MODE": %c and %d of core(5).
 * Return: exit status.
 */
int corefile_write(const char *tid, const char *limits, const char *name);

#endif
