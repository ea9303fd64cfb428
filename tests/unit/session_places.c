/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon without main(), and a simulated kernel module: probes at places in the kernel and in
 * programs, and the values fetched there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "lib/kernel_fake.h"

static void bad_places(int client)
{
	struct answer a = kernel_fake_enable_place(client, RULE_PROBE, "p", "no_such");

	CHECK(a.code == ERR_NO_EVENT && strstr(a.text, "no such symbol"));
	a = kernel_fake_enable_place(client, RULE_PROBE, "p", "do_open+3");
	CHECK(a.code == ERR_NO_EVENT && strstr(a.text, "beginning of an instruction"));
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "do_open+").code, ==,
		 ERR_INVALID);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "do_open+x").code, ==,
		 ERR_INVALID);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "+4").code, ==, ERR_INVALID);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "0x").code, ==, ERR_INVALID);
	a = kernel_fake_enable_place(client, RULE_FUNCTION, "p", "do_open+4");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "use --probe"));
	CHECK_IS(HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_USER, .pattern = "p",
			      .exclude = "", .kind = RULE_PROBE, .location = "do_open")
			 .code,
		 ==, ERR_INVALID);
}

static void places(void)
{
	int client = kernel_fake_begin(true);
	const struct ltt_kmod_probe *probe;
	struct answer a;

	bad_places(client);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "do_open+0x10").code, ==, 0);
	CHECK_IS(kernel_fake_enable_place(client, RULE_FUNCTION, "f", "do_open").code, ==, 0);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "do_open+0x10").code, ==,
		 ERR_EVENT_EXISTS);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "do_close").code, ==,
		 ERR_INVALID);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "f_exit", "do_close").code, ==,
		 ERR_INVALID);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && a.items[MSG_refusal] == 0);
	CHECK(kernel_fake_nr_on() == 0 && kernel_fake_probe("do_open", LTT_KMOD_PROBE_RETURN));
	CHECK(kernel_fake_probe("do_open", LTT_KMOD_PROBE_CALL));
	probe = kernel_fake_probe("do_open", 0);
	CHECK(probe && probe->offset == 0x10);
	CHECK(strstr(harness.consumer.metadata, "name = \"f_entry\";"));
	CHECK(strstr(harness.consumer.metadata, "name = \"f_exit\";"));
	CHECK_IS(HARNESS_CALL(client, session_show, NAME).items[MSG_rule], ==, 2);
	/* the same name, and so the same id, at another place */
	kernel_fake_disable_place(client, "p");
	kernel_fake_disable_place(client, "f");
	CHECK(!kernel_fake_probe("do_open", 0) &&
	      !kernel_fake_probe("do_open", LTT_KMOD_PROBE_RETURN) &&
	      !kernel_fake_probe("do_open", LTT_KMOD_PROBE_CALL));
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "0x1234").code, ==, 0);
	probe = kernel_fake_probe("", 0);
	CHECK(probe && probe->address == 0x1234);
	close(client);
	harness_end();
}

/* /sys/module has printk of each kernel. */
static void places_of_modules(void)
{
	int client = kernel_fake_begin(true);
	struct answer a = kernel_fake_enable_place(client, RULE_PROBE, "p", "printk:no_such");

	CHECK(a.code == ERR_NO_EVENT && strstr(a.text, "module printk has no such function"));
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", ":do_open").code, ==,
		 ERR_INVALID);
	CHECK_IS(kernel_fake_enable_place(client, RULE_PROBE, "p", "a/b:do_open").code, ==,
		 ERR_INVALID);
	CHECK_IS(kernel_fake_enable_place(client, RULE_FUNCTION, "f", "not-loaded:f").code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && a.items[MSG_refusal] == 1);
	CHECK(kernel_fake_probe("not_loaded:f", LTT_KMOD_PROBE_CALL | LTT_KMOD_PROBE_WAITS));
	close(client);
	harness_end();
}

static struct answer enable_fetch(int client, uint8_t kind, const char *location, const char *fetch)
{
	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = "f",
		     .exclude = "", .kind = kind, .location = location, .fetch = fetch);
	kernel_fake_settle();
	return harness_answer(client);
}

