/* SPDX-License-Identifier: GPL-2.0-only */
/* `lttctl doctor -k` on machines of which only the files are there: each state of the module, of
 * the kernel's settings and of the user's rights has its finding, and its command. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "ctl/doctor/facts.h"
#include "ctl/print/json.h"

#define SECURE_BOOT "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static char root[] = "/tmp/ltt-doctor.XXXXXX";

static void put(const char *path, const char *bytes, size_t len)
{
	char whole[600];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *at = strchr(whole + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(whole, 0700);
		*at = '/';
	}
	file = fopen(whole, "w");
	CHECK(file && fwrite(bytes, 1, len, file) == len);
	CHECK_IS(fclose(file), ==, 0);
}

#define PUT(path, text) put(path, text, strlen(text))

static const struct facts_user first = { .group = "tracing" };

/* "GRADE text" of a finding; "": there is none. */
static const char *finding(const struct facts_user *user, const char *about, char text[1024])
{
	struct doctor d = { .findings = json_object_new_array() };
	struct facts facts;

	facts_read(&facts, root, "6.1.0-test");
	facts_report(&d, &facts, user);
	*text = '\0';
	for (size_t i = 0; i < json_object_array_length(d.findings); i++) {
		struct json_object *found = json_object_array_get_idx(d.findings, i);
		bool bad = strcmp(json_str(found, "grade"), "ok") != 0;

		CHECK_IS(bad, ==, *json_str(found, "repair") != '\0');
		if (strcmp(json_str(found, "subject"), about) == 0)
			snprintf(text, 1024, "%s %s # %s", json_str(found, "grade"),
				 json_str(found, "text"), json_str(found, "repair"));
	}
	json_object_put(d.findings);
	return text;
}

static char found[1024];

#define FOUND(user, about, part)                                              \
	do {                                                                  \
		finding(user, about, found);                                  \
		if (!strstr(found, part))                                     \
			fprintf(stderr, "%s: '%s'\n", about, found);          \
		CHECK(strstr(found, part));                                   \
	} while (0)

#define NOT_FOUND(about) CHECK(!*finding(&first, about, found))

static void bare(void)
{
	FOUND(&first, "facts",
	      "ok kernel 6.1.0-test: kernel headers: no; BTF: no; lockdown: none; Secure Boot: no; "
	      "indirect branch tracking: no; perf: no; tracefs: no");
	FOUND(&first, "module", "ok module ltt not installed for kernel 6.1.0-test");
	NOT_FOUND("lockdown");
	NOT_FOUND("secure-boot");
	NOT_FOUND("addresses");
}

static void module_states(void)
{
	PUT("/lib/modules/6.1.0-test/modules.dep",
	    "kernel/fs/alttt.ko:\nupdates/dkms/ltt_instr.ko:\nupdates/dkms/ltt.ko.xz: "
	    "updates/dkms/ltt_instr.ko\n");
	FOUND(&first, "module",
	      "ok module ltt installed, not loaded: /lib/modules/6.1.0-test/updates/dkms/ltt.ko.xz");
	PUT("/sys/module/ltt/srcversion", "ABCDEF\n");
	PUT("/sys/module/ltt/version", "0.1.0\n");
	FOUND(&first, "module",
	      "ok module ltt loaded, version 0.1.0, source version ABCDEF: /lib/modules/");
}

static void settings(void)
{
	PUT("/proc/cpuinfo", "flags\t: fpu ibt sse\n");
	PUT("/proc/sys/kernel/perf_event_paranoid", "2\n");
	PUT("/sys/kernel/tracing/events/enable", "0\n");
	PUT("/sys/kernel/btf/vmlinux", "");
	PUT("/lib/modules/6.1.0-test/build/Makefile", "");
	FOUND(&first, "facts",
	      "kernel headers: yes; BTF: yes; lockdown: none; Secure Boot: no; indirect branch "
	      "tracking: yes; perf: yes; tracefs: yes");
	PUT("/proc/sys/kernel/kptr_restrict", "1\n");
	NOT_FOUND("addresses");
	PUT("/proc/sys/kernel/kptr_restrict", "2\n");
	FOUND(&first, "addresses", "# sudo sysctl kernel.kptr_restrict=1");
	PUT("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	NOT_FOUND("lockdown");
	PUT("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	FOUND(&first, "lockdown", "ok the kernel is locked down (integrity)");
	FOUND(&first, "facts", "lockdown: integrity;");
	PUT("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	FOUND(&first, "lockdown", "bad the kernel is locked down (confidentiality)");
	PUT("/sys/kernel/security/lockdown", "[");
	NOT_FOUND("lockdown");
}

static void secure_boot(void)
{
	char loaded[600];

	put(SECURE_BOOT, "\6\0\0\0\0", 5);
	NOT_FOUND("secure-boot");
	put(SECURE_BOOT, "\6\0\0\0\1", 5);
	FOUND(&first, "secure-boot", "ok Secure Boot is on, and the kernel has accepted");
	snprintf(loaded, sizeof(loaded), "rm -r %s/sys/module", root);
	CHECK_IS(system(loaded), ==, 0);
	FOUND(&first, "secure-boot", "warn Secure Boot is on");
	FOUND(&first, "secure-boot", "# sudo mokutil --import");
}

static void rights(void)
{
	const struct facts_user member = { .uid = 7, .group = "tracing", .member = true },
				other = { .uid = 7, .group = "tracing" }, alone = { .uid = 7 },
				container = { .container = true };

	FOUND(&first, "rights", "ok root may record all events of the kernel, and the group 'tracing'");
	FOUND(&member, "rights", "ok user 7 may record tracepoints");
	FOUND(&other, "rights", "# sudo usermod -a -G tracing");
	FOUND(&alone, "rights", "# sudo groupadd --system tracing && sudo usermod");
	FOUND(&container, "rights", "warn this is a container");
}

int main(void)
{
	char remove[64];

	CHECK(mkdtemp(root));
	bare();
	module_states();
	settings();
	secure_boot();
	rights();
	snprintf(remove, sizeof(remove), "rm -r %s", root);
	CHECK_IS(system(remove), ==, 0);
	return 0;
}
