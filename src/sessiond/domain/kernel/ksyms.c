/* SPDX-License-Identifier: GPL-2.0-only */
#include "ksyms.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zstd.h>

#include "base/lazy.h"
#include "base/log.h"
#include "base/mem.h"
#include "trace/kallsyms.h"

#define TEXT_BYTES_MOST ((size_t)128 << 20)
#define TURN_BYTES ((size_t)256 << 10) /* of one turn of the loop */
#define READ_BYTES ((size_t)64 << 10)
#define SETTLE_US 500000u /* modules come together */
#define PACK_LEVEL 6

#define KSYMS_ZSTD_FUNCTIONS(X)  \
	X(ZSTD_compress)         \
	X(ZSTD_compressBound)    \
	X(ZSTD_isError)

static struct {
	KSYMS_ZSTD_FUNCTIONS(LAZY_POINTER)
} ksyms_zstd;

int ksyms_prepare(struct err *err)
{
	static const char *const names[] = { KSYMS_ZSTD_FUNCTIONS(LAZY_NAME) };

	return lazy_load(LTT_LIBZSTD, names, ARRAY_SIZE(names), &ksyms_zstd, err);
}

/* --- packing ----------------------------------------------------------------------------- */

/** A line; @line: behind the address, and without the newline. @order: in the kernel's order. */
struct ksyms_row {
	uint64_t address;
	const char *line;
	size_t order;
};

static bool ksyms_is_function(const struct ksyms_row *row)
{
	return strchr(KALLSYMS_FUNCTIONS, row->line[1]);
}

/* Symbols that the compiler made for the padding in front of functions are none of the source. */
static bool ksyms_takes(const struct ksyms_row *row)
{
	const char *name = row->line + 3;

	return row->line[0] == ' ' && row->line[1] && row->line[2] == ' ' && *name &&
	       *name != '$' && strncmp(name, "__pfx_", 6) != 0 && strncmp(name, "__cfi_", 6) != 0;
}

static size_t ksyms_take_rows(char *text, size_t len, struct ksyms_row *rows, bool *ret_hidden)
{
	char *end = text + len, *next;
	size_t nr = 0;

	*ret_hidden = len;
	for (char *line = text; line < end && (next = memchr(line, '\n', (size_t)(end - line)));
	     line = next + 1) {
		struct ksyms_row *row = &rows[nr];
		char *behind;

		*next = '\0';
		row->address = strtoull(line, &behind, 16);
		row->line = behind;
		row->order = nr;
		*ret_hidden &= !row->address;
		nr += row->address >= KALLSYMS_FIRST && ksyms_takes(row);
	}
	return nr;
}

