/* SPDX-License-Identifier: GPL-2.0-only */
#include "boot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/print/print.h"
#include "ctl/saved/fetch.h"
#include "ctl/saved/files.h"
#include "ctl/saved/write.h"
#include "io/paths.h"

#define FILE_NAME "recorder"
#define UNIT "ltt-recorder.service"
#define LINE_BYTES 512

/* Allocated; NULL: the reason is in @err. */
static char *boot_dir(struct err *err)
{
	char *own AUTO_FREE = files_own_dir(err);

	return own ? xasprintf("%s/auto", own) : NULL;
}

static char *boot_path(void)
{
	struct err err = { 0 };
	char *dir AUTO_FREE = boot_dir(&err);

	return dir ? xasprintf("%s/" FILE_NAME FILES_SUFFIX, dir) : NULL;
}

bool boot_is_set(void)
{
	char *path AUTO_FREE = boot_path();

	return path && access(path, F_OK) == 0;
}

static int boot_save(struct ctl *ctl, const char *session)
{
	struct json_object *saved = saved_fetch(ctl, session), *list;
	char *dir AUTO_FREE = boot_dir(&ctl->err), *text AUTO_FREE = NULL, *path AUTO_FREE = NULL;

	if (saved && dir) {
		list = json_object_new_array();
		json_object_array_add(list, json_object_get(saved));
		text = saved_write(list, &ctl->err);
		json_object_put(list);
	}
	json_object_put(saved);
	if (text)
		(void)!files_write(dir, FILE_NAME, text, true, &path, &ctl->err);
	return ctl->err.code;
}

/* --- systemd ------------------------------------------------------------------------ */

/* @line: receives the last line that is printed. Return: the exit status; -1: it can't be run. */
static int boot_systemctl(const char *action, char line[LINE_BYTES])
{
	char *command AUTO_FREE = xasprintf("systemctl %s%s 2>&1 </dev/null",
					    geteuid() == 0 ? "" : "--user ", action);
	FILE *from = popen(command, "re");
	int status;

	line[0] = '\0';
	if (!from)
		return -1;
	while (fgets(line, LINE_BYTES, from))
		line[strcspn(line, "\n")] = '\0';
	status = pclose(from);
	return status == -1 || status == 127 << 8 ? -1 : status;
}

/* Also one that has failed units, or has not finished the boot. */
static bool boot_has_systemd(void)
{
	static const char *const none[] = { "offline", "unknown", "" };
	char line[LINE_BYTES];

	if (boot_systemctl("is-system-running", line) < 0 || strchr(line, ' '))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (strcmp(line, none[i]) == 0)
			return false;
	return true;
}

/* --- both ----------------------------------------------------------------------------- */

int boot_set(struct ctl *ctl, const char *session, bool *ret_unit)
{
	char line[LINE_BYTES];

	*ret_unit = false;
	if (boot_save(ctl, session) != 0)
		return ctl->err.code;
	if (!boot_has_systemd()) {
		print_note(ctl,
			   "systemd does not run here: after a boot, the recorder begins again "
			   "with the first session daemon that is started");
		return 0;
	}
	*ret_unit = boot_systemctl("enable " UNIT, line) == 0;
	if (!*ret_unit)
		print_warning(ctl,
			      UNIT " can't be enabled: %s; after a boot, the recorder begins again "
				   "with the first session daemon that is started",
			      *line ? line : "systemctl fails");
	return 0;
}

bool boot_unset(struct ctl *ctl)
{
	char *path AUTO_FREE = boot_path();
	char line[LINE_BYTES];

	if (!path || unlink(path) < 0) {
		if (path && errno != ENOENT)
			print_warning(ctl,
				      "can't remove %s: %s; the recorder begins again with the "
				      "next session daemon",
				      path, strerror(errno));
		return false;
	}
	if (boot_has_systemd() && boot_systemctl("disable " UNIT, line) != 0)
		print_warning(ctl, UNIT " can't be disabled: %s; use 'systemctl disable'",
			      *line ? line : "systemctl fails");
	return true;
}