/* The return value is recorded at the exit, all else at the entry; numbers before texts. */
static void fetches(void)
{
	static const char fetch[] = "name=+0($arg1):string left=$retval:s32 $comm fd=$arg2:u32";
	int client = kernel_fake_begin(true);
	struct answer a = enable_fetch(client, RULE_PROBE, "do_open", "$retval");

	CHECK(a.code == ERR_INVALID && strstr(a.text, "use --function"));
	a = enable_fetch(client, RULE_PROBE, "do_open+4", "$arg1");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "at the beginning of a function"));
	a = enable_fetch(client, RULE_PROBE, "0x1234", "$arg1");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "at the beginning of a function"));
	CHECK_IS(enable_fetch(client, RULE_PROBE, "do_open", "nonsense").code, ==, ERR_INVALID);
	CHECK_IS(enable_fetch(client, RULE_EVENTS, "", "$comm").code, ==, ERR_INVALID);
	CHECK_IS(enable_fetch(client, RULE_FUNCTION, "do_open", fetch).code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
	CHECK_IS(kernel_fake_probe("do_open", LTT_KMOD_PROBE_CALL)->nr_args, ==, 3);
	CHECK_IS(kernel_fake_probe("do_open", LTT_KMOD_PROBE_RETURN)->nr_args, ==, 1);
	CHECK(strstr(harness.consumer.metadata,
		     "base = 16; } _parent_ip;\n"
		     "\t\tinteger { size = 32; align = 8; signed = false; "
		     "encoding = none; base = 10; } _fd;\n"
		     "\t\tstring _name;\n\t\tstring _arg3;\n\t};\n"));
	CHECK(strstr(harness.consumer.metadata,
		     "base = 10; } _ret;\n"
		     "\t\tinteger { size = 32; align = 8; signed = true; "
		     "encoding = none; base = 10; } _left;\n\t};\n"));
	close(client);
	harness_end();
}

static char *identify(const char *path, const char *places)
{
	struct stat st;

	CHECK_IS(stat(path, &st), ==, 0);
	return xasprintf("%llu,%llu,%llu,%llu%s", (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
			 (unsigned long long)st.st_mtim.tv_sec * 1000000000u +
				 (unsigned long long)st.st_mtim.tv_nsec,
			 places);
}

static struct answer enable_file(int client, const char *location, const char *path,
				 const char *now, const char *places, const char *fetch)
{
	char *text AUTO_FREE = identify(now, places);

	HARNESS_SEND(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .pattern = "u",
		     .exclude = "", .kind = RULE_USER, .location = location, .fetch = fetch,
		     .file = path, .places = text);
	kernel_fake_settle();
	return harness_answer(client);
}

static struct answer enable_user(int client, const char *location, const char *path,
				 const char *places, const char *fetch)
{
	return enable_file(client, location, path, "/proc/self/exe", places, fetch);
}

static void bad_programs(int client)
{
	static const char *const texts[] = { "",
					     ";",
					     ";x",
					     ";1@",
					     ";1;",
					     ";1 a=%di:u32;2",
					     ";1 a=%di:u32;2 b=%di:u32",
					     ";1 $arg1",
					     ";1 $retval",
					     ";1 a=%di:u32;2 a=%di:s32",
					     ";1,",
					     "1" };
	struct answer a;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_IS(enable_user(client, "sdt:x:y:z", "/proc/self/exe", texts[i], "").code, ==,
			 ERR_INVALID);
	a = enable_user(client, "x:y", "/proc/self/exe", ";1", "$retval");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "return:PATH"));
	a = enable_user(client, "x:y", "/proc/self/exe", ";0x666", "");
	CHECK(a.code == ERR_NO_EVENT && strstr(a.text, "can't place a probe at 'x:y'"));
	a = enable_user(client, "x:y", "/bin/sh", ";1", "");
	CHECK(a.code == ERR_NO_EVENT && strstr(a.text, "has changed"));
	a = enable_user(client, "x:y", "/no/such/file", ";1", "");
	CHECK(a.code == ERR_NO_EVENT && strstr(a.text, "has changed"));
}