static int ksyms_compare(const void *a, const void *b)
{
	const struct ksyms_row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The text of a trace's file: functions, and the symbols at which they end. */
static char *ksyms_make_text(char *from, size_t len, size_t *ret_len)
{
	struct ksyms_row *rows AUTO_FREE = NULL;
	size_t nr = 0, room = strlen(KALLSYMS_MAGIC KALLSYMS_HIDDEN) + 1;
	bool hidden, in_function = false;
	char *text, *to;

	for (size_t i = 0; i < len; i++)
		nr += from[i] == '\n';
	rows = xalloc((nr + 1) * sizeof(*rows));
	room += len + nr * 17; /* each with its whole address */
	to = text = xalloc(room);
	nr = ksyms_take_rows(from, len, rows, &hidden);
	qsort(rows, nr, sizeof(*rows), ksyms_compare);
	to += sprintf(to, "%s%s", KALLSYMS_MAGIC, hidden ? KALLSYMS_HIDDEN : "");
	for (size_t i = 0; i < nr; i++) {
		bool is_function = ksyms_is_function(&rows[i]);

		if (is_function || in_function)
			to += sprintf(to, "%llx%s\n", (unsigned long long)rows[i].address,
				      rows[i].line);
		in_function = is_function;
	}
	*ret_len = (size_t)(to - text);
	return text;
}

int ksyms_pack(char *text, size_t len)
{
	AUTO_FD int fd = memfd_create("ltt-kallsyms", MFD_CLOEXEC);
	char *plain AUTO_FREE = NULL;
	void *packed AUTO_FREE = NULL;
	size_t bytes, plain_bytes, room;

	if (!ksyms_zstd.ZSTD_compress)
		return -ENOSYS;
	if (fd < 0)
		return -errno;
	plain = ksyms_make_text(text, len, &plain_bytes);
	if (plain_bytes > KALLSYMS_BYTES_MOST)
		return -EFBIG;
	room = ksyms_zstd.ZSTD_compressBound(plain_bytes);
	packed = xalloc(room);
	bytes = ksyms_zstd.ZSTD_compress(packed, room, plain, plain_bytes, PACK_LEVEL);
	if (ksyms_zstd.ZSTD_isError(bytes))
		return -ENOMEM;
	if (write(fd, packed, bytes) != (ssize_t)bytes)
		return errno ? -errno : -ENOSPC;
	return TAKE_FD(fd);
}

/* --- reading ----------------------------------------------------------------------------- */

static void ksyms_forget_text(struct ksyms *ksyms)
{
	free(ksyms->text);
	ksyms->text = NULL;
	ksyms->len = ksyms->size = 0;
}

static void ksyms_finish(struct ksyms *ksyms, int error)
{
	int fd = error ? error : ksyms_pack(ksyms->text, ksyms->len);

	ksyms_forget_text(ksyms);
	ksyms->reading = false;
	if (fd < 0) {
		log_warn(
			"addresses of the kernel will have no names: can't read /proc/kallsyms: %s",
			strerror(-fd));
	} else {
		close_fd(ksyms->file);
		ksyms->file = fd;
		ksyms->ready(ksyms);
	}
	if (ksyms->again)
		loop_timer_set(&ksyms->turn, SETTLE_US);
}

/* Return: bytes; 0: the end; negative errno. The kernel returns a page at most. */
static ssize_t ksyms_read(struct ksyms *ksyms)
{
	ssize_t n;

	if (ksyms->len >= TEXT_BYTES_MOST)
		return -EFBIG;
	if (ksyms->size - ksyms->len < READ_BYTES) {
		ksyms->size = MAX(2 * ksyms->size, TURN_BYTES);
		ksyms->text = xrealloc(ksyms->text, ksyms->size);
	}
	n = pread(ksyms->from, ksyms->text + ksyms->len, READ_BYTES, (off_t)ksyms->len);
	if (n < 0)
		return -errno;
	ksyms->len += (size_t)n;
	return n;
}

static void ksyms_turn(struct loop_timer *timer)
{
	struct ksyms *ksyms = container_of(timer, struct ksyms, turn);
	size_t begin = ksyms->len;
	ssize_t n = 1;

	if (!ksyms->reading)
		ksyms->again = false;
	ksyms->reading = true;
	while (n > 0 && ksyms->len - begin < TURN_BYTES)
		n = ksyms_read(ksyms);
	if (n > 0)
		loop_timer_set(&ksyms->turn, 0);
	else
		ksyms_finish(ksyms, (int)n);
}

/* One that comes while they are read may be in them in part. */
static void ksyms_module(struct loop_fd *source, uint32_t events)
{
	struct ksyms *ksyms = container_of(source, struct ksyms, modules);
	char text[4096];
	bool any = false;
	ssize_t n;

	(void)events;
	while ((n = recv(source->fd, text, sizeof(text) - 1, MSG_DONTWAIT)) > 0) {
		text[n] = '\0';
		any |= strncmp(text, "add@/module/", 12) == 0;
	}
	any |= n < 0 && errno == ENOBUFS;
	if (!any)
		return;
	if (ksyms->from >= 0) {
		ksyms->again = true;
		if (!ksyms->reading)
			loop_timer_set(&ksyms->turn, SETTLE_US);
	}
	ksyms->came(ksyms);
}

int ksyms_watch(void)
{
	const struct sockaddr_nl from_kernel = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&from_kernel, sizeof(from_kernel)) < 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	return fd < 0 ? -errno : fd;
}

void ksyms_init(struct ksyms *ksyms, struct loop *loop, void (*ready)(struct ksyms *ksyms),
		void (*came)(struct ksyms *ksyms))
{
	*ksyms = (struct ksyms){
		.from = -1, .file = -1, .ready = ready, .came = came, .modules.fd = -1
	};
	loop_timer_init(&ksyms->turn, loop, ksyms_turn);
}

void ksyms_fini(struct ksyms *ksyms)
{
	loop_timer_cancel(&ksyms->turn);
	loop_fd_fini(&ksyms->modules);
	ksyms_forget_text(ksyms);
	ksyms->file = close_fd(ksyms->file);
}

void ksyms_want(struct ksyms *ksyms, int from)
{
	if (ksyms->from >= 0 || from < 0)
		return;
	ksyms->from = from;
	loop_timer_set(&ksyms->turn, 0);
}

void ksyms_follow(struct ksyms *ksyms, int modules)
{
	if (modules < 0 || ksyms->modules.fd >= 0)
		return;
	if (loop_fd_init(&ksyms->modules, ksyms->turn.loop, modules, EPOLLIN, ksyms_module) < 0)
		log_warn("modules that come later are not noticed: their functions have no names");
}
