/* SPDX-License-Identifier: GPL-2.0-only */
/* maps.h - the event vm_map_exec: a process maps code of a file, by exec, dlopen() and others. */
#ifndef KMOD_MAPS_H
#define KMOD_MAPS_H

/** Adds the event to the registry. Return: 0 or -ENOMEM. */
int maps_init(void);

#endif
