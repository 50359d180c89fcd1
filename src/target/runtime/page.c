/*
 * The agent's page, in the file-backed data of the library, where the host searches for its magic.
 */
#include "target/runtime/page.h"

#include "shared/arch/syscall.h"
#include "shared/wire/control.h"
#include "target/runtime/kernel_clock.h"

#include <time.h>

struct agent_page agent_page __attribute__((aligned(4096))) = {
	.magic = AGENT_PAGE_MAGIC,
	.version = AGENT_VERSION,
	.size = sizeof(struct agent_page),
};

void page_set_state(enum agent_state state)
{
	agent_page.since_ns = kernel_clock_ns(CLOCK_REALTIME);
	__atomic_store_n(&agent_page.state, state,
			 __ATOMIC_RELEASE); /* pairs with the host's read of the page */
}

_Bool page_is_own(void)
{
	return agent_page.pid == (int32_t)raw0(SYS_getpid);
}
