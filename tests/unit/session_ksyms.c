/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the kernel, from a file in the place of /proc/kallsyms: stored with the trace of
 * each session, read once, and again when a module comes; sorted, without data but where a function
 * ends; addresses that are hidden.
 */
#include <zstd.h>

#include "lib/kernel_fake.h"
#include "sessiond/domain/kernel/ksyms.h"
#include "trace/kallsyms.h"

#define TEXT                                                 \
	"0000000000000000 A fixed_percpu_data\n"             \
	"ffffffff81000040 t second\n"                        \
	"ffffffff81000000 T _text\n"                         \
	"ffffffff81000000 T first\n"                         \
	"ffffffff81000030 t __pfx_second\n"                  \
	"ffffffff82000000 D data\nffffffff82000010 d more\n" \
	"ffffffffc0001000 t open_it\t[mod]\nffffffffc0000000 t $x\t[mod]\n"
#define PACKED                                                                \
	KALLSYMS_MAGIC "ffffffff81000000 T _text\nffffffff81000000 T first\n" \
		       "ffffffff81000040 t second\nffffffff82000000 D data\n" \
		       "ffffffffc0001000 t open_it\t[mod]\n"
#define LATE "ffffffffc0002000 t late\t[late]\n"

static char plain[4096];

static const char *unpack(const void *packed, size_t len)
{
	size_t frame = ZSTD_findFrameCompressedSize(packed, len);
	size_t n =
		ZSTD_isError(frame) ? 0 : ZSTD_decompress(plain, sizeof(plain) - 1, packed, frame);

	CHECK(!ZSTD_isError(n));
	plain[n] = '\0';
	return plain;
}

static bool last_is(const char *want)
{
	return strcmp(unpack(harness.consumer.kallsyms, sizeof(harness.consumer.kallsyms)), want) ==
	       0;
}

static void is_packed(const char *from, const char *want)
{
	char text[1024];
	uint8_t packed[1024];
	int fd;

	snprintf(text, sizeof(text), "%s", from);
	fd = ksyms_pack(text, strlen(text));
	CHECK(fd >= 0 && pread(fd, packed, sizeof(packed), 0) > 0);
	CHECK(strcmp(unpack(packed, sizeof(packed)), want) == 0);
	close(fd);
}

static void packing(void)
{
	is_packed(TEXT, PACKED);
	is_packed("", KALLSYMS_MAGIC);
	is_packed("0000000000000000 T _text\n0000000000000000 t a\t[mod]\n",
		  KALLSYMS_MAGIC KALLSYMS_HIDDEN);
	is_packed("ffffffff81000000 T whole\nffffffff81000001 T cut",
		  KALLSYMS_MAGIC "ffffffff81000000 T whole\n");
	is_packed(
		"\nx\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \nffffffff81000000\n",
		KALLSYMS_MAGIC);
}

static void start(int client)
{
	CHECK_IS(HARNESS_CALL(client, event_enable, NAME, .domain = DOMAIN_KERNEL, .channel = "",
			      .pattern = "sched_switch", .exclude = "")
			 .code,
		 ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
}

static int fake_file(const char *text)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

static unsigned int stored(void)
{
	return harness.consumer.calls[MSG_con_trace_kallsyms];
}

static void storing(void)
{
	static const char add[] = "add@/module/late", change[] = "change@/devices/x";
	int client = kernel_fake_begin(true), pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
	harness.sd.kmod.kallsyms = fake_file(TEXT);
	harness.sd.kmod.modules = pair[0];
	CHECK_IS(stored(), ==, 0);
	start(client);
	CHECK_IS(stored(), ==, 1);
	CHECK(last_is(PACKED));
	CHECK(send(pair[1], change, sizeof(change), 0) > 0);
	CHECK(pwrite(harness.sd.kmod.kallsyms, TEXT LATE, strlen(TEXT LATE), 0) > 0);
	harness_wait(600000);
	CHECK_IS(stored(), ==, 1);
	CHECK(send(pair[1], add, sizeof(add), 0) > 0 && send(pair[1], add, sizeof(add), 0) > 0);
	harness_wait(700000);
	CHECK_IS(stored(), ==, 2);
	CHECK(last_is(PACKED LATE));
	HARNESS_SEND(client, session_stop, NAME);
	kernel_fake_settle();
	CHECK_IS(harness_answer(client).code, ==, 0);
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && stored() == 2); /* the same trace */
	close(client);
	harness_end();
	close(pair[1]);
}

static bool stop_reports(int client)
{
	struct rep_session_stop stopped;
	struct answer a;

	HARNESS_SEND(client, session_stop, NAME);
	kernel_fake_settle();
	a = harness_answer(client);
	CHECK(a.code == 0 && rep_session_stop_decode(&a.dec, &stopped) == 0);
	return strstr(stopped.problem, "addresses of the kernel have no names in its trace: ");
}

/* An output that fails to store them goes on without them and reports that; the next start tries
 * again. */
static void failing(void)
{
	int client = kernel_fake_begin(true);

	harness.sd.kmod.kallsyms = fake_file(TEXT);
	harness.consumer.fail_type = MSG_con_trace_kallsyms;
	start(client);
	CHECK(stored() == 1 && kernel_fake_nr_on() == 1);
	CHECK(stop_reports(client));
	harness.consumer.fail_type = 0;
	HARNESS_SEND(client, session_start, NAME);
	kernel_fake_settle();
	CHECK(harness_answer(client).code == 0 && stored() == 2 && !stop_reports(client));
	close(client);
	harness_end();
	client = kernel_fake_begin(true); /* /proc/kallsyms can't be opened */
	start(client);
	CHECK(stored() == 0 && kernel_fake_nr_on() == 1);
	close(client);
	harness_end();
}

int main(void)
{
	struct err err = { 0 };

	CHECK_IS(ksyms_prepare(&err), ==, 0);
	packing();
	storing();
	failing();
	return 0;
}
