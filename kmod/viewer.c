// SPDX-License-Identifier: GPL-2.0-only
#include <linux/debugfs.h>
#include <linux/types.h>

#include "viewer.h"

/* viewer_program.S */
extern u8 viewer_program[];
extern const u64 viewer_bytes;

static struct debugfs_blob_wrapper viewer_blob;

void viewer_add(struct dentry *folder)
{
	if (!viewer_bytes)
		return;
	viewer_blob.data = viewer_program;
	viewer_blob.size = viewer_bytes;
	debugfs_create_blob("ltt-view", 0400, folder, &viewer_blob);
}
