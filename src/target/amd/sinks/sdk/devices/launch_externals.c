/*
 * External ids of launches: tools provide them when the launch is made, and get them with all that
 * is reported about it. Runs on the launching thread, and on the one that finds out about the end.
 */
#include "target/amd/hip/launches.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/external.h"
#include "target/amd/sinks/sdk/devices/work.h"
#include "target/amd/sinks/sdk/devices/work_records.h"

bool work_is_wanted_by(const struct sdk_context *context, enum trace_domain domain)
{
	static const struct {
		uint8_t callback, buffer;
	} kinds[DOMAINS] = {
		[DOMAIN_KERNEL] = { CALLBACK_KERNEL, BUFFER_KERNEL },
		[DOMAIN_COPY] = { CALLBACK_COPY, BUFFER_COPY },
	};

	return context->callbacks[kinds[domain].callback].callback ||
	       context->buffers[kinds[domain].buffer].buffer.handle;
}

void launch_ask_externals(struct launch *launch, enum trace_domain domain)
{
	int kind = domain == DOMAIN_KERNEL ? REQUEST_KERNEL : REQUEST_COPY;

	const struct sdk_context *context;
	unsigned next = 0;

	while (launch->external_count < EXTERNALS_MAX && (context = context_next(&next))) {
		unsigned i = context_number(context);
		uint64_t value = external_current(i, launch->thread);

		if (!work_is_wanted_by(context, domain))
			continue;
		if (context->request && context->request_kinds & 1u << kind)
			service_request(i, kind, domain == DOMAIN_KERNEL, launch->internal, &value);
		launch->externals[launch->external_count++] =
			(struct launch_external){ i, context->life, value, 0 };
	}
}

/* The context's external id in a launch; external_count if the context is newer, or had no room. */
static unsigned external_index(const struct launch *launch, unsigned context)
{
	unsigned i = 0;

	while (i < launch->external_count &&
	       (launch->externals[i].context != context ||
		launch->externals[i].life != sdk_contexts[context].life))
		i++;
	return i;
}

uint64_t launch_external(const struct launch *launch, unsigned context)
{
	unsigned i = external_index(launch, context);

	return i < launch->external_count ? launch->externals[i].value : 0;
}

void work_notify(unsigned context, const struct service_event *event, struct launch *launch)
{
	unsigned i = external_index(launch, context);
	uint64_t none = 0, *user_data = &none;
	struct service_event told = *event;

	if (!callback_wants(&sdk_contexts[context].callbacks[event->kind],
			    (unsigned)event->operation))
		return;
	told.internal = launch->internal;
	told.ancestor = launch->ancestor;
	told.thread = (uint64_t)launch->thread;
	told.external = &none;
	if (i < launch->external_count) {
		told.external = &launch->externals[i].value;
		user_data = &launch->externals[i].user_data;
	}
	service_notify(context, &told, user_data);
}
