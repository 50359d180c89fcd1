/*
 * Texts for people, and objects for programs.
 */
#include "host/cli/record/messages.h"

#include "host/cli/printable.h"
#include "host/core/json.h"
#include "host/core/plural.h"
#include "host/core/print.h"
#include "host/model/domains.h"
#include "host/process/procfs.h"
#include "host/recording/drops.h"

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

/* What programs lose that do a little of everything, as docs/benchmarks.md has measured: the
 * dearest of what was asked for.  Nothing is said of what costs less than a hundredth, or is not
 * known. */
static const char *cost_text(const struct visit *self)
{
	static const struct {
		bool (*is_asked)(const struct visit *self);
		const char *text;
	} costs[] = {
		{ traces_allocations, "; may cost it a third of its speed" },
		{ samples_allocations, "; may cost it 5 % of its speed" },
		{ samples_often, "; may cost it 5 % of its speed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(costs); i++)
		if (costs[i].is_asked(self))
			return costs[i].text;
	return "";
}

void print_attached(const struct visit *self)
{
	const struct session *session = recorder_session(self->recorder);
	struct json json = { .out = stdout };
	char how[96] = "", name[32] = "";
	char shown[NAME_MAX_SHOWN], limit[32];
	struct err ignored;

	if (proc_read_small(self->pid, "comm", name, sizeof(name), &ignored) > 0)
		name[strcspn(name, "\n")] = '\0';
	if (self->samples)
		samples_describe(recorder_sampling(self->recorder), &self->sampling, how,
				 sizeof(how));
	if (!self->values->is_json) {
		print(stderr, "recording %d (%s)%s%s into %s%s%s; %s\n", self->pid,
		      printable(name, shown), how[0] ? " " : "", how, self->path,
		      duration_text(self->values->duration_ns, limit), cost_text(self),
		      self->launched ? "until it ends" : "Enter or Ctrl-C stops");
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "attached");
	json_signed(&json, "pid", self->pid);
	json_text(&json, "file", self->path);
	if (session)
		json_number(&json, "pause_ns", session->attachment.report.pause_ns);
	json_text(&json, "sampling", how);
	json_object_end(&json);
	fflush(stdout);
}

void warn_absent(const struct visit *self)
{
	uint32_t absent = recorder_absent(self->recorder);

	for (unsigned i = 0; i < DOMAINS; i++) {
		const char *why = recorder_note(self->recorder, i);

		if (absent & 1u << i)
			print(stderr, "warning: nothing to trace for %s in this process%s%s\n",
			      domain_name(i), why ? ": " : "", why ? why : "");
		else if (why)
			print(stderr, "warning: not all of %s is traced: %s\n", domain_name(i),
			      why);
	}
}

/* The process is the same, what it runs is not. */
void tell_program(struct visit *self)
{
	const struct session *session = recorder_session(self->recorder);
	char name[96];

	if (!session || recorder_programs(self->recorder) == self->programs)
		return;
	self->programs = recorder_programs(self->recorder);
	print(stderr,
	      "it executes another program now: recording %s, whose first calls may be missing\n",
	      target_name(&session->attachment.target, name, sizeof(name)));
}

static bool changes_are_out(const struct recorder *recorder)
{
	struct recorder_changes changes;

	recorder_count_changes(recorder, &changes);
	return changes.is_out;
}

static void warn_changes(const struct recorder *recorder)
{
	struct recorder_changes changes;

	recorder_count_changes(recorder, &changes);
	if (changes.count)
		print(stderr,
		      "warning: the program changed its identity or confined itself, and limpet left "
		      "before: %u time%s, not traced for %.0f ms%s\n",
		      changes.count, plural(changes.count), (double)changes.untraced_ns / 1e6,
		      changes.is_out ? ", to the end" : "");
}

void warn_unfollowed(const struct recorder *recorder)
{
	const struct err *why = recorder_unfollowed(recorder);
	struct process_stat stat;

	if (recorder_has_other_name(recorder, &stat))
		print(stderr,
		      "warning: it ended as %s: where that is another program that it executed, it is "
		      "not recorded\n",
		      stat.name);
	if (recorder_is_cut_off(recorder))
		print(stderr,
		      "warning: the program has closed limpet's descriptors, as daemons close "
		      "all: what it did from then on is not recorded; limpet record -p PID, "
		      "later, finds it\n");
	warn_changes(recorder);
	if (why)
		print(stderr, "warning: %s, which is not recorded: %s%s%s\n",
		      changes_are_out(recorder) ? "it went on with other rights"
						: "it executed another program",
		      why->what, why->why[0] ? "; " : "", why->why);
}

void warn_notes(const struct recorder *recorder)
{
	for (unsigned i = 0; i < TRACE_NOTES; i++) {
		const char *note = recorder_end_note(recorder, i);

		if (note)
			print(stderr, "warning: %s\n", note);
	}
}

/* More room is of no use to those that could not even be made. */
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
		      " records ended before they began, by clocks of processors or devices that "
		      "differ: they are recorded as if they had taken no time\n",
		      left->turned);
}

