/*
 * Memory of devices, taken and given back through HSA: what the hooks of those functions write.
 */
#pragma once

#include "target/hooks/hook.h"

traced_write write_region_allocate, write_pool_allocate, write_free, write_handle_create,
	write_handle_release;
