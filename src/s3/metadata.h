/* SPDX-License-Identifier: GPL-2.0-only */
/* metadata.h - credentials of a cloud's machine, from its metadata service (IMDSv2). */
#ifndef S3_METADATA_H
#define S3_METADATA_H

#include "credentials.h"

enum metadata_result {
	METADATA_FETCHED,
	METADATA_NONE,	 /* there is no service, or the machine has no role */
	METADATA_FAILED, /* it answers an error, or nothing that can be read */
};

/** @err: set unless they are fetched. */
enum metadata_result metadata_fetch(struct http *http, const bool *stop, struct credentials *ret,
				    struct err *err);
/** metadata_parse() - the service's answer, which is untrusted. Return: whether it is complete. */
bool metadata_parse(const char *text, struct credentials *ret);

#endif
