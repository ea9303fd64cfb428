/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * save.h - the process that saves the events of the program that crashed. It runs beside the
 * handler of the core, which waits for it 100 ms at most: until the facts in /proc are read.
 */
#ifndef CRASH_SAVE_H
#define CRASH_SAVE_H

/**
 * save_begin() - start the process, which is no child of this one. Failures are silent: the core is
 * written in any case. The caller keeps its descriptors, and its children.
 * @core: path of the handler of the core, or of its file; "": none.
 */
void save_begin(const char *tid, const char *signal, const char *core);

#endif
