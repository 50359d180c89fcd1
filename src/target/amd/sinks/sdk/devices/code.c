/*
 * Notifies tools of code objects and kernels: of those loaded, then of each load and unload.
 */
#include "target/amd/sinks/sdk/devices/code.h"

#include "target/amd/hsa/code_store.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/devices/agents.h"
#include "target/amd/sinks/sdk/service.h"
#include "target/runtime/text.h"

#include <string.h>

enum { OPERATION_LOAD = 1, OPERATION_KERNEL = 2 };

static uint32_t is_behind; /* the runtime could not be queried */

void code_adopt(void)
{
	code_store_adopt();
}

static void objects_scan(uint64_t executable)
{
	if (!code_loader_scan(executable))
		__atomic_store_n(&is_behind, 1, __ATOMIC_SEQ_CST);
}

static bool context_wants(unsigned context)
{
	return sdk_contexts[context].callbacks[CALLBACK_CODE_OBJECT].callback &&
	       context_state(&sdk_contexts[context]) == CONTEXT_ACTIVE;
}

static void context_notify(unsigned context, int operation, enum callback_phase phase, void *data)
{
	const struct operation_set *set =
		sdk_contexts[context].callbacks[CALLBACK_CODE_OBJECT].operations;
	struct service_event event = { .kind = CALLBACK_CODE_OBJECT,
				       .operation = operation,
				       .phase = phase,
				       .payload = data };
	uint64_t user_data = 0;

	if (!set || set->bits[0] >> operation & 1)
		service_notify(context, &event, &user_data);
}

static void notify_kernel(struct code_kernel *kernel, unsigned context)
{
	if (kernel->told >> context & 1 || kernel->is_gone)
		return;
	kernel->told |= 1ull << context;
	context_notify(context, OPERATION_KERNEL, PHASE_ENTER, &kernel->data);
}

static void notify_object(struct code_object *object, unsigned context)
{
	if (object->told >> context & 1 || object->is_gone)
		return;
	object->told |= 1ull << context;
	object->data.agent = agent_of_hsa(object->data.hsa_agent).handle;
	context_notify(context, OPERATION_LOAD, PHASE_ENTER, &object->data);
}

static void notify_all(unsigned context)
{
	for (uint32_t i = 0; i < code_store->object_count; i++)
		notify_object(&code_store->objects[i], context);
	for (uint32_t i = 0; i < code_store->kernel_count; i++)
		notify_kernel(&code_store->kernels[i], context);
}

void code_notify(uint64_t active)
{
	if (!code_store || !code_store_lock())
		return;
	for (; active; active &= active - 1) {
		unsigned context = (unsigned)__builtin_ctzll(active);

		if (context_wants(context))
			notify_all(context);
	}
	code_store_unlock();
}

static void notify_contexts(void)
{
	const struct sdk_context *context;
	unsigned next = 0;

	while ((context = context_next(&next)))
		if (context->callbacks[CALLBACK_CODE_OBJECT].callback)
			notify_all(context_number(context));
}

uint64_t code_kernel(const char *name)
{
	uint64_t found = code_store_find(name);
	uint32_t length = (uint32_t)text_length(name);
	struct code_kernel *kernel = NULL;
	char *kept;

	if (found || !code_store_lock())
		return found;
	kept = code_store_open() ? code_store_text(length) : NULL;
	if (kept) {
		memcpy(kept, name, length + 1ul);
		kernel = code_store_add(kept, 0);
	}
	if (kernel)
		notify_contexts();
	code_store_unlock();
	return kernel ? kernel->data.id : 0;
}

void code_forget(unsigned context)
{
	uint64_t others = ~(1ull << context);

	for (uint32_t i = 0; code_store && i < code_store->object_count; i++)
		code_store->objects[i].told &= others;
	for (uint32_t i = 0; code_store && i < code_store->kernel_count; i++)
		code_store->kernels[i].told &= others;
}

void code_after_freeze(struct call_frame *frame, uint64_t end)
{
	(void)end;
	if ((int32_t)frame->results[0] || !code_store_lock())
		return;
	objects_scan(frame->integers[0]);
	if (code_store)
		notify_contexts();
	code_store_unlock();
}

void code_catch_up(void)
{
	if (!__atomic_load_n(&is_behind, __ATOMIC_SEQ_CST) || !code_store_lock())
		return;
	__atomic_store_n(&is_behind, 0, __ATOMIC_SEQ_CST);
	objects_scan(0);
	if (code_store)
		notify_contexts();
	code_store_unlock();
}

/* Reports an object's kernels first, then the object. */
static void notify_unload(struct code_object *object)
{
	for (unsigned i = 0; i < contexts_used; i++) {
		if (!(object->told >> i & 1) || !context_wants(i))
			continue;
		for (uint32_t j = 0; j < code_store->kernel_count; j++)
			if (code_store->kernels[j].data.code_object == object->data.id &&
			    code_store->kernels[j].told >> i & 1)
				context_notify(i, OPERATION_KERNEL, PHASE_EXIT,
					       &code_store->kernels[j].data);
		context_notify(i, OPERATION_LOAD, PHASE_EXIT, &object->data);
	}
	object->is_gone = true;
	for (uint32_t j = 0; j < code_store->kernel_count; j++)
		if (code_store->kernels[j].data.code_object == object->data.id)
			code_store->kernels[j].is_gone = true;
}

/* Unloaded while nothing saw it. */
static void unlisted_forget(void)
{
	for (uint32_t i = 0; code_store && i < code_store->object_count; i++)
		if (!code_store->objects[i].is_listed && !code_store->objects[i].is_gone)
			notify_unload(&code_store->objects[i]);
}

void code_scan(void)
{
	if (!code_store_lock())
		return;
	objects_scan(0);
	unlisted_forget();
	code_store_unlock();
}

void code_forget_hsa(void)
{
	if (!code_store || !code_store_lock())
		return;
	for (uint32_t i = 0; i < code_store->object_count; i++)
		if (!code_store->objects[i].is_gone)
			notify_unload(&code_store->objects[i]);
	code_store_unlock();
}

void code_before_destroy(struct call_frame *frame)
{
	if (!code_store || !code_store_lock())
		return;
	for (uint32_t i = 0; i < code_store->object_count; i++)
		if (code_store->objects[i].executable == frame->integers[0] &&
		    !code_store->objects[i].is_gone)
			notify_unload(&code_store->objects[i]);
	code_store_unlock();
}
