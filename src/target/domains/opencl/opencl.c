/*
 * OpenCL through the tables of its drivers: the calls, and the device work that these cause.
 */
#include "target/domains/opencl/opencl.h"

#include "target/hooks/got/got.h"
#include "target/runtime/kernel_clock.h"

#define DRAIN_MS  2000u
#define QUEUES_MS 200u /* additional time until limpet's queues are released */
#define PAUSE_NS  1000000

static bool has_driver; /* in this session */

/* Allocates the memory for device work before the first hook is installed. */
static bool opencl_start(const struct trace_request *request)
{
	bool fits = true;

	opencl_set_written(request_device_domains(request, DOMAIN_OPENCL));
	has_driver = false;
	if (!opencl_written()) {
		shadows_start(false);
		return true;
	}
	for (unsigned i = 0; i < DEVICE_WORK_DOMAINS; i++)
		if (opencl_writes(device_work[i]))
			fits &= work_start(device_work[i]);
	vendors_start(opencl_traced);
	queues_start();
	kernels_start();
	shadows_start(request_has(request, "opencl-device-time"));
	return fits && !events_start() && !memory_start();
}

/* A libOpenCL.so that is itself a driver cannot be hooked: no calls go through a table. */
static void note_driver(void)
{
	if (!has_driver && got_has_module("libOpenCL.so*"))
		note_raise(&opencl_notes[SAY_NO_DRIVER]);
	else
		note_withdraw(&opencl_notes[SAY_NO_DRIVER]);
}

static void opencl_scan(bool have_modules_changed, struct hooks_report *report)
{
	if (opencl_written())
		shadows_settle();
	if (opencl_written() && drivers_scan(have_modules_changed, report)) {
		report->domains |= opencl_written();
		has_driver = true;
	}
	if (opencl_written() && have_modules_changed)
		note_driver();
	shadows_check();
}

/* Runs while hooks are installed: later commands go to the application's queues. */
static void opencl_stop(struct rings *rings)
{
	(void)rings;
	shadows_stop();
}

/* Runs when no call enqueues through a hook any more. */
static void opencl_drain(struct rings *rings)
{
	if (!opencl_written())
		return;
	rings->work_cut += events_drain(DRAIN_MS);
	rings->work_lost += events_lost();
	for (uint32_t i = 0; i < QUEUES_MS && shadows_left(); i++)
		sleep_ns(PAUSE_NS);
	rings->queues_left += shadows_left();
	shadows_report(rings);
}

static void opencl_forget(void)
{
	events_forget();
	shadows_forget();
}

const struct runtime runtime_opencl = {
	.name = "opencl",
	.notes = opencl_notes,
	.note_count = OPENCL_NOTES,
	.numbers = { OPENCL_NUMBERS_FROM, OPENCL_NUMBERS },
	.start = opencl_start,
	.scan = opencl_scan,
	.stop = opencl_stop,
	.drain = opencl_drain,
	.forget = opencl_forget,
};
