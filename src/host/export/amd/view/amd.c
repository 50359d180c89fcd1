/*
 * Translates calls into AMD's terms.
 */
#include "host/export/amd/view/amd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/amd/view/agents.h"
#include "host/symbols/demangle/demangle.h"

const struct amd_domain_words amd_domains[AMD_DOMAINS] = {
	[AMD_HSA] = { "HSA_API", "hsa_api_trace", "hsa_api_stats", "hsa_api" },
	[AMD_HIP] = { "HIP_API", "hip_api_trace", "hip_api_stats", "hip_api" },
	[AMD_MARKER] = { "MARKER_API", "marker_api_trace", "marker_api_stats", "marker_api" },
	[AMD_KERNEL] = { "KERNEL_DISPATCH", "kernel_trace", "kernel_stats", "kernel_dispatch" },
	[AMD_COPY] = { "MEMORY_COPY", "memory_copy_trace", "memory_copy_stats", "memory_copy" },
	[AMD_SCRATCH] = { "SCRATCH_MEMORY", "scratch_memory_trace", "scratch_memory_stats",
			  "scratch_memory" },
	[AMD_RCCL] = { "RCCL_API", "rccl_api_trace", "rccl_api_stats", "rccl_api" },
	[AMD_MEMORY] = { "MEMORY_ALLOCATION", "memory_allocation_trace", "memory_allocation_stats",
			 "memory_allocation" },
	[AMD_COUNTER] = { "COUNTER_COLLECTION", "counter_collection", "counter_collection_stats",
			  "counter_collection" },
	[AMD_ROCDECODE] = { "ROCDECODE_API", "rocdecode_api_trace", "rocdecode_api_stats",
			    "rocdecode_api" },
	[AMD_ROCJPEG] = { "ROCJPEG_API", "rocjpeg_api_trace", "rocjpeg_api_stats", "rocjpeg_api" },
	[AMD_OPENCL] = { "OPENCL_API", "opencl_api_trace", "opencl_api_stats", "opencl_api" },
	[AMD_OWN] = { "LIMPET_API", "limpet_api_trace", "limpet_api_stats", "limpet_api" },
};

/* Kinds that limpet never has are named, too: lists are indexed by kind. */
static const char *const kind_names[AMD_KINDS_MAX] = {
	[0] = "NONE",
	[5] = "HIP_RUNTIME_API",
	[6] = "HIP_COMPILER_API",
	[7] = "MARKER_CORE_API",
	[KIND_MARKER_CONTROL] = "MARKER_CONTROL_API",
	[KIND_MARKER_NAME] = "MARKER_NAME_API",
	[13] = "CORRELATION_ID_RETIREMENT",
	[15] = "OMPT",
	[17] = "RUNTIME_INITIALIZATION",
	[18] = "ROCDECODE_API",
	[20] = "HIP_STREAM",
	[24] = "KFD_EVENT_PAGE_MIGRATE",
	[25] = "KFD_EVENT_PAGE_FAULT",
	[26] = "KFD_EVENT_QUEUE",
	[27] = "KFD_EVENT_UNMAP_FROM_GPU",
	[28] = "KFD_EVENT_DROPPED_EVENTS",
	[29] = "KFD_PAGE_MIGRATE",
	[30] = "KFD_PAGE_FAULT",
	[31] = "KFD_QUEUE",
	[KIND_OTHER] = "LIMPET_OTHER",
/* clang-format off */
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, ...) [kind] = kind_name,
#include "shared/wire/domains.def"
	/* clang-format on */
};

static const struct domain_entry {
	enum amd_domain list;
	enum amd_kind kind;
} entries[DOMAINS] = {
/* clang-format off */
#define DOMAIN(number, name, key, title, form, list, kind, ...) [number] = { AMD_##list, (enum amd_kind)(kind) },
#include "shared/wire/domains.def"
	/* clang-format on */
};

/* Domains unknown to AMD's tools and this limpet are limpet's own. */
static struct domain_entry entry_of(unsigned domain)
{
	return domain_key(domain) ? entries[domain] : (struct domain_entry){ AMD_OWN, KIND_OTHER };
}

unsigned amd_kind_count(void)
{
	unsigned count = AMD_KINDS_MAX;

	while (!kind_names[count - 1])
		count--;
	return count;
}

const char *amd_kind_name(enum amd_kind kind)
{
	return kind < AMD_KINDS_MAX && kind_names[kind] ? kind_names[kind] : "NONE";
}

const char *amd_category(unsigned domain)
{
	enum amd_domain list = entry_of(domain).list;

	return list == AMD_OWN ? domain_name(domain) : amd_domains[list].list;
}

