/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crc32c.h - CRC-32C (Castagnoli: RFC 3720, appendix B.4), with the machine's
 * own instruction where it has one. Pure: bytes only; any thread.
 */
#ifndef TRACE_CRC32C_H
#define TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/** @crc: of the bytes before, 0 at first. "123456789" gives 0xe3069283. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/** The same by tables alone, for machines without such an instruction. */
uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t len);

#endif
