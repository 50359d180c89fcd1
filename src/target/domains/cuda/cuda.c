/*
 * CUDA through CUPTI: the driver's calls, and the device work that these cause.
 */
#include "target/domains/cuda/cuda.h"

#include "target/hooks/python_stack.h"

static const enum trace_domain work[] = { DOMAIN_KERNEL, DOMAIN_COPY, DOMAIN_MEMORY };

static const struct domain_hooks *const hooks[] = { &hooks_cuda_runtime, &hooks_nccl };

static bool is_to_try; /* modules have been loaded, or CUDA was not initialized at the last try */

/* A request for calls alone also selects all device work. */
static uint32_t read_request(const struct trace_request *request)
{
	uint32_t calls = (uint32_t)request->is_wanted[DOMAIN_CUDA] << DOMAIN_CUDA;
	uint32_t asked = 0, all = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(work); i++) {
		asked |= (uint32_t)request->is_wanted[work[i]] << work[i];
		all |= 1u << work[i];
	}
	return calls | (calls && !asked ? all : asked);
}

static bool cuda_start(const struct trace_request *request)
{
	bool fits = true;

	cuda_set_written(read_request(request));
	cuda_set_all_calls(request_has(request, CUDA_API_ALL));
	cuda_set_stacks(request_has(request, LAUNCH_STACKS));
	if (cuda_writes_stacks())
		python_stacks_forget();
	is_to_try = cuda_written() != 0;
	for (unsigned i = 0; i < ARRAY_SIZE(work); i++)
		if (cuda_writes(work[i]))
			fits &= work_start(work[i]);
	return fits;
}

static void cuda_look(bool have_modules_changed, struct got_report *report)
{
	(void)report;
	if (have_modules_changed && cuda_written())
		is_to_try = true;
}

/* A target that has not initialized CUDA is left unchanged: initializing it here would make CUDA
 * unusable in processes that the target forks later. */
static void cuda_try(void)
{
	struct cuda_driver driver;
	int count;

	if (!library_find_driver(&driver)) {
		is_to_try = false;
		return;
	}
	if (!driver.device_count(&count)) {
		is_to_try = false;
		if (cuda_session_begin(&driver) && cuda_session_is_on())
			cuda_session_end(writers_rings());
	}
	if (!cuda_session_is_on())
		library_release();
}

static void cuda_ask(struct got_report *report)
{
	if (!cuda_session_is_on() && is_to_try)
		cuda_try();
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
	.look = cuda_look,
	.ask = cuda_ask,
	.stop = cuda_session_end,
	.forget = cuda_session_forget,
};
