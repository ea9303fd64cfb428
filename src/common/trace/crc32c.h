/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crc32c.h - CRC-32C (Castagnoli: RFC 3720, appendix B.4), by the CPU's
 * instruction if it has one. Pure; any thread.
 */
#ifndef TRACE_CRC32C_H
#define TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/** @crc: CRC of the preceding bytes; 0 at the beginning. That of "123456789" is 0xe3069283. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/** The same by tables only, for CPUs without such an instruction. */
uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t len);

#endif
