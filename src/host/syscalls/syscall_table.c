/*
 * Names are from the compiler's headers (tools/make-syscall-numbers.py), shapes are limpet's.
 */
#include "host/syscalls/syscall_table.h"

#include <stdio.h>
#include <string.h>

/* Calls that may be newer than those headers.  From 424 on a call has one number on all
 * machines. */
static const char *const newer_names[SYSCALL_NUMBERS_MAX] = {
	[451] = "cachestat",         [452] = "fchmodat2",        [453] = "map_shadow_stack",
	[454] = "futex_wake",        [455] = "futex_wait",       [456] = "futex_requeue",
	[457] = "statmount",         [458] = "listmount",        [459] = "lsm_get_self_attr",
	[460] = "lsm_set_self_attr", [461] = "lsm_list_modules", [462] = "mseal",
	[463] = "setxattrat",        [464] = "getxattrat",       [465] = "listxattrat",
	[466] = "removexattrat",     [467] = "open_tree_attr",   [468] = "file_getattr",
	[469] = "file_setattr",
};

static const char *const names[SYSCALL_NUMBERS_MAX] = {
#define SYSCALL(number, name) [number] = (name),
#include "host/syscalls/syscall_numbers.h"
};

static const struct {
	const char *name;
	uint8_t shape;
} shapes[] = {
/* clang-format off */
#define SHAPE(name, shape) { #name, (shape) },
#include "host/syscalls/syscall_shapes.def"
	/* clang-format on */
};

static const char *known_name(uint32_t number)
{
	if (number >= SYSCALL_NUMBERS_MAX)
		return NULL;
	return names[number] ? names[number] : newer_names[number];
}

void syscall_name(int32_t number, bool is_32_bit, char *ret, size_t room)
{
	const char *name = is_32_bit ? NULL : known_name((uint32_t)number);

	if (name)
		snprintf(ret, room, "%s", name);
	else
		snprintf(ret, room, "syscall %d%s", number, is_32_bit ? " (32-bit)" : "");
}

uint8_t syscall_shape(uint32_t number)
{
	const char *name = known_name(number);

	for (size_t i = 0; name && i < ARRAY_SIZE(shapes); i++)
		if (!strcmp(shapes[i].name, name))
			return shapes[i].shape;
	return 0;
}
