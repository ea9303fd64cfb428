/* SPDX-License-Identifier: GPL-2.0-only */
#include "facts.h"

#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/mem.h"
#include "ctl/print/text.h"

#define GROUP "tracing"
#define FIRST_USERS 0xeffffffdu /* the namespace in which a system begins: enum init_ns_ino */

/* --- files ------------------------------------------------------------------------- */

/* Without the newline. */
static size_t facts_text(const char *root, const char *path, char *buf, size_t len)
{
	char *whole AUTO_FREE = xasprintf("%s%s", root, path);
	size_t got = text_read(whole, buf, len);

	buf[strcspn(buf, "\n")] = '\0';
	return got;
}

static bool facts_has(const char *root, const char *path)
{
	char *whole AUTO_FREE = xasprintf("%s%s", root, path);

	return access(whole, F_OK) == 0;
}

/* The file that depmod lists, below the folder of modules. */
static void facts_find_module(struct facts *facts, const char *root)
{
	char *list AUTO_FREE =
		xasprintf("%s/lib/modules/%s/modules.dep", root, facts->release);
	char line[1024];
	FILE *f = fopen(list, "re");

	while (f && !*facts->module && fgets(line, sizeof(line), f)) {
		const char *name;

		line[strcspn(line, ":")] = '\0';
		name = strrchr(line, '/');
		if (strncmp(name ? name + 1 : line, "ltt.ko", 6) == 0)
			snprintf(facts->module, sizeof(facts->module), "%s%.300s/%.100s",
				 *line == '/' ? "" : "/lib/modules/",
				 *line == '/' ? "" : facts->release, line);
	}
	if (f)
		fclose(f);
}

/* "none [integrity] confidentiality" */
static void facts_read_lockdown(struct facts *facts, const char *root)
{
	char text[128];
	const char *begin;

	facts_text(root, "/sys/kernel/security/lockdown", text, sizeof(text));
	begin = strchr(text, '[');
	if (begin && strchr(begin, ']'))
		snprintf(facts->lockdown, sizeof(facts->lockdown), "%.*s",
			 (int)strcspn(begin + 1, "]"), begin + 1);
	else
		snprintf(facts->lockdown, sizeof(facts->lockdown), "none");
}

/* As the firmware stores it: four bytes of attributes, and the value. */
static bool facts_read_secure_boot(const char *root)
{
	char *path AUTO_FREE = xasprintf("%s/sys/firmware/efi/efivars/"
					 "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
					 root);
	char value[16];

	return text_read(path, value, sizeof(value)) == 5 && value[4] == 1;
}

static bool facts_read_branches(const char *root)
{
	char info[8192];
	char *path AUTO_FREE = xasprintf("%s/proc/cpuinfo", root);

	text_read(path, info, sizeof(info));
	return strstr(info, " ibt ") || strstr(info, " ibt\n");
}

void facts_read(struct facts *facts, const char *root, const char *release)
{
	char *headers AUTO_FREE = xasprintf("/lib/modules/%s/build/Makefile", release);
	char hidden[8];

	*facts = (struct facts){ .loaded = facts_has(root, "/sys/module/ltt"),
				 .headers = facts_has(root, headers),
				 .btf = facts_has(root, "/sys/kernel/btf/vmlinux"),
				 .branches = facts_read_branches(root),
				 .perf = facts_has(root, "/proc/sys/kernel/perf_event_paranoid"),
				 .tracefs = facts_has(root, "/sys/kernel/tracing/events"),
				 .secure_boot = facts_read_secure_boot(root) };
	snprintf(facts->release, sizeof(facts->release), "%s", release);
	facts_find_module(facts, root);
	facts_text(root, "/sys/module/ltt/version", facts->version, sizeof(facts->version));
	facts_text(root, "/sys/module/ltt/srcversion", facts->source, sizeof(facts->source));
	facts_read_lockdown(facts, root);
	facts_text(root, "/proc/sys/kernel/kptr_restrict", hidden, sizeof(hidden));
	facts->hidden = strcmp(hidden, "2") == 0;
}

void facts_read_user(struct facts_user *user)
{
	const struct group *group = getgrnam(GROUP);
	gid_t groups[1024];
	int nr = getgroups(ARRAY_SIZE(groups), groups);
	struct stat st;

	*user = (struct facts_user){ .uid = geteuid(), .group = group ? GROUP : NULL };
	user->member = group && getegid() == group->gr_gid;
	for (int i = 0; group && i < nr; i++)
		user->member = user->member || groups[i] == group->gr_gid;
	user->container = stat("/proc/self/ns/user", &st) == 0 && st.st_ino != FIRST_USERS;
}

