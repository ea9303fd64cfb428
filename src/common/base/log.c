/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "escape.h"
#include "locked.h"

static const char *log_name = "ltt";
static enum log_level current = LOG_WARN;
static off_t log_bytes; /* bytes; 0: none */
static int log_copy_fd = -1;

void log_bound(void)
{
	const char *limit = getenv("LTT_LOG_LIMIT");

	log_bytes = limit ? atoll(limit) : 0;
}

/* Of lines that another process writes in this moment some may be lost. */
static void log_cut(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	LOCKED(&lock);
	AUTO_FREE char *half = NULL;
	char *begin = NULL;
	struct stat st;
	ssize_t n = 0;

	if (fstat(STDERR_FILENO, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= log_bytes)
		return;
	half = malloc((size_t)log_bytes / 2);
	if (half)
		n = pread(STDERR_FILENO, half, (size_t)log_bytes / 2, st.st_size - log_bytes / 2);
	if (n > 0)
		begin = memchr(half, '\n', (size_t)n);
	if (ftruncate(STDERR_FILENO, 0) == 0 && begin)
		(void)!write(STDERR_FILENO, begin + 1, (size_t)(half + n - begin - 1));
}

void log_copy(int fd)
{
	log_copy_fd = fd;
}

void log_init(const char *name, enum log_level level)
{
	static const char *const names[] = { "quiet", "error", "warn", "info", "debug" };
	const char *wanted = getenv("LTT_LOG");

	log_name = name;
	current = level;
	for (size_t i = 0; wanted && i < ARRAY_SIZE(names); i++)
		if (strcmp(wanted, names[i]) == 0)
			current = (enum log_level)i;
	log_bound();
}

enum log_level log_level(void)
{
	return current;
}

#define LIMIT_S 10
#define LIMIT_LINES 10

bool log_limit_pass(struct log_limit *limit)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct timespec now;
	LOCKED(&lock);

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!limit->logged || (uint64_t)now.tv_sec >= limit->since_s + LIMIT_S) {
		if (limit->suppressed)
			log_warn("suppressed %u messages of the same kind as the next",
				 limit->suppressed);
		*limit = (struct log_limit){ .since_s = (uint64_t)now.tv_sec };
	}
	if (limit->logged < LIMIT_LINES) {
		limit->logged++;
		return true;
	}
	limit->suppressed++;
	return false;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	static const char *const words[] = { "", "error: ", "warning: ", "", "" };
	char line[1024];
	va_list args;
	int len;

	if (level > current)
		return;
	len = snprintf(line, sizeof(line), "%s: %s", log_name, words[level]);
	va_start(args, fmt);
	vsnprintf(line + len, sizeof(line) - (size_t)len - 1, fmt, args);
	va_end(args);
	escape_tame(line);
	strcat(line, "\n");
	if (log_copy_fd >= 0)
		(void)!write(log_copy_fd, line, strlen(line));
	/* one write, so that lines of several processes do not mix */
	if (write(STDERR_FILENO, line, strlen(line)) >= 0 && log_bytes > 0)
		log_cut();
}
