/*
 * The messages of limpet record at its beginning and meanwhile: texts for people, and objects for
 * programs.
 */
#include "host/cli/record/visit.h"

#include "host/cli/common/command.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/domains.h"
#include "host/process/maps.h"
#include "host/process/procfs.h"

#include <string.h>

#define OFTEN_HZ 500u /* below, samples cost less than 3 % of any program that was measured */

/* Some traces need what stays only where the process has the runtime.  Nothing is known of a
 * program that has not started. */
void note_what_stays(const struct visit *self)
{
	unsigned runtimes = 0;
	const char *text;
	size_t number = 0;

	for (size_t i = 0; i < self->pid_count; i++) {
		struct maps maps = { 0 };
		struct err ignored; /* of a process that has just ended */

		if (!maps_read(self->pids[i], &maps, &ignored))
			runtimes |= runtimes_find(&maps);
		maps_done(&maps);
	}
	if (self->pid_count && !runtimes)
		return;
	while ((text = runtime_stays(runtimes, self->domains, &number)))
		print(stderr, "note: %s\n", text);
}

/* The typical cost for programs, measured in docs/benchmarks.md: that of the most expensive option.
 * Nothing is printed if it is below one percent, or not known. */
static const char *cost_text(const struct visit *self)
{
	const struct record_values *values = self->values;
	bool samples_allocations = self->traces && values->trace.alloc_sample;
	bool traces_allocations =
		self->traces && !values->trace.alloc_sample &&
		(values->trace.alloc_stacks || values->trace.domains & 1u << DOMAIN_ALLOC);
	bool traces_children = self->loads_agent && values->samples.children; /* each for itself */

	if (traces_children && traces_allocations)
		return "; may cost it a third of its speed, and a server that forks for each "
		       "connection a fifth, up to a half for some seconds";
	if (traces_allocations)
		return "; may cost it a third of its speed";
	if (traces_children)
		return "; may cost a server that forks for each connection a fifth of its speed, "
		       "up to a half for some seconds";
	if (samples_allocations || (self->samples && self->sampling.sampler.hz >= OFTEN_HZ))
		return "; may cost it 5 % of its speed";
	return "";
}

/* "4711 (redis-server)", for each of them. */
static const char *name_processes(const struct visit *self, char *ret, size_t room)
{
	if (self->values->samples.is_system_wide)
		return "every process";
	ret[0] = '\0';
	for (size_t i = 0; i < self->pid_count; i++) {
		char name[32] = "";
		struct err ignored;

		if (proc_read_small(self->pids[i], "comm", name, sizeof(name), &ignored) > 0)
			name[strcspn(name, "\n")] = '\0';
		print_append(ret, room, "%s%d (%s)", i ? ", " : "", self->pids[i], name);
	}
	return ret;
}

const char *descendants_text(const struct visit *self)
{
	if (!self->values->samples.children)
		return "";
	return self->pid_count > 1 ? " and their descendants" : " and its descendants";
}

static void write_attached(const struct visit *self, const char *how)
{
	const struct tracing *tracing = recorder_tracing(self->recorder, 0);
	const struct session *session = tracing ? &tracing->session : NULL;
	struct json json = json_event(stdout, "attached");

	json_signed(&json, "pid", self->pids[0]);
	json_text(&json, "file", self->path);
	if (session)
		json_number(&json, "pause_ns", session->attachment.report.pause_ns);
	json_text(&json, "sampling", how);
	if (visit_has_family(self)) {
		json_list(&json, "pids");
		for (size_t i = 0; i < self->pid_count; i++)
			json_signed(&json, NULL, self->pids[i]);
		json_list_end(&json);
		json_bool(&json, "children", self->values->samples.children);
		json_bool(&json, "all", self->values->samples.is_system_wide);
	}
	json_object_end(&json);
}

