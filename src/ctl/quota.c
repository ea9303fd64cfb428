/* SPDX-License-Identifier: GPL-2.0-only */
#include "quota.h"

#include "base/mem.h"
#include "libctl/calls.h"
#include "record.h"

static int ctl_quota_take_quota(void *priv, unsigned int type, struct decoder *dec)
{
	struct json_object *o;
	struct msg_quota m;

	if (type != MSG_quota)
		return 0;
	if (msg_quota_decode(dec, &m) != 0)
		return ERR_BAD_MESSAGE;
	o = json_object_new_object();
	record_set_num(o, "user", m.uid);
	record_set_bool(o, "guest", m.guest);
	record_set_str(o, "name", m.name);
	record_set_num(o, "used", m.used);
	record_set_num(o, "limit", m.limit);
	record_set_num(o, "refused", m.refused);
	json_object_array_add(priv, o);
	return 0;
}

int quota_fetch(struct ctl *ctl, struct json_object **ret, struct err *err)
{
	struct json_object *quotas AUTO_RECORD = json_object_new_array();
	struct req_quota_list req;
	struct rep_quota_list rep;

	if (call_quota_list(ctl->client, &req, ctl_quota_take_quota, quotas, &rep, err) != 0)
		return err->code;
	*ret = TAKE(quotas);
	return 0;
}
