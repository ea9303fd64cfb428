// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sequences are used wherever kernel and libc support them, whichever linker has made the program:
 * the area is libc's, if it has registered one.
 */
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/rseq.h"
#include "tracer/ring/section.h"
#include "tracer/ring/sys.h"

int main(void)
{
	const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned int *size = dlsym(RTLD_DEFAULT, "__rseq_size");
	long commands = ring_syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0, 0);

	if (!SECTION_SUPPORTED || commands < 0 ||
	    !(commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) || !offset || !size || !*size)
		SKIP("no restartable sequences");
	CHECK(ring_init() == RING_RSEQ, "the fallback producer is used");
	CHECK(ring_rseq_area == *offset, "area at %td, libc's is at %td", ring_rseq_area, *offset);
	return 0;
}
