/* SPDX-License-Identifier: GPL-2.0-only */
#include "install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/own.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "state.h"

#define KERNEL "/proc/sys/kernel/"
#define PATTERN_MOST 127u /* bytes; the kernel cuts longer ones */
#define BOOT_DIR "/etc/sysctl.d"
#define BOOT BOOT_DIR "/99-ltt-crash.conf"
#define FILE_WORDS " -%c:%d " /* the limit of a file, and the mode */
#define FACTS_WORDS "%%I %%s" /* the thread's id, as the first namespace has it, and the signal */

/* --- the kernel's settings --------------------------------------------------------------- */

/* Without the newline; allocated. NULL: it can't be read. */
static char *install_read(const char *name)
{
	char *path AUTO_FREE = xasprintf(KERNEL "%s", name);
	int fd AUTO_FD = open(path, O_RDONLY | O_CLOEXEC);
	char text[512];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return xstrdup(text);
}

static int install_write(const char *pattern, struct err *err)
{
	int fd AUTO_FD = open(KERNEL "core_pattern", O_WRONLY | O_TRUNC | O_CLOEXEC);
	char *line AUTO_FREE = xasprintf("%s\n", pattern), *now AUTO_FREE = NULL;

	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		return err_errno(err, ERR_OUTPUT, errno, "can't set " KERNEL "core_pattern");
	now = install_read("core_pattern");
	return now && strcmp(now, pattern) == 0 ?
		       0 :
		       err_set(err, ERR_OUTPUT,
			       KERNEL "core_pattern is '%s' after '%s' was written: set it by hand",
			       now ? now : "", pattern);
}

/* --- the program --------------------------------------------------------------------------- */

