/*
 * pftrace: Perfetto's trace format (ui.perfetto.dev, trace_processor).  Times are CLOCK_BOOTTIME,
 * which is Perfetto's own.  Calls of a thread are slices on its track; one that overlaps another
 * without being nested is on a further track of the same thread.  Process-wide ranges have tracks
 * under the process, and so has work of devices, with flows from the calls that caused it; bytes
 * that are copied or allocated are counters, and so are the counters of kernels, and those over
 * time.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/counters/amd/expression.h"
#include "host/export/exporter.h"
#include "host/export/proto.h"
#include "host/export/trace/gauges.h"
#include "host/export/trace/lanes.h"
#include "host/export/trace/pftrace.h"
#include "host/export/trace/pftrace_parts.h"
#include "host/export/trace/work_tracks.h"

/* Field numbers of perfetto_trace.proto. */
enum clocks_field { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum builtin_clock { REALTIME = 1, MONOTONIC = 3, MONOTONIC_RAW = 5, BOOTTIME = 6 };
enum system_field { SYSTEM_UTSNAME = 1, UTSNAME_RELEASE = 3, UTSNAME_MACHINE = 4 };
enum interned_field { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_ANNOTATIONS = 3 };
enum interned_entry { ENTRY_ID = 1, ENTRY_NAME = 2 };
enum track_field {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
};
enum counter_field { COUNTER_UNIT = 3 };
enum counter_unit { UNIT_BYTES = 3 };
enum process_field { PROCESS_PID = 1, PROCESS_COMMAND = 2, PROCESS_NAME = 6 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum event_field {
	EVENT_CATEGORY_ID = 3,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_COUNTER_REAL = 44,
	EVENT_FLOW = 47,
};
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

struct pftrace {
	FILE *out;
	struct bytes trace, packet, inner, detail; /* each holds the next */
	const struct pftrace_style *style;
	struct lanes lanes;
	struct work_tracks tracks;
	struct gauges gauges;
	struct table counters; /* (track, 0): written already */
};

static uint64_t process_track(const struct model_process *process)
{
	return 1 + process->number;
}

static uint64_t lane_track(uint32_t owner, uint32_t lane)
{
	return (uint64_t)(lane + 1) << 32 | (owner + 1);
}

static uint64_t gauge_track(uint32_t number)
{
	return 1ull << 63 | number;
}

static int packet_end(struct pftrace *self)
{
	return packet_write(&self->trace, &self->packet, SEQUENCE_CALLS, self->out);
}

static void put_clock(struct pftrace *self, enum builtin_clock clock, uint64_t time_ns)
{
	proto_number(&self->detail, CLOCK_ID, clock);
	proto_number(&self->detail, CLOCK_TIMESTAMP, time_ns);
	proto_message(&self->inner, CLOCKS_CLOCK, &self->detail);
}

static int write_clocks(struct pftrace *self, const struct clock_point *point)
{
	put_clock(self, BOOTTIME, point->boot_ns);
	put_clock(self, MONOTONIC, point->monotonic_ns);
	put_clock(self, MONOTONIC_RAW, point->raw_ns);
	put_clock(self, REALTIME, point->real_ns);
	proto_number(&self->inner, CLOCKS_PRIMARY, BOOTTIME);
	proto_message(&self->packet, PACKET_CLOCKS, &self->inner);
	proto_number(&self->packet, PACKET_TIMESTAMP, point->boot_ns);
	return packet_end(self);
}

static int write_system(struct pftrace *self, const struct model *model)
{
	proto_text(&self->detail, UTSNAME_RELEASE, model->kernel);
	proto_text(&self->detail, UTSNAME_MACHINE, model->machine);
	proto_message(&self->inner, SYSTEM_UTSNAME, &self->detail);
	proto_message(&self->packet, PACKET_SYSTEM_INFO, &self->inner);
	return packet_end(self);
}

static void pftrace_intern(struct pftrace *self, enum interned_field list, uint64_t id,
			   const char *name)
{
	proto_number(&self->detail, ENTRY_ID, id);
	proto_text(&self->detail, ENTRY_NAME, name);
	proto_message(&self->inner, list, &self->detail);
}

/* Writes frequent names once; ids begin at 1. */
static int write_names(struct pftrace *self, const struct model *model)
{
	static const char *const others[] = { "text",    "stack",      "function",
					      "library", "unfinished", "stands_for_bytes" };

	for (unsigned domain = 0; domain < DOMAIN_NUMBERS; domain++)
		if (domain_key(domain) || model_has_domain(model, domain))
			pftrace_intern(self, INTERNED_CATEGORIES, domain + 1, amd_category(domain));
	for (unsigned kind = 1; kind < VALUE_KINDS; kind++)
		pftrace_intern(self, INTERNED_ANNOTATIONS, kind, value_name(kind));
	for (unsigned name = NAME_TEXT; name < ANNOTATION_NAMES; name++)
		pftrace_intern(self, INTERNED_ANNOTATIONS, name, others[name - NAME_TEXT]);
	for (uint32_t i = 0; i < model->process_count; i++) {
		const struct model_process *process = model->processes[i];

		for (uint32_t function = 0; function < process->function_count; function++)
			pftrace_intern(self, INTERNED_NAMES, process->first_function + function + 1,
				       process->functions[function].name);
	}
	proto_number(&self->packet, PACKET_FLAGS, FLAG_CLEARED);
	proto_message(&self->packet, PACKET_INTERNED, &self->inner);
	return packet_end(self);
}

static int write_process(struct pftrace *self, const struct model_process *process)
{
	proto_number(&self->detail, PROCESS_PID, (uint64_t)process->pid);
	proto_text(&self->detail, PROCESS_COMMAND, process->command);
	proto_text(&self->detail, PROCESS_NAME, process->name);
	proto_number(&self->inner, TRACK_UUID, process_track(process));
	proto_message(&self->inner, TRACK_PROCESS, &self->detail);
	proto_message(&self->packet, PACKET_TRACK, &self->inner);
	return packet_end(self);
}

static int write_thread(struct pftrace *self, const struct model_thread *thread)
{
	proto_number(&self->detail, THREAD_PID, (uint64_t)thread->process->pid);
	proto_number(&self->detail, THREAD_TID, (uint64_t)thread->tid);
	proto_text(&self->detail, THREAD_NAME, thread->name);
	proto_number(&self->inner, TRACK_UUID, lane_track(thread->number, 0));
	proto_number(&self->inner, TRACK_PARENT, process_track(thread->process));
	proto_message(&self->inner, TRACK_THREAD, &self->detail);
	proto_message(&self->packet, PACKET_TRACK, &self->inner);
	return packet_end(self);
}

static int write_named_track(struct pftrace *self, uint64_t track, uint64_t parent,
			     const char *name)
{
	proto_number(&self->inner, TRACK_UUID, track);
	proto_number(&self->inner, TRACK_PARENT, parent);
	proto_text(&self->inner, TRACK_NAME, name);
	proto_message(&self->packet, PACKET_TRACK, &self->inner);
	return packet_end(self);
}

/* A further track of a thread, or one for ranges of a process, or for work of a device. */
static int write_lane(struct pftrace *self, const struct call *call, uint32_t owner, uint32_t lane)
{
	bool is_work = call_is_work(call);
	uint64_t parent = is_work || call->is_process_wide ? process_track(call->process)
							   : lane_track(owner, 0);
	char name[WORK_TRACK_NAME + 32];

	if (is_work)
		snprintf(name, sizeof(name), "%s",
			 self->tracks.items[owner - lanes_track_owner(&self->lanes, 0)].name);
	else
		snprintf(name, sizeof(name), call->is_process_wide ? "ranges %u" : "overlapping %u",
			 lane + call->is_process_wide);
	return write_named_track(self, lane_track(owner, lane), parent, name);
}

static const char *const gauge_words[GAUGE_KINDS] = {
	[GAUGE_COPY] = "COPY BYTES to",
	[GAUGE_MEMORY] = "ALLOCATE BYTES on",
	[GAUGE_SCRATCH] = "SCRATCH MEMORY on",
};

static int write_gauge(struct pftrace *self, uint32_t number)
{
	const struct gauge *gauge = &self->gauges.items[number];
	char agent[64], name[WORK_TRACK_NAME];
	const char *type;
	int r = work_tracks_agent(&self->tracks, gauge->process, gauge->device, agent,
				  sizeof(agent), &type);

	if (r)
		return r;
	snprintf(name, sizeof(name), "%s %s (%s)", gauge_words[gauge->kind], agent, type);
	proto_number(&self->detail, COUNTER_UNIT, UNIT_BYTES);
	proto_message(&self->inner, TRACK_COUNTER, &self->detail);
	return write_named_track(self, gauge_track(number), process_track(gauge->process), name);
}

static void begin_event(struct pftrace *self, uint64_t time_ns, enum event_type type,
			uint64_t track)
{
	proto_number(&self->packet, PACKET_TIMESTAMP, time_ns);
	proto_number(&self->packet, PACKET_FLAGS, FLAG_NEEDS_INTERNED);
	proto_number(&self->inner, EVENT_TYPE, type);
	proto_number(&self->inner, EVENT_TRACK, track);
}

static int end_event(struct pftrace *self)
{
	proto_message(&self->packet, PACKET_EVENT, &self->inner);
	return packet_end(self);
}

static int write_slice_end(void *context, uint32_t owner, uint32_t lane, uint64_t end_ns)
{
	struct pftrace *self = context;

	begin_event(self, end_ns, SLICE_END, lane_track(owner, lane));
	return end_event(self);
}

static int write_amount(void *context, uint32_t gauge, uint64_t time_ns, int64_t value)
{
	struct pftrace *self = context;

	begin_event(self, time_ns, COUNTER, gauge_track(gauge));
	proto_number(&self->inner, EVENT_COUNTER_VALUE, (uint64_t)value);
	return end_event(self);
}

struct counter_tracks {
	struct pftrace *self;
	const struct call *call;
};

static int write_counter(struct pftrace *self, uint64_t track, uint64_t time_ns, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	begin_event(self, time_ns, COUNTER, track);
	proto_fixed(&self->inner, EVENT_COUNTER_REAL, bits);
	return end_event(self);
}

/* A track of its own for each counter of a device: its value while the kernel runs. */
static int write_counts(const struct recorded_counter *counter, const struct counter_values *values,
			void *context)
{
	const struct counter_tracks *tracks = context;
	struct pftrace *self = tracks->self;
	const struct call *call = tracks->call;
	uint64_t device = call_number(call, VALUE_DEVICE),
		 track = 1ull << 62 | (uint64_t)call->process->number << 40 |
			 (uint64_t)counter->number << 8 | (device & 0xff);
	char name[WORK_TRACK_NAME];
	bool is_new;
	int r = 0;

	if (!table_make(&self->counters, track, 0, &is_new))
		return -ENOMEM;
	if (is_new) {
		snprintf(name, sizeof(name), "%s AGENT [%" PRIu64 "]", counter->name, device);
		proto_message(&self->inner, TRACK_COUNTER, &self->detail);
		r = write_named_track(self, track, process_track(call->process), name);
	}
	if (!r)
		r = write_counter(self, track, call->begin_ns, counter_values_sum(values));
	return r ? r : write_counter(self, track, call->end_ns, 0);
}

static void name_slice(struct pftrace *self, const struct amd_event *event)
{
	const struct call *call = event->call;

	proto_number(&self->inner, EVENT_CATEGORY_ID, call->function->domain + 1u);
	if (call->kind == CALL_PLAIN && !call_is_work(call)) {
		proto_number(&self->inner, EVENT_NAME_ID, call->function_number + 1u);
		return;
	}
	proto_text(&self->inner, EVENT_NAME, event->name);
	annotation_put(&self->inner, &self->detail, NAME_FUNCTION, call->function->name);
	if (call->cut)
		annotation_put(&self->inner, &self->detail, NAME_UNFINISHED, call_cut_text(call));
}

static int write_event(struct pftrace *self, const struct amd_event *event, enum event_type type,
		       uint64_t track)
{
	begin_event(self, event->call->begin_ns, type, track);
	name_slice(self, event);
	/* A flow from calls of runtimes to work, by their common id. */
	if (domain_is_in(DOMAINS_GPU, event->call->function->domain) && event->correlation)
		proto_fixed(&self->inner, EVENT_FLOW, event->correlation);
	annotations_put(&self->inner, &self->detail, event->call);
	return end_event(self);
}

static int write_slice(struct pftrace *self, const struct amd_event *event, uint32_t owner)
{
	const struct call *call = event->call;
	bool is_new;
	uint32_t lane;
	int r = lanes_assign(&self->lanes, owner, call, &lane, &is_new);

	if (!r && is_new && (lane || call->is_process_wide || call_is_work(call)))
		r = write_lane(self, call, owner, lane);
	return r ? r : write_event(self, event, SLICE_BEGIN, lane_track(owner, lane));
}

static int write_work(struct pftrace *self, const struct amd_event *event)
{
	uint32_t track, gauge;
	bool is_new;
	int r = work_tracks_find(&self->tracks, event->call, &track, &is_new);

	if (!r)
		r = write_slice(self, event, lanes_track_owner(&self->lanes, track));
	if (!r)
		r = gauges_take(&self->gauges, event->call, &gauge);
	if (!r && gauge != UINT32_MAX)
		r = write_gauge(self, gauge);
	return r;
}

static int event_write(const struct amd_event *event, void *context)
{
	struct pftrace *self = context;

	if (event->domain == AMD_COUNTER)
		return counted_each(&self->style->view->counted, event->call, write_counts,
				    &(struct counter_tracks){ self, event->call });
	if (call_is_work(event->call))
		return write_work(self, event);
	if (event->call->kind == CALL_MARK) {
		int r = lanes_pass(&self->lanes, event->call);

		return r ? r
			 : write_event(self, event, INSTANT,
				       lane_track(event->call->thread->number, 0));
	}
	return write_slice(self, event, lanes_owner(&self->lanes, event->call));
}

static int write_trace(struct pftrace *self, struct model *model)
{
	const struct model_process *only = self->style->view->process;
	int r = write_names(self, model);

	if (!r)
		r = write_clocks(self, &model->first);
	if (!r)
		r = write_system(self, model);
	for (uint32_t i = 0; !r && i < model->process_count; i++)
		if (!only || only == model->processes[i])
			r = write_process(self, model->processes[i]);
	for (uint32_t i = 0; !r && i < model->thread_count; i++)
		if (!only || only == model->threads[i]->process)
			r = write_thread(self, model->threads[i]);
	if (!r)
		r = amd_each_event(self->style->view, event_write, self);
	if (!r)
		r = lanes_finish(&self->lanes);
	if (!r)
		r = gauges_finish(&self->gauges);
	return r ? r : write_clocks(self, &model->last);
}

int pftrace_write_styled(struct model *model, const struct pftrace_style *style, FILE *out)
{
	struct pftrace self = { .out = out, .style = style };
	int r = lanes_init(&self.lanes, model, write_slice_end, &self);

	self.gauges = (struct gauges){ .tell = write_amount, .context = &self };
	if (!r)
		r = work_tracks_init(&self.tracks, model, style->agent_index, style->is_by_stream);
	if (!r)
		r = write_trace(&self, model);
	lanes_done(&self.lanes);
	work_tracks_done(&self.tracks);
	gauges_done(&self.gauges);
	table_done(&self.counters);
	bytes_done(&self.trace);
	bytes_done(&self.packet);
	bytes_done(&self.inner);
	bytes_done(&self.detail);
	return r;
}

bool pftrace_has_streams(const struct amd_view *view)
{
	return model_has_domain(view->model, DOMAIN_HIP_RUNTIME);
}

static int pftrace_write(struct model *model, FILE *out)
{
	CLEANUP(amd_view_done) struct amd_view view = { 0 };
	struct pftrace_style style = { .view = &view };
	struct err err = { 0 };
	int r = amd_view_init(&view, model, &(struct amd_view_options){ 0 }, &err);

	if (!r)
		r = pftrace_write_styled(model, &style, out);
	if (!r)
		r = pftrace_windows_write(model, out);
	return r ? r : pftrace_samples_write(model, out);
}

const struct exporter_format format_pftrace = {
	.looks_like = "\n*\005alloc\n*",
	.write = pftrace_write,
};
