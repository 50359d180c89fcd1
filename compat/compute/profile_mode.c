/*
 * From metrics to the folder of a workload.  All refusals come before the process is touched, and
 * errors of the request before a file is made.
 */
#include "modes.h"

#include "collect.h"
#include "definitions/definitions.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct profiling_mode {
	const struct compute_options *options;
	struct speaker *speaker;
	struct counter_devices devices;
	const struct counter_device *device;
	struct compute_definitions definitions;
	struct panels panels;
	struct metric_list set;
	struct texts ids; /* the metrics that were chosen */
	struct counter_selection selection;
	struct counter_passes *passes;
	char folder[600];
};

static void skipped_report(void *context, const char *text)
{
	struct profiling_mode *self = context;

	speaker_say(self->speaker, SAY_WARNING, "%s", text);
}

static int options_check(const struct compute_options *options, struct err *err)
{
	if (!options->name && !options->path)
		return err_usage(err, "-n NAME, or -p FOLDER", "the workload has no name");
	if (options->name && (strchr(options->name, '/') || options->name[0] == '.'))
		return err_usage(err, "-n NAME without '/', and -p FOLDER for where it lies",
				 "the workload's name is no name of a folder");
	if (options->blocks.count && options->set)
		return err_usage(err, "--block ID ..., or --set NAME",
				 "--block and --set are exclusive options.");
	if (options->pid && options->command)
		return err_usage(err, "--attach-pid PID, or: -- PROGRAM ...",
				 "both a process and a program to start are given");
	if (!options->pid && !options->command)
		return err_usage(err, "--attach-pid PID, or: -- PROGRAM ...",
				 "there is nothing to profile");
	return 0;
}

static int process_check(const struct compute_options *options, struct err *err)
{
	uint64_t duration_ms;
	pid_t pid;

	if (options->duration_ms &&
	    text_parse_number(options->duration_ms, UINT64_MAX / 1000000 - 1, &duration_ms))
		return err_usage(err, "--attach-duration-msec 5000",
				 "the duration is not a number of milliseconds");
	if (!options->pid)
		return 0;
	if (text_parse_pid(options->pid, &pid))
		return err_usage(err, NULL, "'%s' is not a process ID", options->pid);
	if (!kill(pid, 0) || errno != ESRCH)
		return 0;
	err_set(err, -ESRCH, "there is no process %d", pid);
	return err_exit(err, EXIT_NO_PROCESS);
}

/* The first device; the engine leaves out those of other architectures, with a note. */
static int device_find(struct profiling_mode *self, struct err *err)
{
	int r = counter_devices_read(&self->devices, err);

	if (r)
		return r;
	self->device = &self->devices.items[0];
	return compute_definitions_find(&self->definitions, self->options->config_folder, err);
}

static int panels_find_for(struct profiling_mode *self, const char *architecture, struct err *err)
{
	char folder[600];

	print_into(folder, sizeof(folder), "%s/%s", self->definitions.reports, architecture);
	return panels_read(&self->panels, folder, err);
}

static int metrics_choose(struct profiling_mode *self, struct err *err)
{
	const struct compute_options *options = self->options;
	int r = 0;

	self->ids = options->blocks;
	if (options->set)
		r = set_read(&self->definitions, self->device->architecture, options->set,
			     &self->set, err);
	for (size_t i = 0; !r && i < self->set.count; i++)
		self->ids.items[self->ids.count++] = self->set.items[i];
	if (!r)
		r = selection_add(&self->selection, &self->panels, self->ids.items, self->ids.count,
				  err);
	return r ? r : passes_pack(self->passes, &self->selection, self->device->architecture, err);
}

static int passes_check(const struct profiling_mode *self, struct err *err)
{
	if (!self->passes->count)
		return err_usage(err, "rocprof-compute profile --list-metrics",
				 "No performance counters to collect, please check the provided "
				 "profiling filters");
	if (self->passes->count == 1 || !self->options->pid)
		return 0;
	/* In AMD's words. */
	err_set(err, -E2BIG,
		"Cannot attach process for profiling as the requested performance counters exceed "
		"the collection capacity of single pass counter collection.");
	err_why(err,
		"The current setup of requested counter blocks needs %zu number of passes. Please "
		"use \"--block\" or \"--set\" to adjust or reduce the requested performance "
		"metrics!",
		self->passes->count);
	err_fix(err, "--list-sets: sets that fit at once");
	return err_exit(err, EXIT_USAGE);
}

static int files_write(struct profiling_mode *self, struct err *err)
{
	char path[700], command[1024];
	const struct system_info info = { self->options->name ? self->options->name : "", command,
					  self->device };
	int r = 0;

	for (size_t i = 0; !r && i < self->passes->count; i++)
		r = perfmon_write(self->folder, i, &self->passes->items[i], err);
	if (!r)
		r = profiling_config_write(self->folder, self->options, &self->ids, err);
	print_into(path, sizeof(path), "%s/sysinfo.csv", self->folder);
	command[0] = '\0';
	if (self->options->pid)
		print_into(command, sizeof(command), "attached to process %s", self->options->pid);
	for (char **word = self->options->command; word && *word; word++)
		print_into(command + strlen(command), sizeof(command) - strlen(command), "%s%s",
			   word == self->options->command ? "" : " ", *word);
	return r ? r : system_info_write(&info, path, err);
}

