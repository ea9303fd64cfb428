/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * credentials.h - the access key of a store, and the settings beside it: from the environment
 * (AWS_ACCESS_KEY_ID, ...), from the profile AWS_PROFILE of ~/.aws/credentials and ~/.aws/config,
 * or from the metadata service of a cloud's machine (IMDSv2). Belongs to one handle of a store.
 */
#ifndef S3_CREDENTIALS_H
#define S3_CREDENTIALS_H

#include <time.h>

#include "http.h"
#include "profile.h"
#include "s3.h"

#define CREDENTIALS_AHEAD_S 300 /* they are fetched anew so long before they expire, */
#define CREDENTIALS_EACH_S 30	/* but no more often than this */

/** struct credentials - @token: NULL: of a user. @expires_s: Unix time; 0: never. */
struct credentials {
	char *key, *secret, *token;
	int64_t expires_s;
};

struct file_mark {
	struct timespec changed;
	uint64_t inode, size;
};

/**
 * struct account - @current: key is NULL: there are none yet. @profile: of the files as last read.
 * @fetched_s: when @current was fetched from the metadata service; 0: it is of another place.
 */
struct account {
	const struct s3_settings *settings;
	struct credentials current;
	struct profile profile;
	struct file_mark marks[2];
	int64_t fetched_s;
};

/** Read environment and files. */
int account_init(struct account *account, const struct s3_settings *settings,
		 struct err *err) MUST_CHECK;
void account_fini(struct account *account);
/**
 * account_refresh() - have credentials which are valid: files that have changed are read again,
 * those of a machine are fetched before they expire. @rejected: fetch them in any case.
 * Return: 0; ERR_DENIED: there are none; ERR_NO_ANSWER: the service did not answer.
 */
int account_refresh(struct account *account, struct http *http, bool rejected,
		    struct err *err) MUST_CHECK;
/** From settings, environment, profile, in this order; NULL: from nowhere. */
const char *account_region(const struct account *account);
const char *account_endpoint(const struct account *account);
const char *account_ca_file(const struct account *account);

void credentials_fini(struct credentials *credentials);

#endif