static void put_program(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	CHECK(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
	close(fd);
}

/* Another file of that path, in which the place is elsewhere: enabled again, the event is that of
 * the new file, in its own place of the trace; an event of that name elsewhere is refused. */
static void replaced(int client)
{
	char *path AUTO_FREE = xasprintf("%s/places-%d", P_tmpdir, (int)getpid());
	char *next AUTO_FREE = xasprintf("%s.new", path);
	unsigned int users = kernel_fake.users;
	uint32_t id;
	struct answer a;

	put_program(path, "one");
	CHECK_IS(enable_file(client, "replaced:x", path, path, ";16", "").code, ==, 0);
	id = kernel_fake.user.id;
	CHECK(kernel_fake.users == users + 1 && kernel_fake.user.offset == 16);
	put_program(next, "two, longer");
	CHECK_IS(rename(next, path), ==, 0);
	a = enable_file(client, "other:x", path, path, ";32", "");
	CHECK(a.code == ERR_INVALID && strstr(a.text, "choose another name"));
	CHECK_IS(enable_file(client, "replaced:x", path, path, ";32", "").code, ==, 0);
	CHECK(kernel_fake.users == users + 2 && kernel_fake.user.offset == 32);
	CHECK_IS(kernel_fake.user.id, ==, id);
	CHECK_IS(enable_file(client, "replaced:x", path, path, ";32", "").code, ==,
		 ERR_EVENT_EXISTS);
	unlink(path);
}

/* Places in a program that lttctl found: the messages to the module; for root only. */
static void programs(void)
{
	static const char places[] = ";0x10@0x20 a=%di:s32>s64 b=+8(%r9+4*%cx):u16;48 "
				     "a=\\5:s64 b=%dx:u16";
	int client = kernel_fake_begin(true);
	struct ltt_kmod_arg *args = kernel_fake.user_args[0];
	struct answer a;

	if (geteuid() != 0) {
		a = enable_user(client, "sdt:x:y:z", "/proc/self/exe", places, "");
		CHECK_IS(a.code, ==, ERR_DENIED);
		close(client);
		harness_end();
		return;
	}
	bad_programs(client);
	a = enable_user(client, "sdt:x:y:z", "/proc/self/exe", places, "");
	CHECK(a.code == 0 && kernel_fake.users == 0); /* it was tried */
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && kernel_fake.users == 1);
	CHECK(kernel_fake.user.offset == 0x10 && kernel_fake.user.semaphore == 0x20 &&
	      kernel_fake.user.nr_more == 1 && kernel_fake.user.flags == 0);
	CHECK(kernel_fake.second.offset == 48 && kernel_fake.second.semaphore == 0);
	CHECK(args[0].bytes == 8 && args[0].nr_steps == 2 &&
	      args[0].steps[1].op == LTT_KMOD_STEP_EXTEND && args[0].steps[1].nr == 4 &&
	      args[0].steps[1].offset == 1);
	CHECK(args[1].bytes == 2 && args[1].nr_steps == 3 &&
	      args[1].steps[1].op == LTT_KMOD_STEP_ADD_REGISTER && args[1].steps[1].nr == 2 &&
	      args[1].steps[1].offset == 4 && args[1].steps[2].op == LTT_KMOD_STEP_READ_USER);
	CHECK_IS(kernel_fake.user_args[1][0].steps[0].offset, ==, 5);
	CHECK(strstr(harness.consumer.metadata,
		     "base = 16; } _ip;\n"
		     "\t\tinteger { size = 64; align = 8; signed = true; "
		     "encoding = none; base = 10; } _a;\n"));
	kernel_fake_disable_place(client, "u");
	a = enable_user(client, "return:x:y", "/proc/self/exe", ";64", "$retval:s32");
	CHECK(a.code == 0 && kernel_fake.users == 2 &&
	      kernel_fake.user.flags == LTT_KMOD_PROBE_RETURN);
	CHECK(strstr(harness.consumer.metadata, "_parent_ip;"));
	kernel_fake_disable_place(client, "u");
	replaced(client);
	close(client);
	harness_end();
}

int main(void)
{
	places();
	places_of_modules();
	fetches();
	programs();
	return 0;
}
