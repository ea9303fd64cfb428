/* SPDX-License-Identifier: GPL-2.0-only */
/* markers.h - events of the markers of other modules, which instr/markers.h knows. */
#ifndef KMOD_PROBE_MARKERS_H
#define KMOD_PROBE_MARKERS_H

/** Return: 0 or -errno; then markers_fini() is to be called nevertheless. */
int markers_init(void);
/** No marker is recorded any more. */
void markers_fini(void);

#endif
