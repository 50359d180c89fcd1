/*
 * CUDA through CUPTI: the driver's calls, and the device work that these cause.
 */
#include "target/domains/cuda/cuda.h"

#include "target/hooks/python_stack.h"

static const struct domain_hooks *const hooks[] = { &hooks_cuda_runtime, &hooks_nccl };

static bool must_try; /* modules have been loaded, or CUDA was not initialized at the last try */

static bool cuda_start(const struct trace_request *request)
{
	bool fits = true;

	cuda_set_written(request_device_domains(request, DOMAIN_CUDA));
	cuda_set_all_calls(request_has(request, CUDA_API_ALL));
	cuda_set_stacks(request_has(request, LAUNCH_STACKS));
	if (cuda_writes_stacks())
		python_stacks_forget();
	must_try = cuda_written() != 0;
	for (unsigned i = 0; i < DEVICE_WORK_DOMAINS; i++)
		if (cuda_writes(device_work[i]))
			fits &= work_start(device_work[i]);
	return fits;
}

static void cuda_scan(bool have_modules_changed, struct hooks_report *report)
{
	(void)report;
	if (have_modules_changed && cuda_written())
		must_try = true;
}

/* A target that has not initialized CUDA is left unchanged: initializing it here would make CUDA
 * unusable in processes that the target forks later. */
static void cuda_begin(void)
{
	struct cuda_driver driver;
	int count;

	if (!library_find_driver(&driver)) {
		must_try = false;
		return;
	}
	if (!driver.device_count(&count)) {
		must_try = false;
		if (cuda_session_begin(&driver) && cuda_session_is_on())
			cuda_session_end(writers_rings());
	}
	if (!cuda_session_is_on())
		library_release();
}

static void cuda_query(struct hooks_report *report)
{
	if (!cuda_session_is_on() && must_try)
		cuda_begin();
	if (!cuda_session_is_on())
		return;
	report->domains |= cuda_session_domains();
	cuda_session_tend();
}

const struct runtime runtime_cuda = {
	.name = "cuda",
	.hooks = hooks,
	.hook_count = ARRAY_SIZE(hooks),
	.notes = cuda_notes,
	.note_count = CUDA_NOTES,
	.numbers = { CUDA_NUMBERS_FROM, CUDA_NUMBERS },
	.start = cuda_start,
	.scan = cuda_scan,
	.query = cuda_query,
	.stop = cuda_session_end,
	.forget = cuda_session_forget,
};
