/* SPDX-License-Identifier: GPL-2.0-only */
/* A process is registered for waits for sequences while it has one thread, and each fork of it:
 * with threads that costs milliseconds. */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tracer/ring/ring.h"
#include "tracer_alone.h"

static bool registered(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0;
}

int main(void)
{
	int status;
	pid_t pid;

	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences");
	CHECK(registered());
	pid = fork();
	if (pid == 0) {
		CHECK(!registered() && errno == EPERM);
		reader_after_fork_child();
		CHECK(registered());
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	return 0;
}
