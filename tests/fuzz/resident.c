/*
 * Fuzzes the agent's page: the first byte says whether it is headed as our own, the rest is the
 * page.  A file stands for the memory of the target.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/attach/facts/resident.h"
#include "shared/wire/control.h"

#define START 0x1000u

static struct mapping mapping = {
	START,
	START + 0x4000,
	.writable = true,
	.path = "/memfd:" AGENT_MEMFD_NAME " (deleted)",
};

static void put(struct target *target, const uint8_t *bytes, size_t size)
{
	struct agent_page page = { 0 };

	if (size > 1)
		memcpy(&page, bytes + 1, MIN(size - 1, sizeof(page)));
	if (size && bytes[0] % 2) {
		memcpy(page.magic, AGENT_PAGE_MAGIC, sizeof(page.magic));
		page.version = AGENT_VERSION;
		page.size = sizeof(page);
		page.state %= AGENT_STATE_RESTING + 2;
		page.tool_count %= AGENT_TOOLS_MAX + 2;
	}
	must(pwrite(target->memory, &page, sizeof(page), START) == sizeof(page));
}

static void check(const struct agent_page *page)
{
	must(page->version == AGENT_VERSION && page->size == sizeof(*page));
	must(page->state <= AGENT_STATE_RESTING && page->tool_count <= AGENT_TOOLS_MAX);
	must(strnlen(page->holder_name, sizeof(page->holder_name)) < sizeof(page->holder_name));
	for (unsigned i = 0; i < AGENT_TOOLS_MAX; i++)
		must(strnlen(page->tools[i].path, TOOL_PATH_MAX) < TOOL_PATH_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct target target = { .memory = -1 };
	struct resident resident;

	if (target.memory < 0) {
		target.memory = memfd_create("memory", MFD_CLOEXEC);
		must(target.memory >= 0 && !ftruncate(target.memory, (off_t)mapping.end));
		target.process.maps = (struct maps){ &mapping, 1 };
	}
	put(&target, bytes, size);
	if (resident_find(&target, &resident))
		return 0;
	must(resident.address == START);
	check(&resident.page);
	target.process.status.inner_pid = resident.page.pid;
	(void)resident_is_held(&target, &resident);
	return 0;
}
