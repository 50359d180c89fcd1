/*
 * Writes of hooks of HSA functions that allocate and free device memory.
 */
#pragma once

#include "target/hooks/hook.h"

traced_write write_region_allocate, write_pool_allocate, write_free, write_handle_create,
	write_handle_release;
