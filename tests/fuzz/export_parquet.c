/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any metadata and stream as Parquet files: names of events, hosts and fields, values and times.
 * The name of each file and directory is one that engines read.
 */
#include <fcntl.h>
#include <string.h>

#include "base/dir.h"
#include "base/macros.h"
#include "ctl/export/parquet/parquet.h"
#include "lib/view_dir.h"
#include "must_hold.h"
#include "read/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(int at_fd, const char *name, unsigned int depth)
{
	DIR *dir AUTO_DIR = dir_open(at_fd, name);
	struct dirent *entry;

	MUST_HOLD(dir);
	while ((entry = dir_next(dir))) {
		MUST_HOLD(strspn(entry->d_name,
				 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
				 "Z0123456789%-_.~=") == strlen(entry->d_name));
		MUST_HOLD(depth == 1 || *entry->d_name != '.');
		MUST_HOLD(depth > 0 || *entry->d_name != '_');
		if (depth < 3)
			check_names(dirfd(dir), entry->d_name, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view *view = fuzz_open(data, size);
	int dir_fd AUTO_FD = -1;
	char out[80];

	if (!view)
		return 0;
	snprintf(out, sizeof(out), "%s.out", fuzz_dir);
	MUST_HOLD(mkdir(out, 0700) == 0);
	dir_fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST_HOLD(parquet_write_view(view, &(struct view_select){ 0 }, dir_fd) == 0);
	view_free(view);
	check_names(dir_fd, ".", 0);
	dir_remove(AT_FDCWD, out);
	return 0;
}
