/* SPDX-License-Identifier: GPL-2.0-only */
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "ctl/print/text.h"
#include "io/paths.h"

#define SETTINGS PATHS_SYSTEM_CONFIG "/crash.conf"
#define SETTINGS_BYTES 4096u /* core_pattern has 127 */

int crash_settings_parse_rate(const char *text, struct crash_settings *ret)
{
	uint64_t at_most, period_us;

	if (parse_rate(text, &at_most, &period_us) != 0 || at_most > CRASH_MOST)
		return -EINVAL;
	ret->at_most = at_most;
	ret->period_us = period_us;
	return 0;
}

int crash_settings_parse_keep(const char *text, struct crash_settings *ret)
{
	uint64_t keep;

	if (parse_u64(text, &keep) != 0 || !keep || keep > CRASH_MOST)
		return -EINVAL;
	ret->keep = keep;
	return 0;
}

char *crash_settings_rate(const struct crash_settings *settings)
{
	char buf[TEXT_BYTES];

	return xasprintf("%" PRIu64 " in %s", settings->at_most,
			 text_duration(buf, settings->period_us * 1000));
}

static void crash_settings_take(struct crash_settings *settings, const char *line)
{
	const char *value = strchr(line, '=');

	if (!value)
		return;
	value++;
	if (strncmp(line, "pattern=", 8) == 0 && !settings->pattern)
		settings->pattern = xstrdup(value);
	else if (strncmp(line, "previous=", 9) == 0 && !settings->previous)
		settings->previous = xstrdup(value);
	else if (strncmp(line, "keep=", 5) == 0)
		(void)!crash_settings_parse_keep(value, settings);
	else if (strncmp(line, "at-most=", 8) == 0)
		(void)!crash_settings_parse_rate(value, settings);
}

bool crash_settings_read(struct crash_settings *ret)
{
	char text[SETTINGS_BYTES], *rest = text, *line;

	*ret = (struct crash_settings){ .keep = CRASH_KEEP,
					.at_most = CRASH_AT_MOST,
					.period_us = 3600000000u };
	if (!text_read(SETTINGS, text, sizeof(text)))
		return false;
	while ((line = strsep(&rest, "\n")))
		crash_settings_take(ret, line);
	return ret->pattern && ret->previous;
}

int crash_settings_put(const char *path, const char *text, struct err *err)
{
	char *temp AUTO_FREE = xasprintf("%s.new", path);
	int fd AUTO_FD = -1;

	(void)!unlink(temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
	    fchmod(fd, 0644) == 0 && fsync(fd) == 0 && rename(temp, path) == 0)
		return 0;
	err_errno(err, ERR_OUTPUT, errno, "can't write %s", path);
	if (fd >= 0)
		(void)!unlink(temp);
	return err->code;
}

int crash_settings_write(const struct crash_settings *settings, struct err *err)
{
	char *text AUTO_FREE =
		xasprintf("# Made by 'lttctl crash --install'.\npattern=%s\nprevious=%s\n"
			  "keep=%" PRIu64 "\nat-most=%" PRIu64 "/%" PRIu64 "us\n",
			  settings->pattern, settings->previous, settings->keep, settings->at_most,
			  settings->period_us);

	if (mkdir(PATHS_SYSTEM_CONFIG, 0755) != 0 && errno != EEXIST)
		return err_errno(err, ERR_OUTPUT, errno, "can't make " PATHS_SYSTEM_CONFIG);
	return crash_settings_put(SETTINGS, text, err);
}

void crash_settings_remove(void)
{
	(void)!unlink(SETTINGS);
}

void crash_settings_fini(struct crash_settings *settings)
{
	free(settings->pattern);
	free(settings->previous);
}
