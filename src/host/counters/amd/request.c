/*
 * From names of counters to the tracer's request.
 */
#include "host/counters/amd/request.h"

#include "host/core/cleanup.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void words_add(struct counter_collection *self, const char *format, ...) PRINTF_LIKE(2, 3);
static void words_add(struct counter_collection *self, const char *format, ...)
{
	size_t length = strlen(self->words);
	va_list arguments;

	va_start(arguments, format);
	print_list(self->words + length, sizeof(self->words) - length, format, arguments);
	va_end(arguments);
}

/* See target/amd/counters/request.h. */
static void device_write(struct counter_collection *self, const struct counter_device *device)
{
	struct counter_shape shape = counter_device_shape(device);

	words_add(self, "counter-device=%u,%u,%u,%u,%u,%u,%u,%s;", device->node, shape.xccs,
		  shape.engines, shape.units, shape.arrays_per_engine, shape.domain, shape.location,
		  device->architecture);
}

/* Has the plan anything to count there? */
static bool collection_has(const struct counter_collection *self, size_t device)
{
	uint64_t all = 0;

	for (size_t i = 0; i < self->plan.event_count; i++)
		all |= self->event_devices[i];
	return all >> device & 1;
}

/* If not all devices count it: the list of devices before it. */
static void event_write(struct counter_collection *self, size_t index)
{
	const struct planned_event *event = &self->plan.events[index];
	uint64_t devices = self->event_devices[index], all = 0;
	const char *before = "@";
	unsigned position = 0;

	for (size_t i = 0; i < self->plan.event_count; i++)
		all |= self->event_devices[i];
	words_add(self, "counter-event=%u,%u,%s", event->event, event->flags, event->block);
	for (size_t i = 0; devices != all && i < self->devices.count; i++) {
		if (devices >> i & 1) {
			words_add(self, "%s%u", before, position);
			before = "+";
		}
		position += (unsigned)(all >> i & 1);
	}
	words_add(self, ";");
}

static int words_write(struct counter_collection *self, uint64_t window_ns, struct err *err)
{
	if (window_ns)
		words_add(self, "counter-window=%llu;", (unsigned long long)window_ns);
	for (size_t i = 0; i < self->devices.count; i++)
		if (collection_has(self, i))
			device_write(self, &self->devices.items[i]);
	for (size_t i = 0; i < self->plan.event_count; i++)
		event_write(self, i);
	if (strlen(self->words) + 1 < sizeof(self->words))
		return 0;
	err_set(err, -E2BIG, "too many counters and devices at once");
	return err_exit(err, EXIT_USAGE);
}

static const char *text_or_nothing(const char *text)
{
	return text ? text : "";
}

static void facts_write(struct counter_collection *self)
{
	const struct counter_plan *plan = &self->plan;

	for (size_t i = 0; i < plan->event_count; i++)
		self->facts[self->fact_count++] =
			(struct recorded_counter){ .is_event = true,
						   .flags = plan->events[i].flags,
						   .name = plan->events[i].name,
						   .block = plan->events[i].block,
						   .description = "",
						   .expression = "",
						   .expanded = "" };
	for (size_t i = 0; i < plan->counter_count; i++) {
		const struct amd_counter *counter = plan->counters[i].definition;

		self->facts[self->fact_count++] = (struct recorded_counter){
			.number = counter->number + 1,
			.name = counter->name,
			.block = text_or_nothing(counter->block),
			.description = counter->description,
			.expression = text_or_nothing(counter->expression),
			.expanded = plan->counters[i].expanded,
		};
	}
}

#define ANY_DEVICE UINT64_MAX

/* Names without their device. */
struct named_counters {
	char texts[PLAN_COUNTERS_MAX][DEFINITION_NAME_MAX];
	const char *names[PLAN_COUNTERS_MAX];
	uint64_t devices[PLAN_COUNTERS_MAX]; /* the GPU, from 0; ANY_DEVICE */
	size_t count;
};

static int refuse_name(const char *name, const char *why, const char *fix, struct err *err)
{
	err_usage(err, fix, "counter '%s' cannot be collected", name);
	return err_why(err, "%s", why);
}

static int name_read(struct named_counters *self, const char *name, size_t device_count,
		     struct err *err)
{
	static const char qualifier[] = ":device=",
			  fix[] = "COUNTER, or COUNTER:device=0 for the first GPU alone";
	const char *behind = strstr(name, qualifier);
	size_t length = behind ? (size_t)(behind - name) : strlen(name);
	struct text number = text_of(behind ? behind + strlen(qualifier) : "");
	uint64_t *device = &self->devices[self->count];

