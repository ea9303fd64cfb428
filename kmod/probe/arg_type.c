// SPDX-License-Identifier: GPL-2.0-only
#include "arg_type.h"

#include <linux/kernel.h>
#include <linux/string.h>

static const struct {
	const char *name;
	u8 bytes;
	bool is_signed;
} types[] = {
	{ "char", 1, true },		{ "signed char", 1, true },
	{ "unsigned char", 1 },		{ "bool", 1 },
	{ "u8", 1 },			{ "s8", 1, true },
	{ "__u8", 1 },			{ "uint8_t", 1 },
	{ "short", 2, true },		{ "unsigned short", 2 },
	{ "u16", 2 },			{ "s16", 2, true },
	{ "__u16", 2 },			{ "uint16_t", 2 },
	{ "umode_t", 2 },		{ "__be16", 2 },
	{ "int", 4, true },		{ "unsigned int", 4 },
	{ "unsigned", 4 },		{ "uint", 4 },
	{ "u32", 4 },			{ "s32", 4, true },
	{ "__u32", 4 },			{ "__s32", 4, true },
	{ "uint32_t", 4 },		{ "int32_t", 4, true },
	{ "__be32", 4 },		{ "__le32", 4 },
	{ "pid_t", 4, true },		{ "uid_t", 4 },
	{ "gid_t", 4 },			{ "qid_t", 4 },
	{ "key_t", 4, true },		{ "key_serial_t", 4, true },
	{ "timer_t", 4, true },		{ "clockid_t", 4, true },
	{ "mqd_t", 4, true },		{ "rwf_t", 4, true },
	{ "gfp_t", 4 },			{ "dev_t", 4 },
	{ "long", 8, true },		{ "unsigned long", 8 },
	{ "long long", 8, true },	{ "unsigned long long", 8 },
	{ "u64", 8 },			{ "s64", 8, true },
	{ "__u64", 8 },			{ "__s64", 8, true },
	{ "uint64_t", 8 },		{ "int64_t", 8, true },
	{ "__be64", 8 },		{ "__le64", 8 },
	{ "size_t", 8 },		{ "ssize_t", 8, true },
	{ "loff_t", 8, true },		{ "off_t", 8, true },
	{ "sector_t", 8 },		{ "ktime_t", 8, true },
	{ "ino_t", 8 },			{ "aio_context_t", 8 },
};

u32 arg_type(const char *name, u8 *ret_signed)
{
	size_t i;

	if (!strncmp(name, "const ", 6))
		name += 6;
	if (strchr(name, '*')) {
		*ret_signed = false;
		return sizeof(void *);
	}
	if (!strncmp(name, "enum ", 5)) {
		*ret_signed = false;
		return sizeof(int);
	}
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].name, name))
			continue;
		*ret_signed = types[i].is_signed;
		return types[i].bytes;
	}
	return 0;
}
