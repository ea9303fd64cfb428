/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel_open: take the device of a module that was loaded after this daemon was started. */
#include "cmd.h"

#include "base/log.h"

static enum cmd_now take_kernel(struct command *cmd, struct req_kernel_open *req)
{
	struct kmod *kmod = &cmd->sd->kmod;

	if (cmd->caller.uid != 0)
		return command_error(cmd, ERR_DENIED, "only root may open the kernel's module");
	if (!kmod->awaited)
		return command_error(cmd, ERR_STATE,
				     "the session daemon waits for no module of the kernel");
	if (req->device < 0)
		return command_error(cmd, ERR_INVALID, "the device of the module is missing");
	kmod_take(kmod, TAKE_FD(req->device), cmd->sd->clock.kind);
	if (kmod->fd < 0)
		return command_error(cmd, ERR_UNSUPPORTED, "%s", kmod->why);
	log_info("the kernel is traced: its module was loaded");
	conditions_module_came(&cmd->sd->conditions);
	return CMD_DONE;
}

enum cmd_now cmd_kernel_open(struct command *cmd, struct req_kernel_open *req,
			     struct rep_kernel_open *rep)
{
	enum cmd_now now = take_kernel(cmd, req);

	(void)rep;
	close_fd(req->device);
	return now;
}
