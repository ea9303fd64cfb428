// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_instr.ko: functions of other modules at tracepoints, places and markers (ltt_probe.h,
 * ltt_marker.h), without a recorder. ltt.ko, the recorder, stands on it.
 */
#include <linux/module.h>

#include "callbacks.h"
#include "clock.h"
#include "folder.h"
#include "markers.h"

static int __init instr_init(void)
{
	int ret = instr_clock_init();

	if (!ret)
		ret = callbacks_init();
	if (ret)
		return ret;
	ret = instr_markers_init();
	if (ret)
		callbacks_fini();
	else
		instr_folder_init();
	return ret;
}

static void __exit instr_exit(void)
{
	instr_folder_fini();
	instr_markers_fini();
	callbacks_fini();
}

module_init(instr_init);
module_exit(instr_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("probes of ltt-control");
