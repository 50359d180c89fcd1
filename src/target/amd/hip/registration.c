/*
 * The application may close HIP any time, and a thread may wait in the loader until tools are
 * detached: HIP's library is held while limpet registers, and the need is checked again after.
 */
#include "target/amd/hip/registration.h"

#include "target/amd/hip/activity.h"
#include "target/amd/tables/read.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/text.h"

#define REGISTER_NAME "hipRegisterTracerCallback"

typedef int on_activity_function(uint32_t domain, uint32_t command, void *data);
typedef void register_function(on_activity_function *function);

static register_function *registered; /* HIP's function that got limpet's callback */
static uint32_t is_following, is_outdated;

static bool is_there(uint64_t address)
{
	return !libc_can_iterate() || libc_are_of_one((const void *)address, (const void *)address);
}

/* The first HIP that the application has not closed. */
static const struct agent_table *hip_table(void)
{
	const struct agent_table *tables;
	uint32_t count = tables_known(&tables);

	for (uint32_t i = 0; i < count; i++)
		if (text_equal(tables[i].name, "hip") && is_there(tables[i].parts[0]))
			return &tables[i];
	return NULL;
}

/* Called while the table's library is held. */
static void registration_change(void *library, const struct agent_table *table, bool needs)
{
	register_function *found = (register_function *)libc_symbol(library, REGISTER_NAME);

	if (!found || (needs && !hip_open(table)))
		return;
	found(needs ? hip_on_activity : NULL);
	__atomic_store_n(&registered, needs ? found : NULL, __ATOMIC_SEQ_CST);
	if (!needs)
		hip_close();
	agent_page.has_hooked = 1;
}

/* An unmapped library takes the callback with it, and HIP's functions that limpet knew. */
static void registration_check(void)
{
	if (!registered || is_there((uint64_t)registered))
		return;
	__atomic_store_n(&registered, NULL, __ATOMIC_SEQ_CST);
	hip_close();
}

/* Uses the HIP that has limpet's callback, else the first. */
static void registration_follow(void)
{
	bool needs = hip_is_needed();
	const struct agent_table *table;
	void *library;

	registration_check();
	table = needs == (registered != NULL) ? NULL : hip_table();
	if (!table)
		return;
	library = libc_hold(needs ? (const void *)table->parts[0] : (const void *)registered);
	if (!library)
		return;
	registration_change(library, table, needs);
	libc_close(library);
}

void hip_follow(void)
{
	__atomic_store_n(&is_outdated, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&is_outdated, __ATOMIC_SEQ_CST) &&
	       !__atomic_exchange_n(&is_following, 1, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&is_outdated, 0, __ATOMIC_SEQ_CST);
		registration_follow();
		__atomic_store_n(&is_following, 0, __ATOMIC_SEQ_CST);
	}
}

bool hip_has_callback(void)
{
	return __atomic_load_n(&registered, __ATOMIC_SEQ_CST);
}

bool hip_is_registered(void)
{
	return __atomic_load_n(&is_following, __ATOMIC_SEQ_CST) || hip_has_callback();
}

void hip_registration_adopt(void)
{
	is_following = is_outdated = 0;
}
