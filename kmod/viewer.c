// SPDX-License-Identifier: GPL-2.0-only
#include <linux/debugfs.h>
#include <linux/types.h>

#include "viewer.h"

/* viewer_program.S */
extern u8 viewer_program[];
extern const u64 viewer_bytes;

static struct debugfs_blob_wrapper viewer_blob;
static struct dentry *viewer_folder;

void viewer_init(void)
{
	if (!viewer_bytes)
		return;
	viewer_blob.data = viewer_program;
	viewer_blob.size = viewer_bytes;
	viewer_folder = debugfs_create_dir("ltt", NULL);
	debugfs_create_blob("ltt-view", 0400, viewer_folder, &viewer_blob);
}

/* Waits for its readers. */
void viewer_fini(void)
{
	debugfs_remove(viewer_folder);
}
