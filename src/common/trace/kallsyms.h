/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kallsyms.h - the file with the functions of the kernel and of its modules, beside the metadata of
 * a kernel trace: zstd frames (RFC 8878) of text in the format of /proc/kallsyms, in the order of
 * addresses, after a line with the magic. A symbol of another kind than a function is there where a
 * function ends at it.
 */
#ifndef TRACE_KALLSYMS_H
#define TRACE_KALLSYMS_H

/** Hidden, as other files of a trace's directory are streams. */
#define KALLSYMS_FILE ".kallsyms.zst"
#define KALLSYMS_MAGIC "# ltt-kallsyms 1\n"
/** In place of the symbols: the kernel hides its addresses, by the sysctl kernel.kptr_restrict. */
#define KALLSYMS_HIDDEN "# hidden\n"

#define KALLSYMS_BYTES_MOST (32u << 20)	 /* of the text */
#define KALLSYMS_PACKED_MOST (16u << 20) /* of the file */
#define KALLSYMS_LINES_MOST (1u << 19)

/** Kinds of symbols that are functions. */
#define KALLSYMS_FUNCTIONS "tTwW"

/** Addresses of the kernel: the upper half, with all machines of 64 bits. */
#define KALLSYMS_FIRST (1ull << 63)

#endif
