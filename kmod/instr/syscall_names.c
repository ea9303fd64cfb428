// SPDX-License-Identifier: GPL-2.0-only
#include "syscall_names.h"

#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#define CALL(nr, function) [nr] = #function,
#include "syscall_table.h"

/* Numbers that several calls had, at different times, lead to nothing. */
const char *ltt_syscall_name(bool compat, u32 nr)
{
	const char *function = nr >= SYSCALL_NUMBERS ? NULL :
			       compat		    ? compat_functions[nr] :
						      native_functions[nr];

	if (!function || strncmp(function, "sys_", 4) || !strcmp(function, "sys_ni_syscall"))
		return NULL;
	return function + 4;
}
EXPORT_SYMBOL_GPL(ltt_syscall_name);

void syscall_names_show(struct seq_file *to)
{
	const char *name;
	u32 i;

	for (i = 0; i < 2 * SYSCALL_NUMBERS; i++) {
		name = ltt_syscall_name(i >= SYSCALL_NUMBERS, i % SYSCALL_NUMBERS);
		if (name)
			seq_printf(to, "%ssyscall %s\n", i >= SYSCALL_NUMBERS ? "compat_" : "", name);
	}
}
