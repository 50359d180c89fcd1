/*
 * Lists that grow by doubling.
 */
#pragma once

#include "shared/base/macros.h"

/* Room for one more item of that size behind `count`; `list` is the address of the pointer.  0 or
 * -ENOMEM, and then the list is as it was. */
int make_room(void *list, size_t count, size_t *room, size_t size) MUST_CHECK;
