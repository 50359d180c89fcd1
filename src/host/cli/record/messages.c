/*
 * Texts for people, and objects for programs.
 */
#include "host/cli/record/messages.h"

#include "host/cli/printable.h"
#include "host/core/text/json.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/domains.h"
#include "host/process/procfs.h"
#include "host/recording/facts.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#define OFTEN_HZ 500u /* below, samples cost less than 3 % of any program that was measured */

/* As it was understood. */
static const char *duration_text(uint64_t duration_ns, char ret[32])
{
	ret[0] = '\0';
	if (duration_ns != UINT64_MAX)
		snprintf(ret, 32, " for %.10g s", (double)duration_ns / 1e9);
	return ret;
}

static bool traces_allocations(const struct visit *self)
{
	const struct record_values *values = self->values;
	bool is_traced = values->alloc_stacks || values->domains_traced & 1u << DOMAIN_ALLOC;

	return self->traces && is_traced && !values->alloc_sample;
}

static bool samples_allocations(const struct visit *self)
{
	return self->traces && self->values->alloc_sample;
}

static bool samples_often(const struct visit *self)
{
	return self->samples && self->sampling.sampler.hz >= OFTEN_HZ;
}

/* Each child is attached to for itself. */
static bool traces_children(const struct visit *self)
{
	return self->loads_agent && self->values->samples.children;
}

static bool traces_their_allocations(const struct visit *self)
{
	return traces_children(self) && traces_allocations(self);
}

/* The typical cost for programs, measured in docs/benchmarks.md: that of the most expensive option.
 * Nothing is printed if it is below one percent, or not known. */
