/* SPDX-License-Identifier: GPL-2.0-only */
/* machine.c - checks whether programs can use the fast path here, and whether there is memory */
#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "doctor.h"
#include "ctl/expiry.h"
#include "ctl/print/text.h"

#define LITTLE_MEMORY (64u << 20)

extern const unsigned int __rseq_size __attribute__((weak));

/* Registering nothing at all: a kernel that knows the call finds the arguments wrong. */
static bool kernel_has_rseq(void)
{
	if (&__rseq_size && __rseq_size)
		return true;
	return syscall(SYS_rseq, NULL, 0, -1, 0) == 0 || (errno != ENOSYS && errno != EPERM);
}

static bool kernel_restarts(void)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
}

static void check_rseq(struct doctor *d)
{
	const char *unwanted = getenv("LTT_NO_RSEQ");

	if (unwanted && strcmp(unwanted, "1") == 0) {
		doctor_found(d, GRADE_WARN, "rseq",
			     "LTT_NO_RSEQ=1: programs started from here do not use restartable "
			     "sequences; they record slower and each has buffers of its own");
		doctor_repair(d, "unset LTT_NO_RSEQ");
		return;
	}
	if (kernel_has_rseq() && kernel_restarts())
		return;
	doctor_found(d, GRADE_WARN, "rseq",
		     "this kernel, or a sandbox in front of it, has no restartable sequences (%s): "
		     "programs record slower and each has buffers of its own",
		     kernel_has_rseq() ? "membarrier(2) can't restart them" :
					 "no rseq(2) before Linux 4.18");
	doctor_repair(d, "uname -r # 5.10 or later is needed");
}

static void doctor_machine_check_memory(struct doctor *d)
{
	char info[4096], buf[TEXT_BYTES];
	uint64_t kilobytes = UINT64_MAX;
	const char *line;

	text_read("/proc/meminfo", info, sizeof(info));
	line = strstr(info, "MemAvailable:");
	if (!line || sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) != 1)
		return;
	if (kilobytes >= LITTLE_MEMORY / 1024)
		return;
	doctor_found(d, GRADE_WARN, "memory",
		     "only %s of memory are left; buffers for more applications may be refused",
		     text_size(buf, kilobytes * 1024));
	doctor_repair(d, "lttctl list # destroy sessions that are not needed");
}

/* Others than these do not apply to buffers, which are allocated before they are mapped. */
static void check_large_pages(struct doctor *d)
{
	char setting[256];

	text_read("/sys/kernel/mm/transparent_hugepage/shmem_enabled", setting, sizeof(setting));
	if (!*setting)
		return;
	if (strstr(setting, "[always]") || strstr(setting, "[within_size]") ||
	    strstr(setting, "[force]")) {
		doctor_found(d, GRADE_OK, "large-pages", "buffers have large pages");
		return;
	}
	doctor_found(
		d, GRADE_OK, "large-pages",
		"buffers have small pages; 'lttctl record' begins sooner with 'within_size' in "
		"/sys/kernel/mm/transparent_hugepage/shmem_enabled");
}

static void check_environment(struct doctor *d)
{
	const char *value = getenv("LTT_APP_DISABLE");

	if (!value || !*value || strcmp(value, "0") == 0)
		return;
	doctor_found(d, GRADE_WARN, "disabled",
		     "LTT_APP_DISABLE is set: programs started from here are not traced");
	doctor_repair(d, "unset LTT_APP_DISABLE");
}

static void found_expiry(void *data, const char *sentence)
{
	doctor_found(data, GRADE_WARN, "keys", "%s", sentence);
	doctor_repair(data, "ltt-keys renew NAME # where the authority is");
}

void doctor_machine(struct doctor *d)
{
	check_rseq(d);
	doctor_machine_check_memory(d);
	check_large_pages(d);
	check_environment(d);
	expiry_check(found_expiry, d);
}
