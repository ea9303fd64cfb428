// SPDX-License-Identifier: GPL-2.0-only
#include <linux/debugfs.h>
#include <linux/types.h>

#include "viewer.h"

/* viewer_program.S */
extern u8 viewer_program[];
extern const u64 viewer_bytes;

static struct debugfs_blob_wrapper viewer_blob;

struct dentry *viewer_add(struct dentry *folder)
{
	if (!viewer_bytes)
		return NULL;
	viewer_blob.data = viewer_program;
	viewer_blob.size = viewer_bytes;
	return debugfs_create_blob("ltt-view", 0400, folder, &viewer_blob);
}
