/*
 * Reads and compares identities.  Stops nothing.
 */
#include "host/process/identity.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/process/memory.h"
#include "host/process/stat.h"

int identity_read(pid_t pid, pid_t tid, struct identity *ret, struct err *err)
{
	CLEANUP(close) int memory = memory_open(tid);
	struct process_stat stat;
	struct err ignored;
	uint64_t random;
	int r = stat_read(pid, 0, &stat, err);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	ret->pid = pid;
	ret->start_tick = stat.start_tick;
	if (auxv_read(tid, &ret->auxv, &ignored) < 0)
		return 0;
	random = auxv_value(&ret->auxv, AT_RANDOM);
	ret->has_random = random && memory_read(memory, random, ret->random, sizeof(ret->random));
	return 0;
}

enum identity_change identity_compare(const struct identity *before, const struct identity *now)
{
	if (before->pid != now->pid || before->start_tick != now->start_tick)
		return IDENTITY_REUSED;
	if (before->auxv.size != now->auxv.size ||
	    memcmp(before->auxv.bytes, now->auxv.bytes, now->auxv.size) != 0)
		return IDENTITY_EXEC;
	if (before->has_random && now->has_random &&
	    memcmp(before->random, now->random, sizeof(now->random)) != 0)
		return IDENTITY_EXEC;
	return IDENTITY_SAME;
}
