/*
 * Begins and ends sessions on limpet's thread, which must know when no thread is in the rings any
 * more, because these are then unmapped.
 */
#include "target/hooks/writer_private.h"

#include "target/runtime/kernel_clock.h"
#include "target/runtime/mapping.h"

#include <errno.h>
#include <string.h>

#define PAGE_BYTES  65536u
#define SETTLE_NS   5000000 /* more than enough for a store to become visible to all threads */
#define CLOSE_TRIES 200     /* a preempted thread runs again within this time */

/*
 * Unmapped only with the library: a thread may be preempted between reading the session and reading
 * its writer, and continue after the session. Its stores must not reach a writer of a later
 * session, so each session has its own writers, until the eighth session after it.
 */
struct writers {
	struct writer items[GENERATIONS][RINGS_SLOTS_MAX];
};

struct writer_switches *writer_switches;
static struct writers *writers;
struct generation writer_generations[GENERATIONS];
static struct rings *rings; /* NULL: no session */
static writer_is_own *is_own;
static uint32_t session;
static int32_t owner; /* the process: differs in a forked child */

static int make_switches(void)
{
	struct writer_switches *made =
		writer_switches ? writer_switches : memory_map(PAGE_BYTES, MAP_NORESERVE);

	if (!made)
		return -ENOMEM;
	if (!writer_switches && raw3(SYS_madvise, made, PAGE_BYTES, MADV_WIPEONFORK)) {
		memory_unmap(made, PAGE_BYTES);
		return -ENOTSUP;
	}
	writer_switches = made;
	return 0;
}

struct writer *writer_at(uint32_t number, uint32_t index)
{
	return &writers->items[number % GENERATIONS][index];
}

/* Returns the next number whose writers no thread uses; 0: threads are stuck in all of them. */
static uint32_t next_session(void)
{
	for (uint32_t i = 1; i <= GENERATIONS; i++)
		if (session + i && !generation_of(session + i)->rings)
			return session + i;
	return 0;
}

int writers_open(struct rings *given, writer_is_own *given_is_own)
{
	int r = make_switches();
	uint32_t next;

	if (r)
		return r;
	if (!writers)
		writers = memory_map(sizeof(*writers), MAP_NORESERVE);
	if (!writers)
		return -ENOMEM;
	writers_settle();
	next = next_session();
	if (!next)
		return -EBUSY;
	session = next;
	rings = given;
	is_own = given_is_own;
	owner = (int32_t)raw0(SYS_getpid);
	*generation_of(session) = (struct generation){ .rings = given };
	memset(writer_at(session, 0), 0, given->slot_count * sizeof(struct writer));
	/* Release: pairs with the acquire in writers_current(). */
	__atomic_store_n(&writer_switches->session, session, __ATOMIC_RELEASE);
	return 0;
}

void writers_forget(void)
{
	memset(writer_generations, 0, sizeof(writer_generations));
	rings = NULL;
}

static bool is_used(uint32_t number)
{
	const struct generation *generation = generation_of(number);

	if (__atomic_load_n(&generation->claiming, __ATOMIC_ACQUIRE))
		return true;
	for (uint32_t i = 0; i < generation->rings->slot_count; i++)
		/* Acquire: pairs with writer_end(). */
		if (__atomic_load_n(&writer_at(number, i)->busy, __ATOMIC_ACQUIRE) &&
		    raw3(SYS_tgkill, raw0(SYS_getpid), rings_slot(generation->rings, i)->tid, 0) !=
			    -ESRCH)
			return true;
	return false;
}

/*
 * A writer first stores `busy` and then reads the session; this thread clears the session, waits
 * until stores are visible, and then reads `busy`. So one of the two sees the other.
 */
bool writers_close(void)
{
	bool is_quiet = false;

	if (!rings)
		return true;
	__atomic_store_n(&writer_switches->session, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; !is_quiet && i < CLOSE_TRIES; i++) {
		sleep_ns(SETTLE_NS);
		is_quiet = !is_used(session);
	}
	if (is_quiet)
		generation_of(session)->rings = NULL;
	rings = NULL;
	return is_quiet;
}

/* In a forked child, generations are the parent's: unmapped there, but is_held is shared. */
void writers_settle(void)
{
	if (owner != (int32_t)raw0(SYS_getpid)) {
		writers_forget();
		return;
	}
	for (uint32_t i = 0; i < GENERATIONS; i++) {
		struct rings *held = writer_generations[i].rings;

		if (!held || held == rings || is_used(i))
			continue;
		writer_generations[i].rings = NULL;
		/* Release: from here on the host may have it unmapped. */
		__atomic_store_n(&held->is_held, 0, __ATOMIC_RELEASE);
	}
}

void writers_free(void)
{
	memory_unmap(writers, sizeof(*writers));
	memory_unmap(writer_switches, PAGE_BYTES);
	writers = NULL;
	writer_switches = NULL;
}

struct rings *writers_rings(void)
{
	return rings;
}

uint32_t writers_session(void)
{
	return session;
}

bool writers_own(int32_t tid)
{
	return is_own && is_own(tid);
}
