// SPDX-License-Identifier: GPL-2.0-only
/* The device, its channels, their events and files, compiled as one: see Kbuild. */
#include "../device.c"
#include "../channel.c"
#include "../channel_file.c"
#include "../claim.c"
#include "../memory_file.c"
#include "../registry.c"
#include "../fields.c"
#include "../tracker.c"
#include "../family.c"
#include "../folder.c"
#include "../viewer.c"
