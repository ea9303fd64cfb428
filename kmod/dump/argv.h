/* SPDX-License-Identifier: GPL-2.0-only */
/* argv.h - the event sched_process_argv: the words by which a program was executed. */
#ifndef KMOD_DUMP_ARGV_H
#define KMOD_DUMP_ARGV_H

/** Register the event. Process context. Return: 0 or an error. */
int argv_init(void);

#endif
