/*
 * From names of counters to what the tracer is told.
 */
#include "host/counters/amd/request.h"

#include "host/core/text/print.h"

#include <errno.h>
#include <stdarg.h>
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

/* See target/domains/amd/counters/request.h. */
static void device_write(struct counter_collection *self, const struct counter_device *device)
{
	uint64_t arrays =
		MAX(counter_property(device->properties, "simd_arrays_per_engine"), (uint64_t)1);
	uint64_t in_unit = MAX(counter_property(device->properties, "simd_per_cu"), (uint64_t)1);

	words_add(self, "counter-device=%u,%u,%u,%u,%u,%u,%u,%s;", device->node,
		  (unsigned)MAX(counter_property(device->properties, "num_xcc"), (uint64_t)1),
		  (unsigned)(counter_property(device->properties, "array_count") / arrays),
		  (unsigned)(counter_property(device->properties, "simd_count") / in_unit),
		  (unsigned)arrays, (unsigned)counter_property(device->properties, "domain"),
		  (unsigned)counter_property(device->properties, "location_id"),
		  device->architecture);
}

static int words_write(struct counter_collection *self, struct err *err)
{
	for (size_t i = 0; i < self->devices.count; i++)
		if (!strcmp(self->devices.items[i].architecture, self->plan.architecture))
			device_write(self, &self->devices.items[i]);
	for (size_t i = 0; i < self->plan.event_count; i++)
		words_add(self, "counter-event=%u,%u,%s;", self->plan.events[i].event,
			  self->plan.events[i].flags, self->plan.events[i].block);
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

/* By the first device that has any of them; where none has, why the first has not. */
static int collection_plan(struct counter_collection *self, const char *const *names, size_t count,
			   struct err *err)
{
	struct err one = { 0 };

	for (size_t i = 0; i < self->devices.count; i++) {
		one = (struct err){ 0 };
		if (!counter_plan_make(&self->plan, &self->definitions, &self->devices.items[i],
				       names, count, &one))
			return counter_plan_check(&self->plan, err);
		if (!err->code || one.code != -ENOENT)
			*err = one;
	}
	return err->code;
}

int counter_collection_open(struct counter_collection *ret, const char *folder, const char *extra,
			    const char *const *names, size_t count, struct err *err)
{
	int r;

	*ret = (struct counter_collection){ 0 };
	r = counter_devices_read(&ret->devices, err);
	if (!r)
		r = amd_counters_load(&ret->definitions, folder, err);
	if (!r && extra)
		r = amd_counters_parse(&ret->definitions, extra, strlen(extra), "extra counters",
				       err);
	if (!r)
		r = collection_plan(ret, names, count, err);
	if (!r)
		r = words_write(ret, err);
	if (!r)
		facts_write(ret);
	else
		counter_collection_close(ret);
	return r;
}

void counter_collection_close(struct counter_collection *collection)
{
	counter_plan_done(&collection->plan);
	counter_devices_done(&collection->devices);
	amd_counters_done(&collection->definitions);
}