enum amd_kind amd_kind_of(const struct trace_function *function)
{
	enum amd_kind kind = entry_of(function->domain).kind;

	if (kind == KIND_MARKER && strstr(function->name, "Profiler"))
		return KIND_MARKER_CONTROL;
	if (kind == KIND_MARKER && strstr(function->name, "Name"))
		return KIND_MARKER_NAME;
	return kind;
}

uint64_t event_value(const struct amd_event *event, enum value_kind kind)
{
	uint64_t value = 0;

	call_value(event->call, kind, &value);
	return kind == VALUE_DEVICE || kind == VALUE_FROM_DEVICE ? agent_number(value) : value;
}

bool amd_memory_has_agent(const struct amd_event *event)
{
	uint64_t operation = event_value(event, VALUE_OPERATION), device;

	if (!call_value(event->call, VALUE_DEVICE, &device) || device == UINT64_MAX)
		return false;
	return device || (operation != MEMORY_FREE && operation != MEMORY_VIRTUAL_FREE);
}

static int by_id(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static int kernels_number(struct amd_view *view)
{
	view->kernels = calloc(MAX(view->model->process_count, 1u), sizeof(*view->kernels));
	for (uint32_t i = 0; view->kernels && i < view->model->process_count; i++) {
		const struct names *names = &view->model->processes[i]->names;
		struct kernel_list *list = &view->kernels[i];

		list->ids = calloc(MAX(names->count, (size_t)1), sizeof(*list->ids));
		if (!list->ids)
			return -ENOMEM;
		for (size_t j = 0; j < names->room; j++)
			if (names->items[j].text && names->items[j].space == NAME_KERNEL)
				list->ids[list->count++] = names->items[j].id;
		qsort(list->ids, list->count, sizeof(*list->ids), by_id);
	}
	return view->kernels ? 0 : -ENOMEM;
}

static uint64_t kernel_number(const struct amd_view *view, const struct model_process *process,
			      uint64_t id)
{
	const struct kernel_list *list = &view->kernels[process->number];
	const uint64_t *found = bsearch(&id, list->ids, list->count, sizeof(id), by_id);

	return found ? (uint64_t)(found - list->ids) + 1 : 0;
}

int amd_view_init(struct amd_view *ret, struct model *model, const struct amd_view_options *options,
		  struct err *err)
{
	int r;

	*ret = (struct amd_view){ .model = model,
				  .process = options->process,
				  .form = options->form,
				  .is_renamed = options->is_renamed,
				  .region_options = options->regions };
	r = kernels_number(ret);
	if (r)
		return err_set(err, r, "numbers of kernels: no memory");
	r = counted_init(&ret->counted, model);
	if (r)
		return err_set(err, r, "counters of kernels: no memory");
	r = kernel_filter_init(&ret->filter, &options->filter, err);
	return r ? r : kernel_filter_init(&ret->counter_filter, &options->filter, err);
}

void amd_view_done(struct amd_view *view)
{
	kernel_filter_done(&view->filter);
	kernel_filter_done(&view->counter_filter);
	counted_done(&view->counted);
	for (uint32_t i = 0; view->kernels && i < view->model->process_count; i++)
		free(view->kernels[i].ids);
	free(view->kernels);
	table_done(&view->causes);
}

const char *amd_kernel_name(const struct amd_view *view, const struct model_process *process,
			    uint64_t id, char room[KERNEL_NAME_MAX])
{
	const char *name = view->form == KERNEL_MANGLED
				   ? names_find(&process->names, NAME_KERNEL, id)
				   : names_title(&process->names, NAME_KERNEL, id);

	if (view->form != KERNEL_TRUNCATED || !name[0])
		return name;
	demangled_base(name, room, KERNEL_NAME_MAX);
	return room[0] ? room : name;
}

/* The operations of ranges and marks are their kinds. */
static const char *marker_operation(const struct call *call)
{
	if (call->kind == CALL_PLAIN)
		return call->function->name;
	if (call->kind == CALL_MARK)
		return "roctxMarkA";
	return call->is_process_wide ? "roctxProcessRangeA" : "roctxThreadRangeA";
}

/* The range that the thread was in when it launched the kernel. */
static const char *find_region(const struct amd_view *view, const struct call *call)
{
	uint64_t tid, cause;

	if (!view->is_renamed || !call_value(call, VALUE_THREAD, &tid) ||
	    !call_value(call, VALUE_CAUSE, &cause) || !cause)
		return "";
	return range_history_find(&view->history, call->process, tid,
				  model_time_ns(view->model, cause));
}

static struct amd_event amd_describe(const struct amd_view *view, const struct call *call,
				     char room[KERNEL_NAME_MAX])
{
	struct domain_entry entry = entry_of(call->function->domain);
	struct amd_event event = {
		.call = call,
		.domain = entry.list,
		.kind = call->kind == CALL_PLAIN ? amd_kind_of(call->function) : entry.kind,
		.name = call_name(call),
		.tid = call->thread->tid,
		.region = "",
	};
	uint64_t value;

	event.operation = entry.list == AMD_MARKER ? marker_operation(call) : event.name;
	if (call_is_work(call) && call_value(call, VALUE_THREAD, &value) && value)
		event.tid = (int32_t)value;
	if (entry.list != AMD_KERNEL && entry.list != AMD_COUNTER)
		return event;
	event.operation = "KERNEL_DISPATCH_COMPLETE";
	event.kernel = kernel_number(view, call->process, event_value(&event, VALUE_NAME));
	event.region = find_region(view, call);
	if (event.region[0])
		event.name = event.region;
	else if (call_value(call, VALUE_NAME, &value) &&
		 names_find(&call->process->names, NAME_KERNEL, value)[0])
		event.name = amd_kernel_name(view, call->process, value, room);
	return event;
}

/* Only calls that caused work of devices must be remembered, so those are collected first. */
static int cause_collect(const struct call *call, void *context)
{
	struct amd_view *view = context;
	uint64_t id = call_is_work(call) ? call_correlation(call) : 0;
	bool is_new;

	if (!id || (view->process && call->process != view->process))
		return 0;
	return table_make(&view->causes, call->process->number, id, &is_new) ? 0 : -ENOMEM;
}

static bool has_work(const struct model *model)
{
	return model_has_domain(model, DOMAIN_KERNEL) || model_has_domain(model, DOMAIN_COPY) ||
	       model_has_domain(model, DOMAIN_MEMORY) || model_has_domain(model, DOMAIN_SCRATCH) ||
	       model_has_domain(model, DOMAIN_COUNTER);
}

static int causes_collect(struct amd_view *view)
{
	view->correlation_count = 0;
	if (view->has_causes)
		return 0;
	view->has_causes = true;
	return has_work(view->model) ? model_each_call(view->model, cause_collect, view) : 0;
}

/* From 1, in the order of the rows; a call and the work that it caused share one.  Each pass is the
 * same, and so are its ids.  0: its cause is not known. */
static uint64_t correlation_next(struct amd_view *view, const struct call *call)
{
	uint64_t id = call_correlation(call), *count = &view->correlation_count;
	struct table_entry *cause =
		id ? table_find(&view->causes, call->process->number, id) : NULL;

	if (!call_is_work(call)) {
		++*count;
		if (cause && !cause->value)
			cause->value = *count;
		return *count;
	}
	if (!cause)
		return 0;
	/* The call is not in the file: the first piece of its work has an id for all of them, also
	 * when this pass is not the first. */
	if (!cause->value)
		cause->value = *count + 1;
	if (cause->value == *count + 1)
		++*count;
	return cause->value;
}

struct passing {
	struct amd_view *view;
	amd_visitor *visit;
	void *context;
};

static int amd_pass(const struct call *call, void *context)
{
	struct passing *passing = context;
	struct amd_view *view = passing->view;
	char room[KERNEL_NAME_MAX];
	struct amd_event event;
	int takes = 1;

	if (view->process && call->process != view->process)
		return 0;
	if ((view->is_renamed && range_history_add(&view->history, call)) ||
	    regions_add(&view->regions, call))
		return -ENOMEM;
	if (!regions_want(&view->regions, call))
		return 0;
	event = amd_describe(view, call, room);
	if (event.domain == AMD_KERNEL || event.domain == AMD_COUNTER)
		takes = kernel_filter_takes(
			event.domain == AMD_KERNEL ? &view->filter : &view->counter_filter,
			call->process->number, event_value(&event, VALUE_NAME), event.name);
	if (takes > 0 && event.domain == AMD_COUNTER)
		takes = counted_is_alone(&view->counted, call);
	if (takes <= 0)
		return takes;
	event.correlation = correlation_next(view, call);
	return passing->visit(&event, passing->context);
}

int amd_each_event(struct amd_view *view, amd_visitor *visit, void *context)
{
	struct passing passing = { view, visit, context };
	int r = view->is_renamed ? range_history_init(&view->history, view->model) : 0;

	kernel_filter_begin(&view->filter);
	kernel_filter_begin(&view->counter_filter);
	if (!r)
		r = causes_collect(view);
	if (!r)
		r = regions_init(&view->regions, view->model, &view->region_options);
	if (!r)
		r = model_each_call(view->model, amd_pass, &passing);
	regions_done(&view->regions);
	range_history_done(&view->history);
	return r;
}
