/*
 * Runs on the control thread; tools ask on threads of the runner's, while the control thread waits.
 */
#include "target/agent/rings.h"

#include "shared/arch/syscall.h"
#include "target/lifecycle/runner.h"
#include "target/runtime/page.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define EXPORT __attribute__((visibility("default")))

static struct rings *mapped;
static uint64_t mapped_size;
static int32_t mapped_by;
static struct boot_libc functions;

void rings_begin(const struct boot_libc *libc)
{
	functions = *libc;
	rings_drop();
}

static int check(int fd, uint64_t size)
{
	struct stat file;

	if (raw2(SYS_fstat, fd, &file))
		return -EBADF;
	return (uint64_t)file.st_size == size ? 0 : -EPROTO;
}

int rings_take(int fd, uint64_t size)
{
	int r = check(fd, size);
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
	mapped = (struct rings *)address;
	mapped_size = size;
	mapped_by = (int32_t)raw0(SYS_getpid);
	return 0;
}

/* Also by a tool's call that was given up: when it goes on, it goes on with this memory. */
static bool is_used(void)
{
	/* In a forked child nobody writes, and the word is its parent's. */
	if (mapped_by != (int32_t)raw0(SYS_getpid))
		return false;
	return mapped->is_held || runner_collect(&functions);
}

void rings_drop(void)
{
	if (mapped && !is_used())
		raw2(SYS_munmap, mapped, mapped_size);
	mapped = NULL;
}

EXPORT struct rings *limpet_agent_rings(void)
{
	return mapped;
}

EXPORT bool limpet_agent_is_own(int32_t tid)
{
	return tid == agent_page.control_tid || runner_is_thread(tid);
}

EXPORT const struct boot_libc *limpet_agent_libc(void)
{
	return &functions;
}
