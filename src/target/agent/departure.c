/*
 * The control thread waits for its host: shutting that socket down for reading wakes it. The kernel
 * clears the thread's ID in its thread block when it ends.
 */
#include "target/agent/departure.h"

#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "target/runtime/page.h"

#include <errno.h>
#include <sys/socket.h>

#define EXPORT __attribute__((visibility("default")))

static uint32_t is_wanted, may_call;
static struct descriptor connection;
/* NULL: unknown for this libc, or libc may unmap it: the register library's thread has a stack of
 * libc's, which another thread may get after its end. */
static const int32_t *number_of_thread;
static int32_t thread;

void departure_prepare(const struct boot_context *boot, int socket)
{
	__atomic_store_n(&is_wanted, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&may_call, 0, __ATOMIC_RELAXED);
	connection = descriptor_see(socket);
	thread = (int32_t)raw0(SYS_gettid);
	number_of_thread = boot->libc.thread_number && boot->way != BOOT_WAY_LISTENER
				   ? (const int32_t *)(thread_pointer() + boot->libc.thread_number)
				   : NULL;
}

bool departure_is_wanted(void)
{
	return __atomic_load_n(&is_wanted, __ATOMIC_ACQUIRE);
}

void departure_allow_calls(void)
{
	__atomic_store_n(&may_call, 1, __ATOMIC_RELAXED);
}

EXPORT bool limpet_agent_may_call(void)
{
	return __atomic_load_n(&may_call, __ATOMIC_RELAXED);
}

EXPORT void limpet_agent_leave(void)
{
	__atomic_store_n(&is_wanted, 1, __ATOMIC_RELEASE); /* pairs with departure_is_wanted() */
	if (descriptor_is_ours(&connection))
		raw2(SYS_shutdown, connection.fd, SHUT_RD);
}

EXPORT bool limpet_agent_has_left(void)
{
	/* Acquire: pairs with page_set_state(). */
	if (__atomic_load_n(&agent_page.state, __ATOMIC_ACQUIRE) != AGENT_STATE_RESTING)
		return false;
	if (number_of_thread)
		return !__atomic_load_n(number_of_thread, __ATOMIC_ACQUIRE);
	return raw3(SYS_tgkill, raw0(SYS_getpid), thread, 0) == -ESRCH;
}
