/*
 * Readings are foreign bytes that were checked one by one; whether they fit together is checked
 * here.  On the collector's thread.
 */
#include "host/recorder/windows/windows.h"

#include "host/core/text/print.h"
#include "host/counters/amd/formulas.h"
#include "host/counters/amd/request.h"
#include "host/recorder/base/tick_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct known_device {
	uint64_t number;
	uint64_t begin, at; /* of the last reading */
	struct record_count *counts, *difference;
	size_t count;
	struct recorded_metric metrics[FORMULAS_MAX];
	char subject[64];
	const char *properties;
};

struct device_windows {
	struct counter_formulas formulas;
	struct known_device *devices[COUNTER_DEVICES_MAX];
	size_t device_count;
	struct tick_clock clock;
	struct window_batch batch;
	uint64_t count;
};

int device_windows_new(struct device_windows **ret, struct recording *recording,
		       const struct window_options *options, struct err *err)
{
	struct device_windows *self = calloc(1, sizeof(*self));

	if (!self)
		return err_set(err, -ENOMEM, "counters: no memory");
	self->batch = (struct window_batch){ .recording = recording, .options = *options };
	counter_formulas_init(&self->formulas, options->devices->facts,
			      options->devices->fact_count);
	tick_clock_begin(&self->clock);
	*ret = self;
	return 0;
}

void device_windows_free(struct device_windows *self)
{
	if (!self)
		return;
	for (size_t i = 0; i < self->device_count; i++) {
		free(self->devices[i]->counts);
		free(self->devices[i]->difference);
		free(self->devices[i]);
	}
	counter_formulas_done(&self->formulas);
	free(self->batch.items);
	free(self);
}

uint64_t device_windows_count(const struct device_windows *self)
{
	return self->count;
}

int device_windows_flush(struct device_windows *self, struct err *err)
{
	return window_batch_flush(&self->batch, err);
}

static int metrics_announce(struct device_windows *self, struct known_device *device,
			    struct err *err)
{
	for (uint32_t i = 0; i < self->formulas.count; i++) {
		const struct recorded_counter *fact = counter_formula_fact(&self->formulas, i);
		bool adds_up = counter_formula_adds_up(&self->formulas, i);

		device->metrics[i] =
			(struct recorded_metric){ .process = PROCESS_NONE,
						  .form = adds_up ? METRIC_COUNT : METRIC_LEVEL,
						  .device = device->number,
						  .source = "amd",
						  .name = fact->name,
						  .unit = "",
						  .subject = device->subject,
						  .description = fact->description };
	}
	return recording_metrics(self->batch.recording, device->metrics, self->formulas.count, err);
}

static int device_add(struct device_windows *self, uint64_t number, struct known_device **ret,
		      struct err *err)
{
	const struct counter_devices *all = &self->batch.options.devices->devices;
	struct known_device *device;
	const struct counter_device *known = NULL;

	if (self->device_count == COUNTER_DEVICES_MAX)
		return 0;
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].node == number)
			known = &all->items[i];
	device = calloc(1, sizeof(*device));
	if (!device)
		return err_set(err, -ENOMEM, "counters: no memory");
	device->counts = calloc(READING_COUNTS_MAX, sizeof(*device->counts));
	device->difference = calloc(READING_COUNTS_MAX, sizeof(*device->difference));
	device->number = number;
	device->properties = known ? known->properties : NULL;
	print_into(device->subject, sizeof(device->subject), "%s %llu",
		   known ? known->architecture : "device", (unsigned long long)number);
	self->devices[self->device_count++] = device;
	if (!device->counts || !device->difference)
		return err_set(err, -ENOMEM, "counters: no memory");
	*ret = device;
	return metrics_announce(self, device, err);
}

/* The counts since the previous reading; false: another tool has used the counters meanwhile, and
 * the time between is not known. */
static bool difference_make(struct known_device *device, const struct device_reading *reading)
{
	bool goes_on = device->count && device->begin == reading->begin;

	if (goes_on && device->count != reading->count)
		return false;
	for (size_t i = 0; i < reading->count; i++) {
		uint64_t before = goes_on ? device->counts[i].value : 0;

		if (goes_on && (device->counts[i].id != reading->counts[i].id ||
				reading->counts[i].value < before))
			return false;
		device->difference[i] = (struct record_count){ reading->counts[i].id,
							       reading->counts[i].value - before };
	}
	return true;
}

static int metric_write(struct device_windows *self, const struct known_device *device,
			uint32_t index, struct recorded_window *window, struct err *err)
{
	const struct event_counts counts = { device->difference, device->count,
					     device->properties };
	struct counter_values values;
	int r = counter_formula_values(&self->formulas, index, &counts, &values);

	if (r == -ENOMEM)
		return err_set(err, r, "counters: no memory");
	window->metric = device->metrics[index].number;
	window->flags = r ? WINDOW_MISSING : 0;
	window->value = r ? 0 : counter_values_sum(&values);
	free(values.items);
	self->count++;
	return window_batch_add(&self->batch, &device->metrics[index], window, err);
}

int device_windows_add(void *context, const struct device_reading *reading, struct err *err)
{
	struct device_windows *self = context;
	struct known_device *device = NULL;
	uint64_t from, is_sound;
	struct recorded_window window;
	int r = 0;

	for (size_t i = 0; i < self->device_count; i++)
		if (self->devices[i]->number == reading->device)
			device = self->devices[i];
	if (!device)
		r = device_add(self, reading->device, &device, err);
	if (r || !device)
		return r;
	from = device->count && device->begin == reading->begin ? device->at : reading->begin;
	is_sound = reading->at > from && difference_make(device, reading);
	device->begin = reading->begin;
	device->at = reading->at;
	device->count = reading->count;
	memcpy(device->counts, reading->counts, reading->count * sizeof(*device->counts));
	tick_clock_update(&self->clock);
	window = (struct recorded_window){ .begin_ns = tick_clock_ns(&self->clock, from),
					   .end_ns = tick_clock_ns(&self->clock, reading->at) };
	for (uint32_t i = 0; is_sound && !r && i < self->formulas.count; i++)
		r = metric_write(self, device, i, &window, err);
	return r;
}