static void pass_report(const struct profiling_mode *self, size_t index)
{
	const struct counter_pass *pass = &self->passes->items[index];
	char names[1024] = "";

	for (size_t i = 0; i < pass->count; i++)
		print_into(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			   i ? ", " : "", pass->names[i]);
	speaker_say(self->speaker, SAY_INFO, "[Run %zu/%zu]", index + 1, self->passes->count);
	speaker_say(self->speaker, SAY_TRACE, "Collecting following counters: %s", names);
}

static int passes_collect(struct profiling_mode *self, int *ret_status, struct err *err)
{
	struct collecting collecting = { self->options, self->folder, self->definitions.counters,
					 self->speaker, 0 };
	struct counter_rows rows;
	int r = counter_rows_open(&rows, self->folder, err);

	for (size_t i = 0; !r && i < self->passes->count; i++) {
		pass_report(self, i);
		r = collect_pass(&collecting, i, &self->passes->items[i], &rows, err);
	}
	if (!r)
		r = output_commit(&rows.file, err);
	output_discard(&rows.file);
	*ret_status = collecting.status;
	if (!r && !rows.rows)
		speaker_say(self->speaker, SAY_WARNING,
			    "pmc_perf.csv is empty: no kernel was counted meanwhile");
	else if (!r)
		speaker_say(self->speaker, SAY_INFO, "%zu kernels in %s/pmc_perf.csv", rows.kernels,
			    self->folder);
	return r;
}

static void begin_report(const struct profiling_mode *self)
{
	speaker_say(self->speaker, SAY_INFO, "Path: %s", self->folder);
	speaker_say(self->speaker, SAY_INFO, "Target: %s", self->device->architecture);
	if (self->options->set)
		speaker_say(self->speaker, SAY_INFO, "Set Selection: %s", self->options->set);
	if (!self->options->has_no_roof)
		speaker_say(self->speaker, SAY_WARNING,
			    "no roofline is made: it is measured by programs of AMD's (--no-roof "
			    "says nothing of it)");
}

static int mode_profile(struct profiling_mode *self, int *ret_status, struct err *err)
{
	char model[32];
	int r = options_check(self->options, err);

	if (!r)
		r = process_check(self->options, err);
	if (!r)
		r = device_find(self, err);
	if (!r)
		r = panels_find_for(self, self->device->architecture, err);
	if (!r)
		r = metrics_choose(self, err);
	if (!r)
		r = passes_check(self, err);
	if (r)
		return r;
	device_model(self->device, model, sizeof(model));
	if (self->options->path)
		print_into(self->folder, sizeof(self->folder), "%s", self->options->path);
	else
		print_into(self->folder, sizeof(self->folder), "workloads/%s/%s",
			   self->options->name, model);
	r = speaker_open_log(self->speaker, self->folder, err);
	if (r)
		return r;
	begin_report(self);
	r = files_write(self, err);
	return r ? r : passes_collect(self, ret_status, err);
}

static void table_print(const struct metric_table *table)
{
	const struct yaml_node *key = yaml_keys(table->metrics);

	if (!table->source)
		print(stdout, "\t%u.%u -> %s\n", table->id / 100, table->id % 100, table->title);
	for (size_t i = 0; key; key = key->next->next, i++)
		print(stdout, "\t\t%u.%u.%zu -> %s\n", table->id / 100, table->id % 100, i,
		      yaml_name(key));
}

/* An architecture that is named needs no device. */
static int mode_list(struct profiling_mode *self, struct err *err)
{
	const char *architecture = self->options->list_metrics;
	int r = architecture ? compute_definitions_find(&self->definitions,
							self->options->config_folder, err)
			     : device_find(self, err);

	if (!r && !architecture)
		architecture = self->device->architecture;
	if (!r && self->options->lists_sets)
		return sets_print(stdout, &self->definitions, architecture, err);
	if (!r)
		r = panels_find_for(self, architecture, err);
	for (size_t i = 0; !r && i < self->panels.count; i++) {
		const struct panel *panel = self->panels.items[i];

		print(stdout, "%u -> %s\n", panel->id / 100, panel->title);
		for (size_t k = 0; k < panel->table_count; k++)
			table_print(&panel->tables[k]);
	}
	return r;
}

int profile_mode_run(const struct compute_options *options, struct speaker *speaker,
		     int *ret_status, struct err *err)
{
	CLEANUP(free) struct counter_passes *passes = calloc(1, sizeof(*passes));
	struct profiling_mode self = { .options = options, .speaker = speaker, .passes = passes };
	int r = passes ? 0 : err_set(err, -ENOMEM, "no memory for counters");

	self.selection = (struct counter_selection){ .tell = skipped_report, .context = &self };
	if (!r && (options->lists_metrics || options->lists_sets))
		r = mode_list(&self, err);
	else if (!r)
		r = mode_profile(&self, ret_status, err);
	selection_done(&self.selection);
	metric_list_done(&self.set);
	panels_done(&self.panels);
	counter_devices_done(&self.devices);
	return r;
}
