/*
 * Parses lists of counters, and checks that they can be counted together.
 */
#include "host/recorder/windows/counter_choice.h"

#include "host/core/text/plural.h"
#include "host/core/text/print.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The next name of a list: commas in braces and between slashes belong to the name. */
static bool list_next(const char **rest, char *ret, size_t room)
{
	const char *at = *rest;
	bool is_in_braces = false, is_in_slashes = false;
	size_t length = 0;

	while (*at == ',')
		at++;
	if (!*at)
		return false;
	for (; *at && (*at != ',' || is_in_braces || is_in_slashes); at++) {
		is_in_braces = *at == '{' || (is_in_braces && *at != '}');
		is_in_slashes ^= *at == '/';
		if (length + 1 < room)
			ret[length++] = *at;
	}
	ret[length] = '\0';
	*rest = at;
	return true;
}

/* True for names spelled as AMD's. */
static bool is_device_name(const char *name)
{
	bool has_capital = false;

	for (; *name; name++) {
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
		has_capital |= isupper((unsigned char)*name) != 0;
	}
	return has_capital;
}

static int choice_add(struct counter_choice *self, const char *name, struct err *err)
{
	struct err refusal = { 0 };
	int r = counter_events_parse(&self->events, name, &counter_sources_system, &refusal);

	if (!r)
		return 0;
	if (r != -ENOENT || !is_device_name(name)) {
		*err = refusal;
		return r;
	}
	if (self->text_count == CHOICE_NAMES_MAX) {
		err_set(err, -E2BIG, "more than %u counters", CHOICE_NAMES_MAX);
		return err_exit(err, EXIT_USAGE);
	}
	self->texts[self->text_count] = strdup(name);
	return self->texts[self->text_count++] ? 0 : err_set(err, -ENOMEM, "counters: no memory");
}

/* A queue's waves are counted only if its own bit allows it, and the driver sets that for all
 * queues only for processes that may hold its lock. */
static void note_invisible(struct counter_choice *self)
{
	const struct counter_plan *plan = &self->devices.plan;
	const char *name = NULL;

	for (size_t i = 0; i < plan->event_count && !name; i++)
		name = strcmp(plan->events[i].block, "SQ") ? NULL : plan->events[i].name;
	if (!name || self->devices.lock.state == LOCK_HELD)
		return;
	print_into(
		self->note, sizeof(self->note),
		"counters of the block SQ (%s) do not see the waves of the target's queues: %s",
		name,
		self->devices.lock.state == LOCK_FORBIDDEN
			? "the driver makes them visible for root or CAP_PERFMON only; run limpet "
			  "so, or: rocprofv3 --pmc, which counts them kernel by kernel"
			: "this driver (amdgpu) cannot make them visible; rocprofv3 --pmc counts "
			  "them kernel by kernel");
}

/* If one counter is unknown, none is started: the error would not be seen later. */
static int devices_open(struct counter_choice *self, struct err *err)
{
	const struct counter_wish wish = { .names = (const char *const *)self->texts,
					   .count = self->text_count,
					   .window_ns = self->options.interval_ns };
	int r = counter_collection_open(&self->devices, &wish, err);

	if (r)
		return err_while(err, "counter%s '%s'%s", plural(self->text_count), self->texts[0],
				 self->text_count > 1 ? " and others" : "");
	self->has_devices = true;
	note_invisible(self);
	if (!self->devices.plan.unknown[0])
		return 0;
	err_set(err, -ENOENT, "neither an event nor a counter of %s: %s",
		self->devices.plan.architecture, self->devices.plan.unknown);
	err_fix(err, "limpet stat --list lists those that are");
	return err_exit(err, EXIT_USAGE);
}

static int choice_begin(struct counter_choice *ret, uint64_t interval_ns, struct err *err)
{
	*ret = (struct counter_choice){ 0 };
	ret->options.interval_ns = interval_ns ? interval_ns : COUNTER_INTERVAL_NS;
	if (ret->options.interval_ns >= COUNTER_INTERVAL_LEAST_NS)
		return 0;
	err_set(err, -EINVAL, "--counter-interval: at least 1ms");
	return err_exit(err, EXIT_USAGE);
}

int counter_choice_make_gpus(struct counter_choice *ret, uint64_t interval_ns, struct err *err)
{
	int r = choice_begin(ret, interval_ns, err);

	ret->options.has_gpus = true;
	return r;
}

int counter_choice_make(struct counter_choice *ret, const char *const *lists, size_t count,
			uint64_t interval_ns, struct err *err)
{
	char name[1024];
	int r = choice_begin(ret, interval_ns, err);

	for (size_t i = 0; !r && i < count; i++)
		for (const char *list = lists[i]; !r && list_next(&list, name, sizeof(name));)
			r = choice_add(ret, name, err);
	if (!r && ret->text_count)
		r = devices_open(ret, err);
	if (!r && !ret->events.count && !ret->text_count) {
		err_set(err, -EINVAL, "--counters: no counter is named");
		r = err_exit(err, EXIT_USAGE);
	}
	ret->options.events = ret->events.count ? &ret->events : NULL;
	ret->options.devices = ret->has_devices ? &ret->devices : NULL;
	if (r)
		counter_choice_done(ret);
	return r;
}

void counter_choice_done(struct counter_choice *choice)
{
	if (choice->has_devices)
		counter_collection_close(&choice->devices);
	for (size_t i = 0; i < choice->text_count; i++)
		free(choice->texts[i]);
	*choice = (struct counter_choice){ 0 };
}

int counter_choice_check_alone(const struct counter_choice *choice, bool is_alone, struct err *err)
{
	if (!choice->has_devices || is_alone)
		return 0;
	err_set(err, -EINVAL, "counters of devices (%s) are read by one process",
		choice->devices.plan.counters[0].definition->name);
	err_why(err, "a device has each counter once; two that start it take it from each other");
	err_fix(err, "one -p PID, without --children: all that runs on the device is counted");
	return err_exit(err, EXIT_USAGE);
}
