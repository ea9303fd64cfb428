/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded into ltt-sessiond: CLOCK_MONOTONIC_RAW is ahead by the number of ns that the file
 * LTT_TEST_CLOCK contains, in the machine's byte order, so that the cycle counter seems to have
 * jumped back when the number grows.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const volatile uint64_t *shift;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void set_up(void)
{
	const char *path = getenv("LTT_TEST_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED)
		shift = at;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ret)
{
	int r;

	if (!real) /* before any constructor */
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	r = real(id, ret);
	if (r == 0 && id == CLOCK_MONOTONIC_RAW && shift) {
		uint64_t ns = (uint64_t)ret->tv_nsec + *shift;

		ret->tv_sec += (time_t)(ns / 1000000000);
		ret->tv_nsec = (long)(ns % 1000000000);
	}
	return r;
}
