/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscall_table.h - SYSCALLS_NATIVE and SYSCALLS_COMPAT: the numbers of the calls and the
 * names of the functions behind them, from headers that the kernel's build generates.
 * Included once, by instr/syscall_names.c, behind its definition of CALL(nr, function).
 */
#undef __SYSCALL /* where <asm/unistd.h> was included before and leaves its own */
#define __SYSCALL(nr, function) CALL(nr, function)
#define __SYSCALL_NORETURN(nr, function) CALL(nr, function)
#define __SYSCALL_WITH_COMPAT(nr, function, compat_function) CALL(nr, function)

static const char *const native_functions[SYSCALL_NUMBERS] = {
#if __has_include(<asm/syscalls_64.h>)
#include <asm/syscalls_64.h>
#elif __has_include(<asm/syscall_table_64.h>)
#include <asm/syscall_table_64.h>
#else
#include <asm/unistd.h>
#endif
};

static const char *const compat_functions[SYSCALL_NUMBERS] = {
#if defined(CONFIG_IA32_EMULATION) && __has_include(<asm/syscalls_32.h>)
#include <asm/syscalls_32.h>
#endif
};

#undef __SYSCALL
#undef __SYSCALL_NORETURN
#undef __SYSCALL_WITH_COMPAT