void warn_queues(const struct trace_queues *queues)
{
	for (unsigned i = 0; trace_refusal(i) || !i; i++)
		if (queues->refusals & 1u << i && trace_refusal(i))
			print(stderr,
			      "warning: times of OpenCL queues (%" PRIu32
			      " in all) are estimated: %s\n",
			      queues->estimated, trace_refusal(i));
	if (queues->left)
		print(stderr,
		      "warning: %" PRIu32
		      " OpenCL queues of limpet's stay until the devices are done with them\n",
		      queues->left);
}

void warn_words(const struct trace_words *words)
{
	if (words->foreign)
		print(stderr,
		      "warning: %u words of imports were changed by somebody else meanwhile: left so\n",
		      words->foreign);
	if (words->unwritable + words->refused)
		print(stderr,
		      "warning: calls through %u words of imports were not seen: %u cannot be written, %u are too many\n",
		      words->unwritable + words->refused, words->unwritable, words->refused);
}

static void print_words(struct json *json, const struct trace_words *words)
{
	json_number(json, "words_hooked", words->hooked);
	json_number(json, "words_restored", words->restored);
	json_number(json, "words_foreign", words->foreign);
	json_number(json, "words_unwritable", words->unwritable);
	json_number(json, "words_refused", words->refused);
}

static void print_for_people(const struct visit *self, const struct outcome *outcome)
{
	const struct collect_totals *totals = &outcome->recorded.totals;
	const struct recorded_contents *written = &outcome->recorded.written;

	if (written->leaves_old_file) {
		print(stdout, "%s stays as it was\n", self->path);
		return;
	}
	if (self->traces)
		print(stdout,
		      "wrote %s: %" PRIu64 " record%s of %" PRIu64 " thread%s, %" PRIu64
		      " dropped, %" PRIu64 " KiB\n",
		      self->path, written->records, plural(written->records), totals->threads,
		      plural(totals->threads), drops_sum(totals->drops), written->bytes / 1024);
	if (self->samples)
		samples_print(&outcome->sampled, self->path, written);
	if (written->records || written->samples)
		print(stdout, "next: limpet report %s\n", self->path);
	if (written->samples)
		print(stdout, "      limpet export %s -f flamegraph\n", self->path);
}

void print_totals(const struct visit *self, const struct outcome *outcome)
{
	const struct collect_totals *totals = &outcome->recorded.totals;
	const struct recorded_contents *written = &outcome->recorded.written;
	struct json json = { .out = stdout };

	if (!self->values->is_json) {
		print_for_people(self, outcome);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "recorded");
	json_text(&json, "file", self->path);
	json_text(&json, "reason", self->is_full ? "max-size" : ending_name(self->ending));
	json_number(&json, "records", written->records);
	json_number(&json, "threads", totals->threads);
	json_number(&json, "dropped_full", totals->drops[DROP_FULL]);
	json_number(&json, "dropped_nested", totals->drops[DROP_NESTED]);
	json_number(&json, "dropped_no_ring", totals->drops[DROP_NO_RING]);
	json_number(&json, "dropped_no_counter", totals->drops[DROP_NO_COUNTER]);
	json_number(&json, "invalid", totals->invalid);
	json_number(&json, "work_cut", self->left.cut);
	json_number(&json, "work_lost", self->left.lost);
	json_number(&json, "work_unseen", self->left.unseen);
	json_number(&json, "times_turned", self->left.turned);
	if (self->values->opencl_device_time) {
		json_number(&json, "queues_timed", self->queues.timed);
		json_number(&json, "queues_estimated", self->queues.estimated);
		json_number(&json, "queues_left", self->queues.left);
	}
	json_number(&json, "bytes", written->bytes);
	json_bool(&json, "leaves_old_file", written->leaves_old_file);
	print_words(&json, &outcome->words);
	if (self->samples)
		samples_print_json(&json, &outcome->sampled, written, outcome->reasons);
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
