/*
 * Reports for the ring, on limpet's threads, and HIP's calls that end what reports are about, on
 * application threads.
 */
#include "target/amd/hip/ring.h"

#include "target/amd/events/events.h"
#include "target/amd/events/notes.h"
#include "target/amd/hip/activity.h"
#include "target/amd/hip/launches.h"
#include "target/amd/hip/registration.h"
#include "target/runtime/libc_calls.h"

#define OTHER_TRACER "libroctracer64.so"

static int module_match(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = info->dlpi_name, *base = name;
	size_t i = 0;

	(void)size;
	for (; name && *name; name++)
		base = *name == '/' ? name + 1 : base;
	while (base && OTHER_TRACER[i] && base[i] == OTHER_TRACER[i])
		i++;
	*(bool *)data |= !OTHER_TRACER[i];
	return *(bool *)data;
}

static bool other_tracer_is_there(void)
{
	bool is_there = false;

	libc_iterate(module_match, &is_there);
	return is_there;
}

static uint32_t ring_domains(void)
{
	return (uint32_t)hip_ring.asks[LAUNCH_KERNEL] << DOMAIN_KERNEL |
	       (uint32_t)hip_ring.asks[LAUNCH_COPY] << DOMAIN_COPY;
}

uint32_t hip_ring_begin(bool kernels, bool copies)
{
	if (hip_ring.needs)
		return hip_has_callback() ? ring_domains() : 0;
	if (!hip_has_callback() && other_tracer_is_there()) {
		events_say(SAY_OTHER_TRACER);
		return 0;
	}
	hip_ring.needs = true;
	hip_ring.asks[LAUNCH_KERNEL] = kernels;
	hip_ring.asks[LAUNCH_COPY] = copies;
	hip_follow();
	if (hip_has_callback())
		return ring_domains();
	hip_ring.needs = false;
	events_say(SAY_NO_REPORTS);
	return 0;
}

uint32_t hip_ring_end(void)
{
	uint32_t left;

	if (!hip_ring.needs)
		return 0;
	for (unsigned i = 0; i < LAUNCH_KINDS; i++)
		__atomic_store_n(&hip_ring.asks[i], false, __ATOMIC_RELAXED);
	left = hip_await_reports();
	hip_ring.needs = false;
	hip_follow();
	return left;
}

/* A call without a question of its own may still end a stream or functions. */
void hip_after_call(struct call_frame *frame, uint64_t end)
{
	enum launch_end what = launch_ends(frame);

	(void)end;
	if (!hip_has_callback())
		return;
	if (call_has_failed(frame)) {
		if (frame->asked) {
			launches_cancel(frame->begin);
			hip_count_answers(frame->asked);
		}
	} else if (what == ENDS_STREAM) {
		launches_forget_stream(frame->integers[0]);
		events_stream_end(frame->integers[0]);
	} else if (what == ENDS_FUNCTIONS) {
		launches_forget_functions();
	}
}

void hip_adopt(void)
{
	hip_activity_adopt();
	hip_ring.needs = false;
	hip_ring.asks[LAUNCH_KERNEL] = hip_ring.asks[LAUNCH_COPY] = false;
	hip_registration_adopt();
}
