/* SPDX-License-Identifier: GPL-2.0-only */
/* A process is registered for waits for sequences while it has one thread, by the constructor or
 * as a forked child: with threads that costs milliseconds. */
#include <linux/membarrier.h>
#include <stdbool.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/sys.h"

static bool registered(void)
{
	/* not by libc's syscall(), which libltt defines: its helper would come along */
	return ring_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0, 0) == 0;
}

static void end(pid_t pid)
{
	int status;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

/* libltt comes with a library that is loaded later. */
static void late(void)
{
	pid_t pid;

	__libc_single_threaded = 0;
	(void)ring_init();
	CHECK(!registered());
	pid = fork();
	if (pid == 0) {
		reader_after_fork_child(true);
		CHECK(registered());
		_exit(0);
	}
	end(pid);
}

int main(void)
{
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	SKIP("ThreadSanitizer has a thread of its own");
#endif
	pid = fork();
	if (pid == 0) {
		if (ring_init() == RING_RSEQ)
			CHECK(registered());
		_exit(0);
	}
	end(pid);
	pid = fork();
	if (pid == 0) {
		late();
		_exit(0);
	}
	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences");
	end(pid);
	return 0;
}
