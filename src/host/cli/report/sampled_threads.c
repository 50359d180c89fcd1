/*
 * `limpet report` about what was sampled together: which processes and threads ran, and how long
 * all threads together were in which state.
 */
#include "host/cli/report/report.h"

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/model/samples/profile.h"
#include "host/process/threads.h"

#include <errno.h>
#include <stdlib.h>

/* Most running time first, then most samples. */
static int compare_processes(const void *left, const void *right)
{
	const struct process_profile *a = left, *b = right;
	uint64_t first = a->weights_ns[SAMPLE_RUNNING], second = b->weights_ns[SAMPLE_RUNNING];

	if (first != second)
		return first > second ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->process->number < b->process->number ? -1 : 1;
}

static void print_process(const struct recording_report *report, const struct process_profile *row,
			  uint64_t on_cpu_ns)
{
	print(stdout, "%7lu %9.1f %7.2f %7lu %7lu %7d  %" PRINAME, row->samples,
	      time_in_unit(report, row->weights_ns[SAMPLE_RUNNING]),
	      share_percent(row->weights_ns[SAMPLE_RUNNING], on_cpu_ns), row->incomplete,
	      row->threads, row->process->pid, row->process->name);
	if (row->process->command[0])
		print(stdout, ": %" PRINAME, row->process->command);
	print(stdout, "\n");
}

static void write_process(const struct process_profile *row, uint64_t on_cpu_ns)
{
	struct json json = json_event(stdout, "sampled_process");

	json_signed(&json, "pid", row->process->pid);
	json_text(&json, "name", row->process->name);
	json_text(&json, "executable", row->process->executable);
	json_text(&json, "command", row->process->command);
	json_number(&json, "threads", row->threads);
	json_number(&json, "samples", row->samples);
	json_number(&json, "on_cpu_ns", row->weights_ns[SAMPLE_RUNNING]);
	json_fixed(&json, "on_cpu_percent", share_of(row->weights_ns[SAMPLE_RUNNING], on_cpu_ns),
		   2);
	json_number(&json, "incomplete", row->incomplete);
	json_object_end(&json);
}

static int show_processes(const struct recording_report *report,
			  const struct thread_profile *threads, bool is_json)
{
	CLEANUP(free) struct process_profile *rows = NULL;
	uint32_t process_count = report->model->process_count;
	uint64_t on_cpu_ns = 0, count = 0;

	if (!is_json && process_count <= 1)
		return 0;
	if (process_profiles_add_up(&rows, report->model, threads))
		return -ENOMEM;
	for (uint32_t i = 0; i < process_count; i++)
		on_cpu_ns += rows[i].weights_ns[SAMPLE_RUNNING];
	if (process_count)
		qsort(rows, process_count, sizeof(*rows), compare_processes);
	if (!is_json)
		print(stdout, "\nprocesses: CPU time in %s\n%7s %9s %7s %7s %7s %7s  %s\n",
		      report->unit, "SAMPLES", "ON CPU", "%", "INCOMPL", "THREADS", "PID",
		      "NAME: COMMAND");
	for (uint32_t i = 0; i < process_count; i++) {
		if (!rows[i].samples)
			continue;
		if (is_json)
			write_process(&rows[i], on_cpu_ns);
		else if (!report->limit || count < report->limit)
			print_process(report, &rows[i], on_cpu_ns);
		count++;
	}
	if (!is_json)
		print_rest(report, 8, count);
	return 0;
}

/* Waits were recorded, too. */
static bool has_waits(const struct samples *samples)
{
	return samples->flags & SAMPLING_OFF_CPU || samples->kinds[SAMPLE_BLOCKED] ||
	       samples->kinds[SAMPLE_RUNNABLE];
}

/* Most running time first, then most waiting time. */
static int compare_threads(const void *left, const void *right)
{
	const struct thread_profile *a = left, *b = right;

	for (unsigned i = 0; i < SAMPLE_KINDS; i++)
		if (a->weights_ns[i] != b->weights_ns[i])
			return a->weights_ns[i] > b->weights_ns[i] ? -1 : 1;
	return a->thread->number < b->thread->number ? -1 : 1;
}

static bool has_samples(const struct thread_profile *row)
{
	return row->counts[SAMPLE_RUNNING] || row->counts[SAMPLE_BLOCKED] ||
	       row->counts[SAMPLE_RUNNABLE];
}

static void print_thread(const struct recording_report *report, const struct thread_profile *row,
			 bool is_python)
{
	const struct model *model = report->model;
	const struct model_thread *thread = row->thread;

	print(stdout, "%7lu %9.1f", thread->samples,
	      time_in_unit(report, row->weights_ns[SAMPLE_RUNNING]));
	if (has_waits(model->samples))
		print(stdout, " %9.1f %9.1f %9.1f",
		      time_in_unit(report, row->weights_ns[SAMPLE_BLOCKED]),
		      time_in_unit(report, row->disk_ns),
		      time_in_unit(report, row->weights_ns[SAMPLE_RUNNABLE]));
	/* Shares of the polls of the thread in which it held the interpreter's lock, or waited for
	 * it. */
	if (is_python && thread->gil_looks)
		print(stdout, " %6.1f %8.1f", share_percent(thread->gil_held, thread->gil_looks),
		      share_percent(thread->gil_waited, thread->gil_looks));
	else if (is_python)
		print(stdout, " %6s %8s", "-", "-");
	print(stdout, " %7lu %7d  ", row->incomplete, thread->tid);
	if (model->process_count > 1)
		print(stdout, "%" PRINAME " %d: ", thread->process->name, thread->process->pid);
	print(stdout, "%" PRINAME "\n", thread->name);
}