/* --- findings ---------------------------------------------------------------------- */

static void facts_report_module(struct doctor *d, const struct facts *facts)
{
	const char *place = *facts->module ? facts->module : "a file that depmod does not list";

	if (facts->loaded)
		doctor_found(d, GRADE_OK, "module", "module ltt loaded%s%s%s%s: %s",
			     *facts->version ? ", version " : "", facts->version,
			     *facts->source ? ", source version " : "", facts->source, place);
	else if (*facts->module)
		doctor_found(d, GRADE_OK, "module", "module ltt installed, not loaded: %s",
			     facts->module);
	else
		doctor_found(d, GRADE_OK, "module", "module ltt not installed for kernel %s",
			     facts->release);
}

static void facts_report_rights(struct doctor *d, const struct facts_user *user)
{
	if (user->container) {
		doctor_found(d, GRADE_WARN, "rights",
			     "this is a container with users of its own: its root may neither load "
			     "the module nor record the kernel; the host's daemon records it, also "
			     "for the container");
		doctor_repair(d, "sudo lttctl doctor -k # on the host");
	} else if (user->uid == 0) {
		doctor_found(d, GRADE_OK, "rights", "root may record all events of the kernel%s%s%s",
			     user->group ? ", and the group '" : "",
			     user->group ? user->group : "",
			     user->group ? "' its tracepoints and system calls" : "");
	} else if (user->member) {
		doctor_found(d, GRADE_OK, "rights",
			     "user %u may record tracepoints and system calls by root's session "
			     "daemon, as a member of the group '%s'; functions and places are root's",
			     user->uid, user->group);
	} else {
		doctor_found(d, GRADE_WARN, "rights",
			     "user %u may not record the kernel: root may, and members of the group "
			     "'%s'%s",
			     user->uid, GROUP, user->group ? "" : ", which is not there");
		doctor_repair(d, "%ssudo usermod -a -G %s $USER # then log in again",
			      user->group ? "" : "sudo groupadd --system " GROUP " && ", GROUP);
	}
}

static void facts_report_lockdown(struct doctor *d, const struct facts *facts)
{
	if (strcmp(facts->lockdown, "confidentiality") == 0) {
		doctor_found(d, GRADE_BAD, "lockdown",
			     "the kernel is locked down (confidentiality): nothing of it can be "
			     "recorded, by root either");
		doctor_repair(d, "cat /proc/cmdline # boot it without lockdown=confidentiality");
	} else if (strcmp(facts->lockdown, "none") != 0) {
		doctor_found(d, GRADE_OK, "lockdown",
			     "the kernel is locked down (%s): it loads signed modules only, and lines "
			     "that control its traces are written to /dev/ltt, not to debugfs",
			     facts->lockdown);
	}
	if (!facts->secure_boot)
		return;
	if (facts->loaded) {
		doctor_found(d, GRADE_OK, "secure-boot",
			     "Secure Boot is on, and the kernel has accepted the module");
		return;
	}
	doctor_found(d, GRADE_WARN, "secure-boot",
		     "Secure Boot is on: the kernel loads only modules that are signed with a key "
		     "that it trusts");
	doctor_repair(d, "sudo mokutil --import /var/lib/dkms/mok.pub # then boot again");
}

void facts_report(struct doctor *d, const struct facts *facts, const struct facts_user *user)
{
	doctor_found(d, GRADE_OK, "facts",
		     "kernel %s: kernel headers: %s; BTF: %s; lockdown: %s; Secure Boot: %s; "
		     "indirect branch tracking: %s; perf: %s; tracefs: %s",
		     facts->release, facts->headers ? "yes" : "no", facts->btf ? "yes" : "no",
		     facts->lockdown, facts->secure_boot ? "yes" : "no",
		     facts->branches ? "yes" : "no", facts->perf ? "yes" : "no",
		     facts->tracefs ? "yes" : "no");
	facts_report_module(d, facts);
	facts_report_rights(d, user);
	facts_report_lockdown(d, facts);
	if (!facts->hidden)
		return;
	doctor_found(d, GRADE_WARN, "addresses",
		     "kernel.kptr_restrict=2 hides the kernel's addresses from root, too: they will "
		     "have no names in traces");
	doctor_repair(d, "sudo sysctl kernel.kptr_restrict=1");
}
