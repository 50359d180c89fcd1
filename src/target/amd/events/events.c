/*
 * Runs on any thread.
 */
#include "target/amd/events/events.h"

#include "target/amd/tables/threads.h"

static const struct amd_sink *tools, *ring;
struct busy_word events_dispatches;

void events_use_tools(const struct amd_sink *sink)
{
	__atomic_store_n(&tools, sink, __ATOMIC_RELEASE);
}

void events_use_ring(const struct amd_sink *sink)
{
	/* Release: pairs with events_ring(); publishes what the session has stored. */
	__atomic_store_n(&ring, sink, __ATOMIC_RELEASE);
}

/* A forked child has copies of its parent's pointers, but not the threads that deliver records. */
static const struct amd_sink *own_sink(const struct amd_sink *const *pointer)
{
	const struct amd_sink *sink = __atomic_load_n(pointer, __ATOMIC_ACQUIRE);

	return sink && call_threads_are_own() ? sink : NULL;
}

const struct amd_sink *events_ring(void)
{
	return own_sink(&ring);
}

bool events_wanted(enum trace_domain domain)
{
	const struct amd_sink *sink = events_ring();

	return (sink && sink->wants(domain)) || events_tools_want(domain);
}

bool events_tools_want(enum trace_domain domain)
{
	const struct amd_sink *sink = own_sink(&tools);

	return sink && sink->wants(domain);
}

bool events_tools_may_want(enum trace_domain domain)
{
	const struct amd_sink *sink = own_sink(&tools);

	return sink && sink->may_want(domain);
}

void events_launch(struct launch *launch, enum trace_domain domain, const struct thread_call *call,
		   struct call_frame *frame)
{
	tools->launch(launch, domain, call, frame);
}

void events_hip_came(const struct agent_table *hip)
{
	if (tools)
		tools->hip_came(hip);
}

void events_kernel(const struct dispatch_event *event)
{
	const struct amd_sink *sink = events_ring();

	if (sink)
		sink->kernel(event);
	if (events_tools_want(DOMAIN_KERNEL))
		tools->kernel(event);
}

void events_copy(const struct copy_event *event)
{
	const struct amd_sink *sink = events_ring();

	if (sink)
		sink->copy(event);
	if (events_tools_want(DOMAIN_COPY))
		tools->copy(event);
}

void events_memory(const struct memory_event *event)
{
	const struct amd_sink *sink = events_ring();

	if (sink)
		sink->memory(event);
	sink = own_sink(&tools);
	if (sink)
		sink->memory(event);
}

void events_scratch(const struct scratch_event *event)
{
	const struct amd_sink *sink = events_ring();

	if (sink)
		sink->scratch(event);
	sink = own_sink(&tools);
	if (sink)
		sink->scratch(event);
}

void events_say(unsigned note)
{
	const struct amd_sink *sink = events_ring();

	if (sink)
		sink->say(note);
}

void events_lose(void)
{
	const struct amd_sink *sink = events_ring();

	if (sink)
		sink->lose();
}

void events_stream_end(uint64_t stream)
{
	const struct amd_sink *sink = events_ring();

	if (sink)
		sink->stream_end(stream);
}

void events_consult(void)
{
	const struct amd_sink *sink = events_ring();

	if (sink)
		sink->consult();
}

uint64_t events_name(const char *name, uint64_t object)
{
	const struct amd_sink *sink = events_ring();

	return sink ? sink->name(name, object) : 0;
}
