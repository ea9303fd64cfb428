/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * numbers.h - numbers of the system calls of which i386 has an older form under the plain name:
 * with users of 16 bits, or offsets of 32.
 */
#ifndef TRACER_BASE_NUMBERS_H
#define TRACER_BASE_NUMBERS_H

#include <sys/syscall.h>
#include <sys/types.h>

_Static_assert(sizeof(off_t) == 8, "compile with -D_FILE_OFFSET_BITS=64");

#ifdef __i386__
#define NR_FSTAT SYS_fstat64
#define NR_FSTATAT SYS_fstatat64
#define NR_MMAP SYS_mmap2
#define NR_GETRESUID SYS_getresuid32
#define NR_GETRESGID SYS_getresgid32
#define NR_SETFSUID SYS_setfsuid32
#define NR_SETFSGID SYS_setfsgid32
#else
#define NR_FSTAT SYS_fstat
#ifdef SYS_newfstatat
#define NR_FSTATAT SYS_newfstatat
#endif
#define NR_MMAP SYS_mmap
#define NR_GETRESUID SYS_getresuid
#define NR_GETRESGID SYS_getresgid
#define NR_SETFSUID SYS_setfsuid
#define NR_SETFSGID SYS_setfsgid
#endif

#endif
