/* SPDX-License-Identifier: GPL-2.0-only */
/* Every kind of field, in C. */
#include "tracepoint_fields.h"

int main(void)
{
	test_all_fields();
	return 0;
}
