// SPDX-License-Identifier: GPL-2.0-only
/* All of ltt_instr.ko, compiled as one: see Kbuild. */
#include "../instr/module.c"
#include "../instr/callbacks.c"
#include "../instr/hits.c"
#include "../instr/markers.c"
#include "../instr/marker_format.c"
#include "../instr/folder.c"
#include "../instr/clock.c"
#include "../instr/symbols.c"
#include "../instr/syscall_names.c"
