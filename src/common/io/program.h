/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.h - where a daemon finds the programs that it starts. */
#ifndef IO_PROGRAM_H
#define IO_PROGRAM_H

/** The path of program @name: @wish (NULL: none), else that in the environment variable (NULL:
 *  none), else beside this process's program (a build folder), else in @way from there. Allocated;
 *  nothing need be there. */
char *program_find(const char *wish, const char *variable, const char *name, const char *way);

#endif
