/* SPDX-License-Identifier: GPL-2.0-only */
/* memory_file.h - descriptors through which a reader maps a ring set. Process context only. */
#ifndef KMOD_MEMORY_FILE_H
#define KMOD_MEMORY_FILE_H

#include "ring.h"

struct file;

/** A file that holds a reference of the set: its data (read only) or its ctl pages. */
struct file *memory_file_data(struct ring_set *set);
struct file *memory_file_ctl(struct ring_set *set);

#endif
