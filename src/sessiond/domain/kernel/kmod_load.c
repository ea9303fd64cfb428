/* SPDX-License-Identifier: GPL-2.0-only */
#include "kmod_load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#ifndef HAVE_KMOD

int kmod_load(char *why, size_t len)
{
	snprintf(why, len,
		 "the kernel module is not loaded, and this build can't load it (it is without "
		 "libkmod): run `modprobe ltt`, then start the session daemon again");
	return -ENOSYS;
}

#else

#include <libkmod.h>

static struct kmod_ctx *drop_ctx(struct kmod_ctx *ctx)
{
	return ctx ? kmod_unref(ctx) : NULL;
}

static void cleanup_ctx(struct kmod_ctx **ctx)
{
	drop_ctx(*ctx);
}

static void cleanup_list(struct kmod_list **list)
{
	kmod_module_unref_list(*list);
}

/* The kernel's reason to reject a module. */
static void kmod_load_explain(int error, char *why, size_t len)
{
	switch (error) {
	case -EKEYREJECTED:
	case -ENOKEY:
	case -EBADMSG:
		snprintf(why, len,
			 "the kernel accepts signed modules only (Secure Boot), and ltt.ko is not "
			 "signed with a key that it trusts: sign it (with DKMS: `mokutil --import "
			 "/var/lib/dkms/mok.pub`, then reboot), or switch Secure Boot off");
		return;
	case -EPERM:
		snprintf(why, len,
			 "this daemon may not load modules, as in a container or under kernel "
			 "lockdown: run `modprobe ltt` on the host, then start the daemon again");
		return;
	case -ENOEXEC:
		snprintf(
			why, len,
			"ltt.ko was built for another kernel: build it for this one (`make kmod`, or "
			"`dkms autoinstall`), then start the session daemon again");
		return;
	}
	snprintf(why, len, "the kernel rejected the module ltt: %s; its log (`dmesg`) may show why",
		 strerror(-error));
}

static void explain_missing(char *why, size_t len)
{
	struct utsname kernel;

	uname(&kernel);
	snprintf(why, len,
		 "there is no module ltt for this kernel (%s): build and install it (DKMS, or "
		 "`make kmod`; see doc/kernel.md), then start the session daemon again",
		 kernel.release);
}

int kmod_load(char *why, size_t len)
{
	struct kmod_ctx *ctx __attribute__((cleanup(cleanup_ctx))) = kmod_new(NULL, NULL);
	struct kmod_list *list __attribute__((cleanup(cleanup_list))) = NULL;
	struct kmod_list *entry;
	int ret = -ENOENT;

	if (ctx)
		kmod_set_log_priority(ctx, 0); /* this function reports it itself */
	if (!ctx || kmod_module_new_from_lookup(ctx, "ltt", &list) < 0 || !list) {
		explain_missing(why, len);
		return -ENOENT;
	}
	kmod_list_foreach(entry, list)
	{
		struct kmod_module *module = kmod_module_get_module(entry);

		ret = kmod_module_probe_insert_module(module, 0, NULL, NULL, NULL, NULL);
		kmod_module_unref(module);
		if (ret < 0)
			break;
	}
	if (ret == -ENOENT)
		explain_missing(why, len);
	else if (ret != 0)
		kmod_load_explain(ret, why, len);
	return ret > 0 ? -EPERM : ret;
}

#endif
