/*
 * The kernel copies at least the first 64 descriptors, and closes the copies, as after a fork. Runs
 * inside the target: no libc.
 */
#include "target/runtime/table.h"

#include "shared/arch/syscall.h"

#include <linux/close_range.h>

bool table_leave(int kept)
{
	if (raw3(SYS_close_range, kept + 1, ~0u, CLOSE_RANGE_UNSHARE) < 0)
		return false;
	if (kept > 0)
		raw3(SYS_close_range, 0, kept - 1, 0);
	return true;
}
