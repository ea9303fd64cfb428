/* SPDX-License-Identifier: GPL-2.0-only */
#include "credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "metadata.h"

void credentials_fini(struct credentials *credentials)
{
	char *texts[] = { credentials->key, credentials->secret, credentials->token };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (texts[i])
			explicit_bzero(texts[i], strlen(texts[i]));
		free(texts[i]);
	}
	*credentials = (struct credentials){ 0 };
}

/* NULL: not set, or empty. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static const char *profile_name(void)
{
	const char *name = variable("AWS_PROFILE");

	return name ? name : "default";
}

/* --- files -------------------------------------------------------------------------- */

/* NULL: there is no home, so no such file. */
static char *aws_file(const char *setting, const char *name, const char *file)
{
	const char *given = setting ? setting : variable(name), *home = variable("HOME");

	return given ? xstrdup(given) : home ? xasprintf("%s/.aws/%s", home, file) : NULL;
}

static int read_text(int fd, const char *path, struct buf *ret, struct err *err)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0) {
		buf_append(ret, part, (size_t)n);
		if (ret->len > PROFILE_MAX_BYTES)
			return err_set(err, ERR_INVALID,
				       "%s: larger than %u bytes; correct the file", path,
				       PROFILE_MAX_BYTES);
	}
	return n < 0 ? err_errno(err, ERR_INVALID, errno, "%s can't be read", path) : 0;
}

/* @required: that there is none is a failure. */
static int read_file(struct profile *profile, const char *path, bool required, struct err *err)
{
	int fd AUTO_FD = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct buf text = { 0 };
	int rc;

	if (fd < 0)
		return path && (required || (errno != ENOENT && errno != ENOTDIR)) ?
			       err_errno(err, ERR_DENIED, errno, "%s can't be opened", path) :
			       0;
	rc = read_text(fd, path, &text, err);
	if (rc == 0)
		profile_read(profile, buf_text(&text), profile_name());
	if (text.data)
		explicit_bzero(text.data, text.size);
	buf_fini(&text);
	return rc;
}

static struct file_mark mark_of(const char *path)
{
	struct stat st;

	if (!path || stat(path, &st) != 0)
		return (struct file_mark){ 0 };
	return (struct file_mark){ st.st_mtim, st.st_ino, (uint64_t)st.st_size };
}

static bool same_mark(struct file_mark a, struct file_mark b)
{
	return a.changed.tv_sec == b.changed.tv_sec && a.changed.tv_nsec == b.changed.tv_nsec &&
	       a.inode == b.inode && a.size == b.size;
}

/* Unless they are as they were. A new file that is invalid leaves the settings as they were. */
static int read_files(struct account *account, bool first, struct err *err)
{
	const char *given = account->settings->credentials_file;
	char *paths[] = { aws_file(given, "AWS_SHARED_CREDENTIALS_FILE", "credentials"),
			  aws_file(NULL, "AWS_CONFIG_FILE", "config") };
	struct profile profile = { 0 };
	bool same = !first;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct file_mark mark = mark_of(paths[i]);

		same = same_mark(mark, account->marks[i]) && same;
		account->marks[i] = mark;
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths) && !same && rc == 0; i++)
		rc = read_file(&profile, paths[i], i == 0 && given, err);
	if (!same && rc == 0) {
		profile_fini(&account->profile);
		account->profile = profile;
		profile = (struct profile){ 0 };
		if (!account->fetched_s)
			credentials_fini(&account->current);
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		free(paths[i]);
	profile_fini(&profile);
	return rc;
}

/* --- the account ----------------------------------------------------------------------- */

int account_init(struct account *account, const struct s3_settings *settings, struct err *err)
{
	*account = (struct account){ .settings = settings };
	return read_files(account, true, err);
}

void account_fini(struct account *account)
{
	credentials_fini(&account->current);
	profile_fini(&account->profile);
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* A key and a secret, of one place. Return: whether there are both. */
static bool take_credentials(struct account *account, const char *key, const char *secret,
			     const char *token)
{
	if (!key || !secret)
		return false;
	credentials_fini(&account->current);
	account->fetched_s = 0;
	account->current = (struct credentials){ xstrdup(key), xstrdup(secret), copy(token), 0 };
	return true;
}

static int no_credentials(const struct account *account, struct err *err)
{
	if (account->profile.others)
		return err_set(err, ERR_DENIED,
			       "profile '%.100s' has '%s', which is not supported; give it "
			       "aws_access_key_id and aws_secret_access_key",
			       profile_name(), account->profile.others);
	return err_set(err, ERR_DENIED,
		       "no credentials for the store: set AWS_ACCESS_KEY_ID and "
		       "AWS_SECRET_ACCESS_KEY, or write them to profile '%.100s' of "
		       "~/.aws/credentials",
		       profile_name());
}

/* Those of a short life are fetched four times in it. */
static bool expires_soon(const struct account *account)
{
	int64_t now = time(NULL), expires_s = account->current.expires_s;
	int64_t each_s = MIN((expires_s - account->fetched_s) / 4, CREDENTIALS_EACH_S);

	return expires_s && now + CREDENTIALS_AHEAD_S >= expires_s &&
	       (now >= account->fetched_s + each_s || now < account->fetched_s);
}

/* Those that are there serve until they expire, if the service does not answer before. */
static int fetch(struct account *account, struct http *http, struct err *err)
{
	struct credentials fetched = { 0 };
	struct err why = { 0 };
	enum metadata_result result = metadata_fetch(http, account->settings->stop, &fetched, &why);

	if (result == METADATA_FETCHED) {
		credentials_fini(&account->current);
		account->current = fetched;
		account->fetched_s = time(NULL);
		return 0;
	}
	if (account->current.key && time(NULL) < account->current.expires_s)
		return 0;
	if (result == METADATA_NONE && !account->fetched_s)
		return no_credentials(account, err);
	return err_set(err, ERR_NO_ANSWER, "%s", why.text);
}

int account_refresh(struct account *account, struct http *http, bool rejected, struct err *err)
{
	int rc = read_files(account, false, err);

	if (rc != 0)
		return rc;
	if (account->current.key && !(account->fetched_s && rejected) && !expires_soon(account))
		return 0;
	if (!account->settings->credentials_file &&
	    take_credentials(account, variable("AWS_ACCESS_KEY_ID"),
			     variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_SESSION_TOKEN")))
		return 0;
	if (take_credentials(account, account->profile.key, account->profile.secret,
			     account->profile.token))
		return 0;
	if (account->settings->credentials_file)
		return no_credentials(account, err);
	return fetch(account, http, err);
}

static const char *either(const char *a, const char *b)
{
	return a ? a : b;
}

const char *account_region(const struct account *account)
{
	const char *region = either(variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"));

	return either(account->settings->region, either(region, account->profile.region));
}

const char *account_endpoint(const struct account *account)
{
	const char *endpoint =
		either(variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL"));

	return either(account->settings->endpoint, either(endpoint, account->profile.endpoint));
}

const char *account_ca_file(const struct account *account)
{
	const char *ca_file = either(variable("AWS_CA_BUNDLE"), account->profile.ca_file);

	return either(account->settings->ca_file, ca_file);
}