/* The kernel runs it as root: no other user may be able to replace it. */
static int install_check_program(const char *path, struct err *err)
{
	char *part AUTO_FREE = xstrdup(path), *slash;
	struct stat st;

	do {
		if (stat(*part ? part : "/", &st) != 0)
			return err_errno(err, ERR_OUTPUT, errno, "can't use %s", path);
		if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
			return err_set(
				err, ERR_OUTPUT,
				"%s: users other than root may change it, and the kernel would run "
				"%s as root: install ltt-control in a directory of root's",
				*part ? part : "/", path);
		slash = strrchr(part, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return strpbrk(path, " %\n") ? err_set(err, ERR_OUTPUT,
					       "%s: core_pattern can't have this path: install "
					       "ltt-control in a directory without spaces and %%",
					       path) :
				       0;
}

/* Return: allocated; NULL: err is set. */
static char *install_program(struct err *err)
{
	char *found AUTO_FREE = own_program("ltt-crash");
	char *path AUTO_FREE = realpath(found, NULL);

	if (!path)
		err_errno(err, ERR_OUTPUT, errno, "can't find ltt-crash beside lttctl");
	else if (install_check_program(path, err) == 0)
		return TAKE(path);
	return NULL;
}

/* --- the pattern ----------------------------------------------------------------------- */

/* The words behind ours: for a program, its own, which the kernel fills in as before; for a file,
 * its limit and the mode, and its name. Allocated. */
static char *install_words(const char *previous)
{
	char *uses_pid AUTO_FREE = install_read("core_uses_pid");
	bool pid = uses_pid && strcmp(uses_pid, "0") != 0 && !strstr(previous, "%p");

	if (!*previous)
		return xstrdup("");
	if (*previous == '|')
		return xasprintf(" %s", previous + 1 + strspn(previous + 1, " "));
	return xasprintf("%s%s%s", FILE_WORDS, previous, pid ? ".%p" : "");
}

/* The previous pattern, which a pattern of ours has, too: its file may have been removed.
 * Allocated; NULL: it is none of ours. */
static char *install_unwrap(const char *program, const char *pattern)
{
	char *ours AUTO_FREE = xasprintf("|%s " FACTS_WORDS, program);
	const char *words = pattern + strlen(ours);

	if (strncmp(pattern, ours, strlen(ours)) != 0 || (*words && *words != ' '))
		return NULL;
	if (strncmp(words, FILE_WORDS, strlen(FILE_WORDS)) == 0)
		return xstrdup(words + strlen(FILE_WORDS));
	return *words ? xasprintf("|%s", words + 1) : xstrdup("");
}

static char *install_pattern(const char *program, const char *previous, struct err *err)
{
	char *words AUTO_FREE = install_words(previous);
	char *pattern AUTO_FREE = xasprintf("|%s " FACTS_WORDS "%s", program, words);

	if (*previous == '@')
		err_set(err, ERR_UNSUPPORTED,
			"core_pattern is the socket '%s', behind which no program can be put: "
			"ltt-crash is not installed",
			previous);
	else if (*previous != '|' && strchr(previous, ' '))
		err_set(err, ERR_UNSUPPORTED,
			"core_pattern '%s' is a file with a space in its name, which is not "
			"supported: change it first",
			previous);
	else if (strlen(pattern) > PATTERN_MOST)
		err_set(err, ERR_UNSUPPORTED,
			"core_pattern has room for %u bytes, and '%s' has %zu: install ltt-control "
			"with a shorter prefix",
			PATTERN_MOST, pattern, strlen(pattern));
	else
		return TAKE(pattern);
	return NULL;
}

/* --- at the next boot ------------------------------------------------------------------ */

static void install_boot(struct ctl *ctl, const char *pattern)
{
	char *text AUTO_FREE = xasprintf("# Made by 'lttctl crash --install', and removed by "
					 "'lttctl crash --uninstall'.\nkernel.core_pattern=%s\n",
					 pattern);
	struct err err = { 0 };

	if (access(BOOT_DIR, F_OK) != 0)
		print_warning(ctl, "there is no " BOOT_DIR ": 'lttctl crash --install' has to be "
				   "repeated after each boot");
	else if (crash_settings_put(BOOT, text, &err) != 0)
		print_warning(ctl,
			      "%s: 'lttctl crash --install' has to be repeated after each boot",
			      err.text);
}

/* --- the options ----------------------------------------------------------------------- */

static enum status install_check_root(struct ctl *ctl)
{
	if (geteuid() == 0)
		return STATUS_OK;
	err_set(&ctl->err, ERR_DENIED, "core_pattern is the machine's: only root may change it");
	return STATUS_ERROR;
}

/* The files first: with the pattern alone, nothing would know the previous one. */
static int install_new(struct ctl *ctl, struct crash_settings *settings, const char *now)
{
	char *program AUTO_FREE = install_program(&ctl->err);

	if (!program)
		return ctl->err.code;
	free(settings->pattern);
	free(settings->previous);
	settings->previous = install_unwrap(program, now);
	if (!settings->previous)
		settings->previous = xstrdup(now);
	settings->pattern = install_pattern(program, settings->previous, &ctl->err);
	if (!settings->pattern || crash_settings_write(settings, &ctl->err) != 0)
		return ctl->err.code;
	install_boot(ctl, settings->pattern);
	return install_write(settings->pattern, &ctl->err);
}

enum status crash_install(struct ctl *ctl, const struct crash_settings *wanted)
{
	struct crash_settings settings CLEANUP(crash_settings_fini) = { 0 };
	char *now AUTO_FREE = install_read("core_pattern");
	bool installed;
	int code;

	if (install_check_root(ctl) != STATUS_OK)
		return STATUS_ERROR;
	installed = crash_settings_read(&settings);
	settings.keep = wanted->keep ? wanted->keep : settings.keep;
	settings.at_most = wanted->at_most ? wanted->at_most : settings.at_most;
	settings.period_us = wanted->at_most ? wanted->period_us : settings.period_us;
	if (!now)
		code = err_errno(&ctl->err, ERR_OUTPUT, errno, "can't read " KERNEL "core_pattern");
	else if (installed && strcmp(now, settings.pattern) == 0)
		code = crash_settings_write(&settings, &ctl->err);
	else
		code = install_new(ctl, &settings, now);
	return code == 0 ? crash_status(ctl) : STATUS_ERROR;
}

enum status crash_uninstall(struct ctl *ctl)
{
	struct crash_settings settings CLEANUP(crash_settings_fini) = { 0 };
	char *now AUTO_FREE = install_read("core_pattern");
	enum status status = STATUS_OK;

	if (install_check_root(ctl) != STATUS_OK)
		return STATUS_ERROR;
	if (!crash_settings_read(&settings)) {
		char *program AUTO_FREE = install_program(&ctl->err);

		settings.previous = program && now ? install_unwrap(program, now) : NULL;
		settings.pattern = settings.previous ? xstrdup(now) : NULL;
	}
	if (!settings.previous || !settings.pattern) {
		ctl->err = (struct err){ 0 };
		err_set(&ctl->err, ERR_STATE, "ltt-crash is not installed in core_pattern");
		return STATUS_ERROR;
	}
	if (!now || strcmp(now, settings.pattern) != 0) {
		print_warning(ctl,
			      "core_pattern was changed since the installation, and stays '%s'; it "
			      "was '%s' before",
			      now ? now : "", settings.previous);
		status = STATUS_WARNING;
	} else if (install_write(settings.previous, &ctl->err) != 0) {
		return STATUS_ERROR;
	}
	(void)!unlink(BOOT);
	crash_settings_remove();
	(void)crash_status(ctl);
	return status;
}

enum status crash_status(struct ctl *ctl)
{
	struct crash_settings settings CLEANUP(crash_settings_fini) = { 0 };
	bool installed = crash_settings_read(&settings);
	char *now AUTO_FREE = install_read("core_pattern"),
		  *rate AUTO_FREE = crash_settings_rate(&settings);
	struct json_object *o = json_object_new_object();

	ctl->record = json_object_new_object();
	json_set(ctl->record, "helper", o);
	json_set_bool(o, "installed", installed && now && strcmp(now, settings.pattern) == 0);
	json_set_bool(o, "overtaken", installed && now && strcmp(now, settings.pattern) != 0);
	json_set_str(o, "core_pattern", now ? now : "");
	json_set_str(o, "previous", installed ? settings.previous : "");
	json_set_bool(o, "at_boot", access(BOOT, F_OK) == 0);
	json_set_num(o, "keep", settings.keep);
	json_set_str(o, "at_most", rate);
	crash_state_report(o);
	return STATUS_OK;
}

void crash_install_text(FILE *out, struct json_object *record)
{
	text_form(
		out, json_get(record, "helper"),
		"[Crashes of the machine's programs are saved: {?installed}ltt-crash is in "
		"core_pattern|"
		"core_pattern was changed since ltt-crash was installed, 'lttctl crash --install' "
		"installs it again{?overtaken}|"
		"Crashes of the machine's programs are not saved: 'lttctl crash --install' saves "
		"them]\n"
		"core_pattern: {core_pattern}\n"
		"[Cores go to: {previous?}\n]"
		"[It is set at each boot\n{?at_boot}]"
		"Snapshots: the last {keep:n} of each user are kept; of one program at most "
		"{at_most}\n"
		"[Not saved, as there were more: {suppressed:n?}\n]"
		"[Not saved, as an error occurred: {failed:n?}; the last one: {problem}\n]");
}