void print_attached(const struct visit *self)
{
	const struct sampler_options *sampler = &self->sampling.sampler;
	uint64_t duration_ns = self->values->duration_ns;
	char how[96] = "", names[512], limit[32] = "";
	struct sampling_totals sampled;

	if (self->samples) {
		sampling_totals(recorder_sampling(self->recorder), &sampled);
		snprintf(how, sizeof(how), "with %u sample%s a second%s, sampler %s", sampler->hz,
			 plural(sampler->hz), sampler->off_cpu ? " and of waits" : "",
			 sampled.sampler);
	}
	if (self->values->is_json) {
		write_attached(self, how);
		return;
	}
	if (duration_ns != UINT64_MAX)
		snprintf(limit, sizeof(limit), " for %.10g s", (double)duration_ns / 1e9);
	print(stderr, "recording %s%s%s%s into %s%s%s; %s\n",
	      name_processes(self, names, sizeof(names)), descendants_text(self), how[0] ? " " : "",
	      how, self->path, limit, cost_text(self),
	      self->launched ? "until it ends" : "Enter or Ctrl-C stops");
}

/* Lines of "sampler: reason". */
void print_sampler_reasons(struct visit *self)
{
	struct sampling *sampling = recorder_sampling(self->recorder);
	struct sampling_totals totals;
	char *rest = totals.reasons, *line;

	sampling_totals(sampling, &totals);
	while ((line = strsep(&rest, "\n")) && *line)
		if (!strstr(self->printed_reasons, line))
			print(stderr, "note: %s\n", line);
	sampling_totals(sampling, &totals);
	memcpy(self->printed_reasons, totals.reasons, sizeof(self->printed_reasons));
}

/* Domains of a program that limpet started are searched for before it begins: whether it had any is
 * known at its end.  A reason is known at once. */
void warn_absent(struct visit *self, const struct tracing *tracing)
{
	uint32_t absent = tracing_absent(tracing);
	char where[32] = "this process";

	if (visit_has_family(self))
		snprintf(where, sizeof(where), "process %d", tracing->pid);
	for (unsigned i = 0; i < DOMAINS; i++) {
		const char *why = trace_note(&tracing->trace, i);

		if (absent & 1u << i && self->launched && !why)
			continue;
		self->domains_seen |= 1u << i;
		if (absent & 1u << i)
			print(stderr, "warning: nothing to trace for %s in %s%s%s\n",
			      domain_name(i), where, why ? ": " : "", why ? why : "");
		else if (why)
			print(stderr, "warning: not all of %s is traced: %s\n", domain_name(i),
			      why);
	}
}

void print_program(struct visit *self)
{
	const struct tracing *tracing = recorder_tracing(self->recorder, 0);
	char name[96];

	if (!tracing || visit_has_family(self) || tracing->executed == self->programs)
		return;
	self->programs = tracing->executed;
	print(stderr,
	      "it executes another program now: recording %s, whose first calls may be missing\n",
	      target_name(&tracing->session.attachment.target, name, sizeof(name)));
}

void warn_unfollowed(const struct tracing *tracing)
{
	const struct err *why = tracing_unfollowed(tracing);
	struct tracing_changes changes;
	struct process_stat stat;

	tracing_count_changes(tracing, &changes);
	if (tracing_has_other_name(tracing, &stat))
		print(stderr,
		      "warning: the process ended as %s: if it had executed another program, that one "
		      "is not recorded\n",
		      stat.name);
	if (tracing->is_cut_off)
		print(stderr,
		      "warning: the program has closed limpet's descriptors, as daemons close "
		      "all: what it did from then on is not recorded; limpet record -p PID, "
		      "later, finds it\n");
	if (changes.count)
		print(stderr,
		      "warning: limpet detached %u time%s, because the program changed its user, "
		      "capabilities, root, namespaces or filters: not traced for %.0f ms%s\n",
		      changes.count, plural(changes.count), (double)changes.untraced_ns / 1e6,
		      changes.is_out ? ", to the end" : "");
	if (why)
		print(stderr, "warning: %s, which is not recorded: %s%s%s\n",
		      changes.is_out ? "it went on with other rights"
				     : "it executed another program",
		      why->what, why->why[0] ? "; " : "", why->why);
	for (unsigned i = 0; i < TRACE_NOTES; i++) {
		const char *note = trace_end_note(&tracing->trace, i);

		if (note)
			print(stderr, "warning: %s\n", note);
	}
}
