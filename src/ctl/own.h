/* SPDX-License-Identifier: GPL-2.0-only */
/* own.h - programs and libraries that came with this lttctl, in a build folder or installed. */
#ifndef CTL_OWN_H
#define CTL_OWN_H

/** Directory of the running program, allocated; NULL if it can't be known. */
char *own_dir(void);
/** A program beside this one, or where it is installed; else its name, which is searched in PATH.
 *  Allocated. */
char *own_program(const char *name);
/** The directory of a library that came with this lttctl, allocated; NULL: it has none. */
char *own_library_dir(const char *library);
/** The same for programs of this word size, 64 or 32. */
char *own_library_dir_for(unsigned int bits, const char *library);

#endif
