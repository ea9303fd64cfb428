/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests of `lttctl load`: all attributes of channels and rules of the kernel, in their
 * order, where no kernel needs to be traced; and those by which everything is undone.
 */
#include "lib/ctl_fake.h"

#include <stdio.h>

static void write_file(const char *session)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/s.ltt", getenv("LTT_HOME"));
	file = fopen(path, "w");
	CHECK(file);
	fprintf(file,
		"<ltt-sessions version='1'><session><name>k</name>%s</session></ltt-sessions>\n",
		session);
	CHECK_IS(fclose(file), ==, 0);
}

#define LOAD "lttctl load -i $LTT_HOME/s.ltt"

static void kernel(void)
{
	write_file(
		"<recording>true</recording>"
		"<trackers><tracker><domain>kernel</domain><kind>tid</kind><ids>5 6</ids></tracker>"
		"<tracker><domain>kernel</domain><kind>gid</kind></tracker></trackers>"
		"<channels><channel><name>channel0</name><domain>kernel</domain><enabled>0</enabled>"
		"<subbuf_size>4096</subbuf_size><num_subbuf>2</num_subbuf>"
		"<ownership>system</ownership><tracefile_size>8192</tracefile_size>"
		"<tracefile_count>3</tracefile_count><switch_timer_us>7</switch_timer_us>"
		"<contexts>pid,perf:cpu:cycles</contexts><rules>"
		"<rule><pattern>sched_*</pattern><exclude>sched_x</exclude></rule>"
		"<rule><pattern>p</pattern><kind>probe</kind><location>do_exit+0x4</location>"
		"<fetch>a=%di:u32 +0(%si)</fetch></rule>"
		"<rule><pattern>f</pattern><kind>function</kind><location>vfs_read</location></rule>"
		"<rule><pattern>h</pattern><kind>histogram</kind><location>len</location></rule>"
		"</rules></channel></channels>");
	EXPECT(LOAD, 0, "Session k loaded, and started\n", NULL);
	EXPECT_REQUESTS("create k \n"
			"track k domain 1 kind 1 op 2: 5 6\n"
			"track k domain 1 kind 5 op 1:\n"
			"channel k channel0 size 4096 nr 2 own 3 file 8192 x 3 timer 7 over 2\n"
			"context k domain 1 channel 'channel0' pid\n"
			"context k domain 1 channel 'channel0' perf:cpu:cycles\n"
			"event k channel0 'sched_*' not 'sched_x' level 0 0\n"
			"event k channel0 'p' not '' level 0 0\n"
			" kind 1 at do_exit+0x4 fetch 'a=%di:u32 +0(%si)' in '' \n"
			"event k channel0 'f' not '' level 0 0\n"
			" kind 2 at vfs_read fetch '' in '' \n"
			"event k channel0 'h' not '' level 0 0\n"
			" kind 5 at len fetch '' in '' \n"
			"disable channel channel0\n"
			"start k\n");
	EXPECT("lttctl destroy k", 0,
	       "Session k destroyed: 0 events recorded, 0 lost, 0 B written\n", NULL);
	ctl_model.requests[0] = '\0';
}

/* A place in a program is searched in its file: here, in this test itself. */
static void place(void)
{
	char self[4096], rule[5000], wanted[9000];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK_IS(len, >, 0);
	self[len] = '\0';
	snprintf(
		rule, sizeof(rule),
		"<channels><channel><name>c</name><domain>kernel</domain><rules><rule><pattern>u</pattern>"
		"<kind>userspace-probe</kind><location>elf:%s:main</location></rule></rules></channel>"
		"</channels>",
		self);
	write_file(rule);
	EXPECT(LOAD, 0, "Session k loaded\n", NULL);
	snprintf(wanted, sizeof(wanted), " kind 3 at elf:%s:main fetch '' in '%s' ", self, self);
	if (!strstr(ctl_model.requests, wanted))
		ctl_run_print(wanted);
	CHECK(strstr(ctl_model.requests, wanted));
	CHECK_IS(ctl_run("lttctl destroy k"), ==, 0);
	ctl_model.requests[0] = '\0';
	write_file(
		"<channels><channel><name>c</name><domain>kernel</domain><rules><rule><pattern>u</pattern>"
		"<kind>userspace-probe</kind><location>elf:/nowhere:main</location></rule></rules>"
		"</channel></channels>");
	EXPECT(LOAD, 1, "", "s.ltt:1: element 'rule': ");
	EXPECT_REQUESTS(
		"create k \nchannel k c size 0 nr 0 own 0 file 0 x 0 timer 0 over 2\ndestroy k\n");
}

/* The daemon has a rule web:* already. */
static void undone(void)
{
	write_file(
		"<channels><channel><name>c</name><domain>user</domain><rules><rule><pattern>web:*</pattern>"
		"</rule></rules></channel></channels>");
	EXPECT(LOAD, 1, "", "s.ltt:1: element 'rule': it is enabled already");
	EXPECT_REQUESTS("create k \nchannel k c size 0 nr 0 own 0 file 0 x 0 timer 0 over 2\n"
			"event k c 'web:*' not '' level 0 0\ndestroy k\n");
	CHECK(!*ctl_model.session);
}

int main(void)
{
	ctl_fake_start();
	kernel();
	place();
	undone();
	return 0;
}