static const char *cost_text(const struct visit *self)
{
	static const struct {
		bool (*is_asked)(const struct visit *self);
		const char *text;
	} costs[] = {
		{ traces_their_allocations,
		  "; may cost it a third of its speed, and a server that forks for each "
		  "connection a fifth, up to a half for some seconds" },
		{ traces_allocations, "; may cost it a third of its speed" },
		{ traces_children,
		  "; may cost a server that forks for each connection a fifth of its speed, "
		  "up to a half for some seconds" },
		{ samples_allocations, "; may cost it 5 % of its speed" },
		{ samples_often, "; may cost it 5 % of its speed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(costs); i++)
		if (costs[i].is_asked(self))
			return costs[i].text;
	return "";
}

/* "4711 (redis-server)", for each of them. */
static const char *name_processes(const struct visit *self, char *ret, size_t room)
{
	size_t used = 0;

	ret[0] = '\0';
	if (self->values->samples.is_system_wide) {
		snprintf(ret, room, "every process");
		return ret;
	}
	for (size_t i = 0; i < self->pid_count && used < room; i++) {
		char name[32] = "", shown[NAME_MAX_SHOWN];
		struct err ignored;

		if (proc_read_small(self->pids[i], "comm", name, sizeof(name), &ignored) > 0)
			name[strcspn(name, "\n")] = '\0';
		used += (size_t)snprintf(ret + used, room - used, "%s%d (%s)", i ? ", " : "",
					 self->pids[i], printable(name, shown));
	}
	return ret;
}

static const char *descendants_text(const struct visit *self)
{
	if (!self->values->samples.children)
		return "";
	return self->pid_count > 1 ? " and their descendants" : " and its descendants";
}

static void print_attached_json(const struct visit *self, const char *how)
{
	const struct tracing *tracing = recorder_tracing(self->recorder, 0);
	const struct session *session = tracing ? tracing_session(tracing) : NULL;
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "attached");
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
	fflush(stdout);
}

void print_attached(const struct visit *self)
{
	char how[96] = "", names[512], limit[32];

	if (self->samples)
		samples_describe(recorder_sampling(self->recorder), &self->sampling, how,
				 sizeof(how));
	if (self->values->is_json) {
		print_attached_json(self, how);
		return;
	}
	print(stderr, "recording %s%s%s%s into %s%s%s; %s\n",
	      name_processes(self, names, sizeof(names)), descendants_text(self), how[0] ? " " : "",
	      how, self->path, duration_text(self->values->duration_ns, limit), cost_text(self),
	      self->launched ? "until it ends" : "Enter or Ctrl-C stops");
}

/* Domains of a program that limpet started are searched for before it begins: whether it had any is
 * known at its end.  A reason is known at once. */
void warn_absent(struct visit *self, const struct tracing *tracing)
{
	uint32_t absent = tracing_absent(tracing);
	char where[32] = "this process";

	if (visit_has_family(self))
		snprintf(where, sizeof(where), "process %d", tracing_pid(tracing));
	for (unsigned i = 0; i < DOMAINS; i++) {
		const char *why = tracing_note(tracing, i);

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

void warn_never_seen(const struct visit *self)
{
	uint32_t looked_for = self->domains & ~DOMAINS_BPF;

	for (unsigned i = 0; self->launched && i < DOMAINS; i++)
		if (looked_for & ~self->domains_seen & 1u << i)
			print(stderr, "warning: nothing to trace for %s in the program%s\n",
			      domain_name(i), descendants_text(self));
}

void tell_joined(const struct visit *self, const struct tracing *tracing)
{
	struct json json = { .out = stdout };

	if (!self->values->is_json || !visit_has_family(self))
		return;
	json_object(&json, NULL);
	json_text(&json, "event", "traced");
	json_signed(&json, "pid", tracing_pid(tracing));
	json_object_end(&json);
	fflush(stdout);
}

void tell_skipped(const struct visit *self, pid_t pid, const struct err *err)
{
	struct json json = { .out = stdout };

	print(stderr, "warning: not traced: %s%s%s\n", err->what, err->why[0] ? ": " : "",
	      err->why);
	if (!self->values->is_json)
		return;
	json_object(&json, NULL);
	json_text(&json, "event", "skipped");
	json_signed(&json, "pid", pid);
	json_text(&json, "error", err->what);
	json_text(&json, "why", err->why);
	json_text(&json, "fix", err->fix);
	json_object_end(&json);
}

/* Reports that the process runs another program. */
void tell_program(struct visit *self)
{
	const struct tracing *tracing = recorder_tracing(self->recorder, 0);
	char name[96];

	if (!tracing || visit_has_family(self) || tracing_programs(tracing) == self->programs)
		return;
	self->programs = tracing_programs(tracing);
	print(stderr,
	      "it executes another program now: recording %s, whose first calls may be missing\n",
	      target_name(&tracing_session(tracing)->attachment.target, name, sizeof(name)));
}

static bool changes_are_out(const struct tracing *tracing)
{
	struct tracing_changes changes;

	tracing_count_changes(tracing, &changes);
	return changes.is_out;
}

static void warn_changes(const struct tracing *tracing)
{
	struct tracing_changes changes;

	tracing_count_changes(tracing, &changes);
	if (changes.count)
		print(stderr,
		      "warning: limpet detached %u time%s, because the program changed its user, "
		      "capabilities, root, namespaces or filters: not traced for %.0f ms%s\n",
		      changes.count, plural(changes.count), (double)changes.untraced_ns / 1e6,
		      changes.is_out ? ", to the end" : "");
}

void warn_unfollowed(const struct tracing *tracing)
{
	const struct err *why = tracing_unfollowed(tracing);
	struct process_stat stat;

	if (tracing_has_other_name(tracing, &stat))
		print(stderr,
		      "warning: the process ended as %s: if it had executed another program, that one "
		      "is not recorded\n",
		      stat.name);
	if (tracing_is_cut_off(tracing))
		print(stderr,
		      "warning: the program has closed limpet's descriptors, as daemons close "
		      "all: what it did from then on is not recorded; limpet record -p PID, "
		      "later, finds it\n");
	warn_changes(tracing);
	if (why)
		print(stderr, "warning: %s, which is not recorded: %s%s%s\n",
		      changes_are_out(tracing) ? "it went on with other rights"
					       : "it executed another program",
		      why->what, why->why[0] ? "; " : "", why->why);
}

void warn_notes(const struct tracing *tracing)
{
	for (unsigned i = 0; i < TRACE_NOTES; i++) {
		const char *note = tracing_end_note(tracing, i);

		if (note)
			print(stderr, "warning: %s\n", note);
	}
}

/* More room does not help counters that could not be made. */
void warn_drops(const struct collect_totals *totals)
{
	uint64_t unmade = totals->drops[DROP_NO_COUNTER],
		 others = drops_sum(totals->drops) - unmade;

	if (unmade)
		print(stderr,
		      "warning: up to %" PRIu64
		      " record%s %s not made: the program forbids to read the machine's counter\n",
		      unmade, plural(unmade), was_were(unmade));
	if (others)
		print(stderr,
		      "warning: %" PRIu64 " record%s %s dropped; --ring-size gives more room\n",
		      others, plural(others), was_were(others));
}

void warn_missed(const struct tracing_totals *totals)
{
	if (totals->missed)
		print(stderr,
		      "warning: %" PRIu64
		      " process%s ended before limpet had attached and %s not in the recording\n",
		      totals->missed, totals->missed == 1 ? "" : "es", is_are(totals->missed));
}

void note_syscalls(const struct tracing_totals *totals)
{
	if (totals->syscalls_before)
		print(stderr,
		      "note: %" PRIu64
		      " system call%s began before the recording and %s not in it\n",
		      totals->syscalls_before, plural(totals->syscalls_before),
		      is_are(totals->syscalls_before));
	if (totals->syscalls_under_way)
		print(stderr,
		      "note: %" PRIu64
		      " system call%s had not returned at its end and %s not in it\n",
		      totals->syscalls_under_way, plural(totals->syscalls_under_way),
		      is_are(totals->syscalls_under_way));
}

void warn_work_left(const struct work_left *left)
{
	if (left->cut)
		print(stderr,
		      "warning: %" PRIu32
		      " command%s %s not done by the devices 2 s after the end, and %s not in the "
		      "recording\n",
		      left->cut, plural(left->cut), was_were(left->cut), is_are(left->cut));
	if (left->lost)
		print(stderr,
		      "warning: %" PRIu32
		      " command%s could not be followed to the end: too many at once\n",
		      left->lost, plural(left->lost));
	if (left->unseen)
		print(stderr,
		      "warning: %" PRIu32
		      " kernels and copies of HSA are not in the recording: the program has not "
		      "looked at their signals before the end\n",
		      left->unseen);
	if (left->turned)
		print(stderr,
		      "warning: %" PRIu64
		      " records end before they begin, because clocks of CPUs or devices "
		      "differ: they are recorded with a duration of 0\n",
		      left->turned);
}

void warn_queues(const struct trace_queues *queues)
{
	for (unsigned i = 0; i < queues->reason_count; i++)
		print(stderr, "warning: times of queues (%" PRIu32 " in all) are estimated: %s\n",
		      queues->estimated, queues->reasons[i]);
	if (queues->left)
		print(stderr,
		      "warning: %" PRIu32
		      " queues of limpet's stay until the devices are done with them\n",
		      queues->left);
}

void warn_words(const struct trace_words *words)
{
	if (words->foreign)
		print(stderr,
		      "warning: %u import entries were modified by another tool and left unchanged\n",
		      words->foreign);
	if (words->unwritable + words->refused)
		print(stderr,
		      "warning: calls through %u import entries were not seen: %u cannot be written, %u are too many\n",
		      words->unwritable + words->refused, words->unwritable, words->refused);
	if (words->left)
		print(stderr,
		      "warning: calls through %u import entr%s are not traced: the program takes "
		      "addresses of functions from them, which a hook would change (%s%s in %s); "
		      "--address-entries hooks them anyway\n",
		      words->left, words->left == 1 ? "y" : "ies",
		      words->left == 1 ? "" : "for example ", words->left_function,
		      words->left_module);
}

static void print_words(struct json *json, const struct trace_words *words)
{
	json_number(json, "words_hooked", words->hooked);
	json_number(json, "words_restored", words->restored);
	json_number(json, "words_foreign", words->foreign);
	json_number(json, "words_unwritable", words->unwritable);
	json_number(json, "words_refused", words->refused);
	json_number(json, "words_left", words->left);
}

static const char *processes_text(const struct visit *self, const struct outcome *outcome,
				  char ret[48])
{
	uint64_t count = outcome->recorded.totals.processes;

	ret[0] = '\0';
	if (visit_has_family(self))
		snprintf(ret, 48, " in %" PRIu64 " process%s", count, count == 1 ? "" : "es");
	return ret;
}

static void print_for_people(const struct visit *self, const struct outcome *outcome)
{
	char processes[48];
	const struct collect_totals *totals = &outcome->recorded.totals.collected;
	const struct recorded_contents *written = &outcome->recorded.written;

	if (written->leaves_old_file) {
		print(stdout, "%s stays as it was\n", self->path);
		return;
	}
	if (self->traces)
		print(stdout,
		      "wrote %s: %" PRIu64 " record%s of %" PRIu64 " thread%s%s, %" PRIu64
		      " dropped, %" PRIu64 " KiB\n",
		      self->path, written->records, plural(written->records), totals->threads,
		      plural(totals->threads), processes_text(self, outcome, processes),
		      drops_sum(totals->drops), written->bytes / 1024);
	if (self->samples)
		samples_print(&outcome->sampled, self->values->samples.is_system_wide, self->path,
			      written);
	if (self->counts)
		print(stdout, "wrote %s: %" PRIu64 " window%s of counters\n", self->path,
		      written->windows, plural(written->windows));
	if (self->replaces)
		print(stderr,
		      "note: %s was there already and is replaced; --overwrite for no note\n",
		      self->path);
	if (written->records || written->samples || written->windows)
		print(stdout, "next: limpet report %s\n", self->path);
	if (written->samples)
		print(stdout, "      limpet export %s -f flamegraph\n", self->path);
}

void print_totals(const struct visit *self, const struct outcome *outcome)
{
	const struct collect_totals *totals = &outcome->recorded.totals.collected;
	const struct work_left *left = &outcome->recorded.totals.left;
	const struct trace_queues *queues = &outcome->recorded.totals.queues;
	const struct recorded_contents *written = &outcome->recorded.written;
	struct json json = { .out = stdout };

	if (!self->values->is_json) {
		print_for_people(self, outcome);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "recorded");
	json_text(&json, "file", self->path);
	json_text(&json, "reason", self->job.is_full ? "max-size" : ending_name(self->job.ending));
	json_number(&json, "records", written->records);
	json_number(&json, "threads", totals->threads);
	if (visit_has_family(self)) {
		json_number(&json, "processes", outcome->recorded.totals.processes);
		json_number(&json, "processes_missed", outcome->recorded.totals.missed);
	}
	json_number(&json, "dropped_full", totals->drops[DROP_FULL]);
	json_number(&json, "dropped_nested", totals->drops[DROP_NESTED]);
	json_number(&json, "dropped_no_ring", totals->drops[DROP_NO_RING]);
	json_number(&json, "dropped_no_counter", totals->drops[DROP_NO_COUNTER]);
	json_number(&json, "invalid", totals->invalid);
	json_number(&json, "work_cut", left->cut);
	json_number(&json, "work_lost", left->lost);
	json_number(&json, "work_unseen", left->unseen);
	json_number(&json, "times_turned", left->turned);
	json_number(&json, "syscalls_before", outcome->recorded.totals.syscalls_before);
	json_number(&json, "syscalls_under_way", outcome->recorded.totals.syscalls_under_way);
	if (self->values->runtime_flags[RUNTIME_OPTION_DEVICE_TIMES]) {
		json_number(&json, "queues_timed", queues->timed);
		json_number(&json, "queues_estimated", queues->estimated);
		json_number(&json, "queues_left", queues->left);
	}
	if (self->counts)
		json_number(&json, "windows", written->windows);
	json_number(&json, "bytes", written->bytes);
	json_bool(&json, "leaves_old_file", written->leaves_old_file);
	print_words(&json, &outcome->recorded.totals.words);
	if (self->samples)
		samples_print_json(&json, &outcome->sampled, self->values->samples.is_system_wide,
				   written, outcome->reasons);
	json_object_end(&json);
}

void print_end(const struct launch *program, bool is_json)
{
	struct json json = { .out = stdout };
	char buffer[96];

	if (!is_json) {
		print(stderr, "the program ended: %s\n",
		      launch_describe(program, buffer, sizeof(buffer)));
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "program");
	json_signed(&json, "pid", program->pid);
	if (WIFSIGNALED(program->status))
		json_signed(&json, "signal", WTERMSIG(program->status));
	else
		json_signed(&json, "status", WEXITSTATUS(program->status));
	json_object_end(&json);
}
