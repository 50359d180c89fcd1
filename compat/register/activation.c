/*
 * Calls each callback once: from the tool's activation or from its own late registration, whichever
 * is first.  Runs inside the target, on any thread, without a lock.
 */
#include "compat/register/activation.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CALLBACKS_MAX 64
#define NAME_MAX_SIZE 32

enum callback_state {
	CALLBACK_NONE, /* being written */
	CALLBACK_WAITING,
	CALLBACK_CALLED,
};

static struct callback {
	uint32_t state; /* enum callback_state, stored last */
	rocprofiler_register_tool_activation_cb_t function;
	void *data;
	char runtime[NAME_MAX_SIZE];
} callbacks[CALLBACKS_MAX];

static uint32_t used;
static uint32_t mode_now; /* rocprofiler_register_tool_activation_mode_t */

static uint32_t count_callbacks(void)
{
	uint32_t count = __atomic_load_n(&used, __ATOMIC_SEQ_CST);

	return count < CALLBACKS_MAX ? count : CALLBACKS_MAX;
}

static bool is_known(const char *runtime, rocprofiler_register_tool_activation_cb_t function,
		     const void *data)
{
	for (uint32_t i = 0; i < count_callbacks(); i++) {
		const struct callback *self = &callbacks[i];

		/* Pairs with the store in activation_add(). */
		if (__atomic_load_n(&self->state, __ATOMIC_SEQ_CST) != CALLBACK_NONE &&
		    self->function == function && self->data == data &&
		    !strncmp(self->runtime, runtime, NAME_MAX_SIZE - 1))
			return true;
	}
	return false;
}

static void call_once(struct callback *self, uint32_t mode)
{
	uint32_t waiting = CALLBACK_WAITING;

	if (__atomic_compare_exchange_n(&self->state, &waiting, CALLBACK_CALLED, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		self->function((rocprofiler_register_tool_activation_mode_t)mode, self->data);
}

/* An index that no other thread has, or -ENOSPC. */
static int take_index(void)
{
	uint32_t now = __atomic_load_n(&used, __ATOMIC_RELAXED);

	do {
		if (now == CALLBACKS_MAX)
			return -ENOSPC;
	} while (!__atomic_compare_exchange_n(&used, &now, now + 1, true, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return (int)now;
}

int activation_add(const char *runtime, rocprofiler_register_tool_activation_cb_t callback,
		   void *data)
{
	const char *name = runtime ? runtime : "";
	uint32_t mode;
	int index;

	if (is_known(name, callback, data))
		return 0;
	index = take_index();
	if (index < 0)
		return index;
	snprintf(callbacks[index].runtime, sizeof(callbacks[index].runtime), "%s", name);
	callbacks[index].function = callback;
	callbacks[index].data = data;
	/* Sequentially consistent: pairs with the announcement below, so that either it sees this
	 * entry, or this thread sees its mode. */
	__atomic_store_n(&callbacks[index].state, CALLBACK_WAITING, __ATOMIC_SEQ_CST);
	mode = __atomic_load_n(&mode_now, __ATOMIC_SEQ_CST);
	if (mode != ROCP_REG_TOOL_ACTIVATION_NONE)
		call_once(&callbacks[index], mode);
	return 0;
}

void activation_announce(rocprofiler_register_tool_activation_mode_t mode)
{
	uint32_t none = ROCP_REG_TOOL_ACTIVATION_NONE;

	if (!__atomic_compare_exchange_n(&mode_now, &none, mode, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return;
	for (uint32_t i = 0; i < count_callbacks(); i++)
		call_once(&callbacks[i], mode);
}