static void print_sampled(const struct recording_report *report, struct thread_profile *rows)
{
	const struct model *model = report->model;
	bool is_off_cpu = has_waits(model->samples), is_python = false;
	uint64_t count = 0;

	for (uint32_t i = 0; i < model->thread_count; i++)
		is_python |= model->threads[i]->gil_looks != 0;
	print(stdout, "\nthreads: times in %s%s\n", report->unit,
	      is_off_cpu ? "" : " (record --off-cpu also shows how long they waited)");
	print(stdout, "%7s %9s", "SAMPLES", "ON CPU");
	if (is_off_cpu)
		print(stdout, " %9s %9s %9s", "WAITED", "FOR DISK", "RUNNABLE");
	if (is_python)
		print(stdout, " %6s %8s", "GIL %", "FOR GIL");
	print(stdout, " %7s %7s  %s\n", "INCOMPL", "TID",
	      model->process_count > 1 ? "PROCESS: NAME" : "NAME");
	if (model->thread_count)
		qsort(rows, model->thread_count, sizeof(*rows), compare_threads);
	for (uint32_t i = 0; i < model->thread_count; i++) {
		if (!has_samples(&rows[i]))
			continue;
		if (!report->limit || count < report->limit)
			print_thread(report, &rows[i], is_python);
		count++;
	}
	print_rest(report, 8, count);
}

static void write_thread(const struct thread_profile *row)
{
	const struct model_thread *thread = row->thread;
	struct json json = json_event(stdout, "sampled_thread");

	json_signed(&json, "pid", thread->process->pid);
	json_text(&json, "process", thread->process->name);
	json_signed(&json, "tid", thread->tid);
	json_text(&json, "name", thread->name);
	json_number(&json, "samples", thread->samples);
	json_number(&json, "on_cpu_ns", row->weights_ns[SAMPLE_RUNNING]);
	json_number(&json, "waited_ns", row->weights_ns[SAMPLE_BLOCKED]);
	json_number(&json, "disk_ns", row->disk_ns);
	json_number(&json, "runnable_ns", row->weights_ns[SAMPLE_RUNNABLE]);
	json_number(&json, "incomplete", row->incomplete);
	if (thread->gil_looks) {
		json_number(&json, "gil_looks", thread->gil_looks);
		json_number(&json, "gil_held", thread->gil_held);
		json_number(&json, "gil_waited", thread->gil_waited);
	}
	json_object_end(&json);
}

/* States are letters of /proc. */
#define STATES 128u

struct state_row {
	uint64_t samples, time_ns;
};

struct states {
	struct state_row rows[SAMPLE_KINDS][STATES];
	uint64_t time_ns;
};

static int state_add(const struct sample_event *event, void *context)
{
	struct states *self = context;
	unsigned state = event->kind == SAMPLE_BLOCKED ? (unsigned char)event->state % STATES : 0;
	struct state_row *row = &self->rows[event->kind][state];

	row->samples++;
	row->time_ns += event->weight_ns;
	self->time_ns += event->weight_ns;
	return 0;
}

/* For people where waits were recorded too. */
static int show_states(const struct recording_report *report, bool is_json)
{
	/* That state has another name in JSON since 0.1.0. */
	const char *runnable = is_json ? "wants a processor" : "runnable";
	struct states states = { 0 };
	int r = model_each_sample(report->model, state_add, &states);

	if (r || (!is_json && !has_waits(report->model->samples)))
		return r;
	if (!is_json)
		print(stdout, "\nstates: time of all threads\n%8s %12s %9s  %s\n", "%",
		      report->unit, "SAMPLES", "STATE");
	for (unsigned i = 0; i < SAMPLE_KINDS * STATES; i++) {
		unsigned kind = i / STATES;
		const struct state_row *row = &states.rows[kind][i % STATES];
		const char *name = kind == SAMPLE_BLOCKED   ? thread_state_name((char)(i % STATES))
				   : kind == SAMPLE_RUNNING ? "running"
							    : runnable;

		if (row->samples && is_json) {
			struct json json = json_event(stdout, "sampled_state");

			json_text(&json, "state", name);
			json_number(&json, "samples", row->samples);
			json_number(&json, "time_ns", row->time_ns);
			json_object_end(&json);
		} else if (row->samples) {
			print(stdout, "%8.2f %12.3f %9lu  %s\n",
			      share_percent(row->time_ns, states.time_ns),
			      time_in_unit(report, row->time_ns), row->samples, name);
		}
	}
	return 0;
}

int show_sampled_threads(const struct recording_report *report, bool is_json)
{
	CLEANUP(free) struct thread_profile *threads = NULL;

	if (thread_profiles_find(&threads, report->model) ||
	    show_processes(report, threads, is_json))
		return -ENOMEM;
	if (!is_json)
		print_sampled(report, threads);
	for (uint32_t i = 0; is_json && i < report->model->thread_count; i++)
		if (has_samples(&threads[i]))
			write_thread(&threads[i]);
	return show_states(report, is_json);
}
