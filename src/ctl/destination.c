/* SPDX-License-Identifier: GPL-2.0-only */
#include "destination.h"

#include <stddef.h>
#include <string.h>

#include "io/relayurl.h"

static int destination_take_url(const char *url, const char **ret, struct err *err)
{
	if (relayurl_is_one(url)) {
		*ret = url;
		return 0;
	}
	if (strncmp(url, "file:", 5) != 0)
		return err_set(err, ERR_INVALID,
			       "'%s' is not a supported URL; use file:///DIR or net://RELAY", url);
	if (strncmp(url, "file:///", 8) != 0)
		return err_set(err, ERR_INVALID,
			       "'%s': a file URL needs an absolute path, as in "
			       "file:///tmp/snapshots",
			       url);
	*ret = url + strlen("file://");
	return 0;
}

int destination_take(const struct destination *given, const char **ret, struct err *err)
{
	*ret = given->path;
	if (given->data_url && !given->ctrl_url)
		return err_set(err, ERR_INVALID, "--data-url goes with --ctrl-url");
	if (!!given->path + !!given->url + !!given->ctrl_url > 1)
		return err_set(err, ERR_INVALID,
			       "a snapshot has one output: omit all but one of --path, --url and "
			       "--ctrl-url");
	if (given->ctrl_url && !relayurl_is_one(given->ctrl_url))
		return err_set(err, ERR_INVALID,
			       "--ctrl-url=%s: this is not the URL of a relay, as net://RELAY",
			       given->ctrl_url);
	if (given->url || given->ctrl_url)
		return destination_take_url(given->url ? given->url : given->ctrl_url, ret, err);
	return 0;
}
