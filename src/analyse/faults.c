/* SPDX-License-Identifier: GPL-2.0-only */
#include "faults.h"

#include <string.h>

#include "read/event.h"

/* Bits of error_code; arch/x86/include/asm/trap_pf.h of the kernel. */
#define PF_PROT 0x1u
#define PF_WRITE 0x2u
#define PF_INSTR 0x10u

static uint64_t fault_number(const struct event *event, const char *field, bool *ret_has)
{
	const struct value *value = value_member(event->fields, field);

	*ret_has = value && value->type->kind == TYPE_INT;
	return *ret_has ? value->u : 0;
}

bool fault_of(struct fault *ret, const struct event *event)
{
	bool has_address, has_ip, has_code;
	uint64_t code = fault_number(event, "error_code", &has_code);

	*ret = (struct fault){
		.mode = strstr(event->ec->name, "page_fault_kernel") ? "kernel" : "user",
		.access = !has_code	    ? NULL :
			  (code & PF_INSTR) ? "execute" :
			  (code & PF_WRITE) ? "write" :
					      "read",
		.address = fault_number(event, "address", &has_address),
		.ip = fault_number(event, "ip", &has_ip),
		.present = code & PF_PROT,
	};
	return has_address && has_ip && strstr(event->ec->name, "page_fault_");
}
