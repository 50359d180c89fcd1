/*
 * Runs on the program's threads, in or after calls that they make.
 */
#include "target/sdk/tables/restart.h"

#include "target/runtime/page.h"
#include "target/runtime/text.h"
#include "target/sdk/devices/agents.h"
#include "target/sdk/devices/code.h"
#include "target/sdk/tables/intercept.h"
#include "target/sdk/tables/watch.h"

#define CORE_SYSTEM_INFO 2u
#define NOT_INITIALIZED  0x100b

typedef int system_info(uint32_t what, void *ret);

static void runtime_forget(void)
{
	agents_forget_hsa();
	code_forget_hsa();
}

void restart_registered(const struct agent_table *table)
{
	if (text_equal(table->name, "hsa"))
		runtime_forget();
}

static bool runtime_is_over(const struct agent_table *table)
{
	const struct api_table *core = &api_tables[0];
	uint16_t version;
	uint64_t *slots;

	return intercept_read(table, core, &slots) > CORE_SYSTEM_INFO &&
	       ((system_info *)intercept_original(core, CORE_SYSTEM_INFO, slots))(0, &version) ==
		       NOT_INITIALIZED;
}

/* Only the last of several takes the runtime down. */
void restart_after_shut_down(struct sdk_frame *frame, uint64_t end)
{
	uint32_t count = __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);

	(void)frame, (void)end;
	for (uint32_t i = 0; i < count; i++)
		if (runtime_is_over(&agent_page.tables[i])) {
			runtime_forget();
			intercept_add(&agent_page.tables[i]);
			return;
		}
}
