/*
 * Runs on the control thread; tools ask on threads of the runner's, while the control thread waits.
 */
#include "target/agent/rings.h"

#include "shared/arch/syscall.h"
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

void rings_drop(void)
{
	/* In a forked child nobody writes, and the word is its parent's. */
	if (mapped && (!mapped->is_held || mapped_by != (int32_t)raw0(SYS_getpid)))
		raw2(SYS_munmap, mapped, mapped_size);
	mapped = NULL;
}

EXPORT struct rings *limpet_agent_rings(void)
{
	return mapped;
}

EXPORT uint32_t limpet_agent_tables(const struct agent_table **ret)
{
	*ret = agent_page.tables;
	/* Acquire: pairs with the release in tables_note(). */
	return __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);
}

EXPORT const struct boot_libc *limpet_agent_libc(void)
{
	return &functions;
}
