/* SPDX-License-Identifier: GPL-2.0-only */
#include "view_dir.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char fuzz_dir[64];

static void fuzz_dir_remove(void)
{
	static const char *const names[] = { "metadata", "s_0", "s_1", "index/s_0.idx" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", fuzz_dir, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/index", fuzz_dir);
	rmdir(path);
	rmdir(fuzz_dir);
}

void fuzz_dir_make(void)
{
	char path[128];

	if (fuzz_dir[0])
		return;
	snprintf(fuzz_dir, sizeof(fuzz_dir), "%s/view-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(fuzz_dir))
		abort();
	snprintf(path, sizeof(path), "%s/index", fuzz_dir);
	if (mkdir(path, 0700))
		abort();
	atexit(fuzz_dir_remove);
}

void fuzz_file(const char *name, const void *data, size_t len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	close(fd);
}

struct view *fuzz_open(const uint8_t *data, size_t size)
{
	size_t len = size >= 2 ? data[0] | (size_t)data[1] << 8 : 0;
	struct view *view;

	if (size < 2)
		return NULL;
	len = len < size - 2 ? len : size - 2;
	fuzz_dir_make();
	fuzz_file("metadata", data + 2, len);
	fuzz_file("s_0", data + 2 + len, size - 2 - len);
	return view_open(fuzz_dir, fuzz_report, NULL, &view) == 0 ? view : NULL;
}

void fuzz_report(void *priv, const char *sentence)
{
	(void)priv;
	if (!*sentence || strpbrk(sentence, "\n\033"))
		abort();
}

void fuzz_print(struct view *view, const struct view_select *select, enum view_format format)
{
	struct view_style style = { .format = format, .tasks = true };
	const struct view_summary *summary;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	out = open_memstream(&text, &len);
	if (!out || view_print(view, select, &style, out) < 0 || view_summary(view, &summary) < 0 ||
	    view_summary_print(summary, &style, out) < 0 || fclose(out))
		abort();
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 0x7f)
			abort();
	free(text);
	view_free(view);
}

void fuzz_view(const struct view_select *select, enum view_format format)
{
	struct view *view;

	if (view_open(fuzz_dir, fuzz_report, NULL, &view) == 0)
		fuzz_print(view, select, format);
}
