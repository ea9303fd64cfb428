/* SPDX-License-Identifier: GPL-2.0-only */
#include "quota.h"

#include "ctl/connect.h"
#include "ctl/print/json.h"

static struct json_object *ctl_quota_record(const struct ltt_ctl_quota *quota)
{
	struct json_object *o = json_object_new_object();

	json_set_num(o, "user", quota->uid);
	json_set_bool(o, "in_roots", quota->in_roots);
	JSON_COPY(o, quota, name, used, limit);
	json_set_num(o, "times_refused", quota->refused);
	return o;
}

int quota_fetch(struct ctl *ctl, struct json_object **ret, struct err *err)
{
	struct ltt_ctl_quotas *list;

	if (ctl_done(ctl, ltt_ctl_list_quotas(ctl->library, &list), err) != 0)
		return err->code;
	*ret = json_object_new_array();
	for (size_t i = 0; i < list->nr; i++)
		json_object_array_add(*ret, ctl_quota_record(list->quotas[i]));
	ltt_ctl_quotas_free(list);
	return 0;
}
