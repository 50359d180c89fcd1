/*
 * Texts are loaded on the runner's thread, while a tool is configured or initialized.
 */
#include "target/amd/sinks/sdk/counters/definitions.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/store.h"
#include "target/runtime/page.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FLAG_APPEND 2

SDK_EXPORT int rocprofiler_load_counter_definition(const char *yaml, size_t size, int flags);

/* The last text, as in AMD's library; changed under counters_enter(). */
static struct {
	char *text; /* NULL: none */
	size_t size;
	bool replaces;
} given;
/* Has the host announced that it will fetch a text? Set under counters_enter(). */
static uint32_t is_awaited;

/* NULL: no memory. */
static char *text_copy(const char *text, size_t size)
{
	long address =
		raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (address < 0 && address > -4096)
		return NULL;
	memcpy((char *)address, text, size);
	return (char *)address;
}

/* Also without a text. */
static void given_drop(void)
{
	if (given.text)
		raw2(SYS_munmap, given.text, given.size);
	given.text = NULL;
	given.size = 0;
}

static bool given_is(const char *yaml, size_t size, bool replaces)
{
	return size == given.size &&
	       (!size || (replaces == given.replaces && !memcmp(yaml, given.text, size)));
}

/* Refuses a new text if a tool has ids, which would mean other counters; ids of the same text are
 * the same. */
static int given_take(const char *yaml, size_t size, bool replaces)
{
	char *copy;

	if (!__atomic_load_n(&is_awaited, __ATOMIC_RELAXED))
		return SDK_NOT_AVAILABLE;
	if (given_is(yaml, size, replaces))
		return SDK_SUCCESS;
	copy = size ? text_copy(yaml, size) : NULL;
	if (size && !copy)
		return SDK_OUT_OF_RESOURCES;
	if (!counters_hide()) {
		if (copy)
			raw2(SYS_munmap, copy, size);
		return SDK_ERROR;
	}
	given_drop();
	given.text = copy;
	given.size = size;
	given.replaces = replaces;
	return SDK_SUCCESS;
}

/* An empty text replaces the earlier one: the host then returns the machine's own counters. */
int rocprofiler_load_counter_definition(const char *yaml, size_t size, int flags)
{
	int r;

	if ((!yaml && size) || size > COUNTERS_TEXT_MAX)
		return SDK_INVALID_ARGUMENT;
	/* Without limpet no process reads the text. */
	if (!page_is_own() || !agent_page.control_tid)
		return SDK_NOT_AVAILABLE;
	if (contexts_configuring() < 0)
		return SDK_CONFIGURATION_LOCKED;
	if (!counters_enter())
		return SDK_OUT_OF_RESOURCES;
	r = given_take(yaml, size, flags != FLAG_APPEND);
	counters_leave();
	return r;
}

/* Checks that the file's pages exist: writing to a missing page without free memory would kill the
 * target. */
static int memory_check(int fd)
{
	struct stat file;

	if (raw2(SYS_fstat, fd, &file))
		return -EBADF;
	if ((uint64_t)file.st_size < given.size)
		return -E2BIG;
	return (uint64_t)file.st_blocks * 512 < given.size ? -ENOSPC : 0;
}

static int memory_fill(int fd)
{
	long address;
	int r = memory_check(fd);

	if (r)
		return r;
	address = raw6(SYS_mmap, 0, given.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (address < 0 && address > -4096)
		return (int)address;
	memcpy((char *)address, given.text, given.size);
	raw2(SYS_munmap, address, given.size);
	return 0;
}

static int text_hand_over(const struct control_counters *order, int fd, uint32_t *ret)
{
	uint32_t comes_again = order->header.flags & CONTROL_AGAIN;
	int r = 0;

	/* Waits for a thread that is loading a text, so its text is seen. */
	if (!comes_again)
		definitions_begin();
	if (!counters_enter())
		return -EBUSY;
	if (given.text)
		r = given.size > order->bytes ? -E2BIG : memory_fill(fd);
	if (!r) {
		*ret = (uint32_t)given.size |
		       (given.text && given.replaces ? COUNTERS_REPLACE : 0) |
		       (counters_are_hidden() ? COUNTERS_WAIT : 0);
		__atomic_store_n(&is_awaited, comes_again, __ATOMIC_RELAXED);
	}
	counters_leave();
	return r;
}

int counters_obey(const struct control_counters *order, int fd, uint32_t *ret)
{
	return order->header.flags & CONTROL_DEFINITIONS ? text_hand_over(order, fd, ret)
							 : counters_learn(fd, order->bytes);
}

void definitions_begin(void)
{
	__atomic_store_n(&is_awaited, 0, __ATOMIC_RELAXED);
}

void definitions_forget(void)
{
	given_drop();
}
