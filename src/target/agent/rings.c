/*
 * Runs on the control thread; tools call on the runner's threads, while the control thread waits.
 */
#include "target/agent/rings.h"

#include "shared/arch/syscall.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/forks.h"
#include "target/runtime/page.h"
#include "target/runtime/text.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define EXPORT __attribute__((visibility("default")))

#define KEPT_MAX 8 /* the tracer begins no more sessions */

struct mapping {
	struct rings *rings;
	uint64_t size;
	int32_t by; /* the process: a forked child has its parent's mapping */
};

static struct mapping mapped;
static struct mapping kept[KEPT_MAX]; /* application threads were inside at the session's end */
static struct boot_libc functions;

void rings_begin(const struct boot_libc *libc)
{
	functions = *libc;
	rings_drop();
}

static int memory_check(int fd, uint64_t size)
{
	struct stat file;

	if (raw2(SYS_fstat, fd, &file))
		return -EBADF;
	return (uint64_t)file.st_size == size ? 0 : -EPROTO;
}

int rings_take(int fd, uint64_t size)
{
	int r = memory_check(fd, size);
	long address;

	rings_drop();
	if (r)
		return r;
	address = raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (address < 0 && address > -4096)
		return (int)address;
	r = rings_check((const struct rings *)address, size);
	if (r || ((const struct rings *)address)->request[RINGS_REQUEST_MAX - 1]) {
		raw2(SYS_munmap, address, size);
		return -EPROTO;
	}
	mapped = (struct mapping){ (struct rings *)address, size, (int32_t)raw0(SYS_getpid) };
	return 0;
}

/* Also used by a tool's call that timed out, which continues with this memory. In a forked child no
 * thread writes, and is_held is shared with the parent. */
static bool is_used(const struct mapping *mapping)
{
	if (mapping->by != (int32_t)raw0(SYS_getpid))
		return false;
	/* Acquire: pairs with the tracer's release, its last store. */
	return __atomic_load_n(&mapping->rings->is_held, __ATOMIC_ACQUIRE) ||
	       runner_collect(&functions);
}

/* True if it is unmapped. */
static bool mapping_unmap(struct mapping *mapping)
{
	if (mapping->rings && is_used(mapping))
		return false;
	if (mapping->rings)
		raw2(SYS_munmap, mapping->rings, mapping->size);
	mapping->rings = NULL;
	return true;
}

static void mapping_keep(const struct mapping *mapping)
{
	unsigned i = 0;

	while (i < KEPT_MAX && kept[i].rings)
		i++;
	if (i < KEPT_MAX)
		kept[i] = *mapping;
}

void rings_drop(void)
{
	for (unsigned i = 0; i < KEPT_MAX; i++)
		mapping_unmap(&kept[i]);
	if (!mapping_unmap(&mapped))
		mapping_keep(&mapped);
	mapped.rings = NULL;
}

unsigned rings_tracer_threads(void)
{
	return mapped.rings ? __atomic_load_n(&mapped.rings->tracer_threads, __ATOMIC_RELAXED) : 0;
}

EXPORT struct rings *limpet_agent_rings(void)
{
	return mapped.rings;
}

EXPORT bool limpet_agent_is_own(int32_t tid)
{
	return tid == agent_page.control_tid || runner_is_thread(tid);
}

EXPORT void limpet_agent_keep_tracer(const char *reason)
{
	if (!agent_page.tracer_stays[0])
		text_add(agent_page.tracer_stays, sizeof(agent_page.tracer_stays), 0, reason);
}

EXPORT bool limpet_agent_is_unloading(void)
{
	return agent_page.is_unloading;
}

EXPORT struct fork_turn *limpet_agent_turn(void)
{
	return forks_turn();
}

EXPORT const struct boot_libc *limpet_agent_libc(void)
{
	return &functions;
}
