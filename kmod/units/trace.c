// SPDX-License-Identifier: GPL-2.0-only
/* trace/, compiled as one: see Kbuild. */
#include "../trace/record.c"
#include "../trace/classes.c"
#include "../trace/cursor.c"
#include "../trace/merge.c"
#include "../trace/trace.c"
#include "../trace/line.c"
#include "../trace/text.c"
#include "../trace/text_folder.c"
#include "../trace/control.c"