	if (self->count == PLAN_COUNTERS_MAX)
		return refuse_name(name, "more than 64 counters are asked for", "ask for fewer",
				   err);
	*device = ANY_DEVICE;
	if (behind && (!text_take_number(&number, 10, device) || number.at < number.end))
		return refuse_name(name, "behind ':device=' stands the number of a GPU, from 0",
				   fix, err);
	if (behind && *device >= device_count)
		return refuse_name(name, "this machine has no such GPU; the first one is 0", fix,
				   err);
	self->names[self->count] = self->texts[self->count];
	print_into(self->texts[self->count++], DEFINITION_NAME_MAX, "%.*s", (int)length, name);
	return 0;
}

/* Checks that the events of one device fit into one pass, and notes them. */
static int device_plan(struct counter_collection *self, const struct named_counters *counters,
		       size_t device, struct err *err)
{
	const struct plan_devices devices = { self->devices.items, self->devices.count, device };
	const char *names[PLAN_COUNTERS_MAX];
	struct counter_plan plan;
	struct err none = { 0 };
	size_t count = 0;
	int r;

	for (size_t i = 0; i < counters->count; i++)
		if (counters->devices[i] == ANY_DEVICE || counters->devices[i] == device)
			names[count++] = counters->names[i];
	if (!count || counter_plan_make(&plan, &self->definitions, &devices, names, count, &none))
		return 0;
	r = counter_plan_check(&plan, err);
	for (size_t i = 0; i < plan.event_count; i++)
		for (size_t j = 0; j < self->plan.event_count; j++)
			if (plan.events[i].name == self->plan.events[j].name &&
			    plan.events[i].flags == self->plan.events[j].flags)
				self->event_devices[j] |= (uint64_t)1 << device;
	counter_plan_done(&plan);
	return r;
}

/* By the first device that has any of them; where none has, why the first has not. */
static int architecture_plan(struct counter_collection *self, const struct named_counters *counters,
			     struct err *err)
{
	struct err one = { 0 };

	for (size_t i = 0; i < self->devices.count; i++) {
		const struct plan_devices devices = { self->devices.items, self->devices.count, i };

		one = (struct err){ 0 };
		if (!counter_plan_make(&self->plan, &self->definitions, &devices, counters->names,
				       counters->count, &one)) {
			*err = (struct err){ 0 };
			return 0;
		}
		if (!err->code || one.code != -ENOENT)
			*err = one;
	}
	return err->code;
}

static void leave_out(struct counter_collection *self, const struct counter_device *device)
{
	size_t at = strlen(self->left_out);

	print_into(self->left_out + at, sizeof(self->left_out) - at, "%sdevice %u (%s)",
		   at ? ", " : "", device->node, device->architecture);
}

static int collection_plan(struct counter_collection *self, const char *const *names, size_t count,
			   struct err *err)
{
	CLEANUP(free) struct named_counters *counters = calloc(1, sizeof(*counters));
	int r = 0;

	if (!counters)
		return err_set(err, -ENOMEM, "no memory for counters");
	for (size_t i = 0; !r && i < count; i++)
		r = name_read(counters, names[i], self->devices.count, err);
	if (!r)
		r = architecture_plan(self, counters, err);
	for (size_t i = 0; !r && i < self->devices.count; i++) {
		if (strcmp(self->devices.items[i].architecture, self->plan.architecture))
			leave_out(self, &self->devices.items[i]);
		else
			r = device_plan(self, counters, i, err);
	}
	if (self->devices.beyond)
		print_into(self->left_out + strlen(self->left_out),
			   sizeof(self->left_out) - strlen(self->left_out), "%s%zu more than %u",
			   self->left_out[0] ? ", " : "", self->devices.beyond,
			   COUNTER_DEVICES_MAX);
	return r;
}

int counter_collection_open(struct counter_collection *ret, const struct counter_wish *wish,
			    struct err *err)
{
	int r;

	*ret = (struct counter_collection){ .lock = DEVICE_LOCK_NONE };
	r = counter_devices_read(&ret->devices, err);
	if (!r)
		r = amd_counters_load(&ret->definitions, wish->folder, err);
	if (!r && wish->extra)
		r = amd_counters_parse(&ret->definitions, wish->extra, strlen(wish->extra),
				       "extra counters", err);
	if (!r)
		r = collection_plan(ret, wish->names, wish->count, err);
	if (!r)
		r = words_write(ret, wish->window_ns, err);
	if (!r)
		r = device_lock_take(&ret->lock, &ret->devices, ret->plan.architecture,
				     wish->window_ns != 0, err);
	if (!r)
		facts_write(ret);
	else
		counter_collection_close(ret);
	return r;
}

void counter_collection_close(struct counter_collection *collection)
{
	device_lock_release(&collection->lock);
	counter_plan_done(&collection->plan);
	counter_devices_done(&collection->devices);
	amd_counters_done(&collection->definitions);
}
