/*
 * The control thread waits for its host: closing that connection for reading wakes it.  The kernel
 * clears the thread's number in its block when it ends.
 */
#include "target/agent/departure.h"

#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "target/runtime/page.h"

#include <errno.h>
#include <sys/socket.h>

#define EXPORT __attribute__((visibility("default")))

static uint32_t is_wanted;
static uint32_t threads; /* of who tells us */
static struct descriptor connection;
static const int32_t *number_of_thread; /* NULL: libc does not say where it is */
static int32_t thread;

void departure_prepare(const struct boot_libc *libc, int socket)
{
	__atomic_store_n(&is_wanted, 0, __ATOMIC_RELAXED);
	limpet_agent_expect(0);
	connection = descriptor_see(socket);
	thread = (int32_t)raw0(SYS_gettid);
	number_of_thread = libc->thread_number
				   ? (const int32_t *)(thread_pointer() + libc->thread_number)
				   : NULL;
}

bool departure_is_wanted(void)
{
	return __atomic_load_n(&is_wanted, __ATOMIC_ACQUIRE);
}

EXPORT void limpet_agent_expect(unsigned count)
{
	__atomic_store_n(&threads, count, __ATOMIC_RELAXED);
}

unsigned departure_threads(void)
{
	return __atomic_load_n(&threads, __ATOMIC_RELAXED);
}

EXPORT void limpet_agent_leave(void)
{
	__atomic_store_n(&is_wanted, 1, __ATOMIC_RELEASE); /* pairs with departure_is_wanted() */
	if (descriptor_is_own(&connection))
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
