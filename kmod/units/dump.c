// SPDX-License-Identifier: GPL-2.0-only
/* dump/, compiled as one: see Kbuild. */
#include "../dump/dump.c"
#include "../dump/tasks.c"
#include "../dump/system.c"
#include "../dump/kvm.c"
#include "../dump/changes.c"
#include "../dump/argv.c"
#include "../dump/maps.c"
