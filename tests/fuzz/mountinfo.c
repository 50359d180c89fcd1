/*
 * Fuzzes the search of /proc/PID/mountinfo: its paths and options are the target's.
 */
#include "fuzz.h"

#include <sys/sysmacros.h>

#include "host/process/file_system.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uid_t owner = 12345;
	int r = fuse_owner_find((const char *)bytes, size, makedev(0, 45), &owner);

	(void)mounts_find_flushed((const char *)bytes, size, size);
	(void)mounts_have((const char *)bytes, size, size);
	(void)mounts_have_strangers((const char *)bytes, size, 0);
	must(r ? owner == 12345 : owner != (uid_t)-1);
	return 0;
}
