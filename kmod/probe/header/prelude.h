/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prelude.h - headers that trace headers depend on but do not include, as the kernel's sources
 * include them before. includes.txt has those that only one trace header needs.
 *
 * It is compiled once (scripts/build), so it begins with the headers that the kernel's makefiles
 * include.
 */
#ifndef PROBES_PRELUDE_H
#define PROBES_PRELUDE_H

#include <linux/kconfig.h>
#include <linux/compiler_types.h>

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/types.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sched/signal.h>
#include <linux/sched/cputime.h>
#include <linux/mm.h>
#include <linux/fs.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/ktime.h>
#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/blkdev.h>
#include <linux/device.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>
#include <linux/writeback.h>
#include <net/sock.h>

#endif
