/*
 * OpenCL through the tables of its drivers: the calls, and what devices do because of them.
 */
#include "target/domains/opencl.h"
#include "target/domains/domain.h"

#define DRAIN_MS 2000u

/* Devices' work is no call: these are hooks of nothing, for their place in the list. */
static struct {
	const struct traced *kind;
	struct hook *hook;
} work[] = {
	{ &opencl_kernel_work, NULL },
	{ &opencl_copy_work, NULL },
	{ &opencl_memory_work, NULL },
};

bool opencl_work_function(const struct traced *kind, uint32_t *ret)
{
	for (unsigned i = 0; i < ARRAY_SIZE(work); i++) {
		/* Acquire: pairs with hook_announce(). */
		if (work[i].kind != kind || !work[i].hook ||
		    !__atomic_load_n(&work[i].hook->is_on, __ATOMIC_ACQUIRE))
			continue;
		*ret = work[i].hook->function;
		return true;
	}
	return false;
}

static bool start(const struct trace_request *request)
{
	(void)request;
	queues_start();
	kernels_start();
	return !events_start() && !memory_start();
}

static void announce_work(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(work); i++) {
		struct function_name name = { work[i].kind->name, "OpenCL" };

		work[i].hook = hook_get(0, work[i].kind, &name);
		if (work[i].hook && hook_announce(work[i].hook, &name))
			writers_rings()->domains_found |= 1u << work[i].kind->domain;
	}
}

/* Before the first hook is in, devices' work must have its place. */
static void look(bool have_modules_changed)
{
	if (have_modules_changed)
		announce_work();
	if (vendors_look(have_modules_changed))
		writers_rings()->domains_found |= 1u << DOMAIN_OPENCL;
}

static void drain(struct rings *rings)
{
	rings->work_cut += events_drain(DRAIN_MS);
	rings->work_lost += events_lost();
}

const struct domain domain_opencl = { .name = "opencl",
				      .start = start,
				      .look = look,
				      .has_news = vendors_have_news,
				      .drain = drain,
				      .forget = events_forget };
