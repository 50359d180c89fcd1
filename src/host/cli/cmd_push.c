/*
 * limpet push: profiles of processes to a store of profiles, every ten seconds, until it is
 * stopped.
 */
#include "host/cli/common/operand.h"
#include "host/cli/common/sample_options.h"
#include "host/core/clock.h"
#include "host/core/self/ending.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/process/status.h"
#include "host/push/pusher.h"
#include "host/push/sender.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_NS     10000000000ull
#define INTERVAL_MIN_NS 1000000000ull
#define INTERVAL_MAX_NS 600000000000ull
#define LOOK_NS         500000000ull
#define FINISH_NS       5000000000ull

struct push_values {
	struct sample_words samples;
	struct option_list pids, labels;
	const char *service, *tenant, *format;
	uint64_t interval_ns, duration_ns;
	bool is_json;
};

#define FIELD(name) offsetof(struct push_values, name)

static const struct option_desc push_option_table[] = {
	OPERANDS_OPTION(FIELD(pids)),
	{ 'a', "all", NULL, "sample every process of the machine, and what comes later",
	  FIELD(samples.is_system_wide) },
	{ 'C', "children", NULL, "sample its descendants too, also those started later",
	  FIELD(samples.children) },
	{ 'F', "frequency", "HZ", "take HZ samples a second, 1 to 5000 (default: 99)",
	  FIELD(samples.hz), OPTION_NUMBER },
	{ 0, "off-cpu", NULL, "also sample waiting threads: where, and how long",
	  FIELD(samples.off_cpu) },
	{ 0, "sampler", "NAME", "use only this sampler: bpf, copy, read or state",
	  FIELD(samples.sampler), OPTION_TEXT },
	{ 0, "format", "FORMAT", "speak pyroscope (default) or otlp-v1development", FIELD(format),
	  OPTION_ONCE },
	{ 'i', "interval", "TIME", "push once in TIME, 1s to 10m (default: 10s)",
	  FIELD(interval_ns), OPTION_DURATION },
	{ 0, "service", "NAME", "label service_name (default: OTEL_SERVICE_NAME, or the program)",
	  FIELD(service), OPTION_TEXT },
	{ 0, "label", "NAME=VALUE", "one more label of every profile; repeatable", FIELD(labels),
	  OPTION_LIST },
	{ 0, "tenant", "ID", "send X-Scope-OrgID: ID, for servers with several tenants",
	  FIELD(tenant), OPTION_TEXT },
	{ 'd', "duration", "TIME", "stop after TIME (default: never)", FIELD(duration_ns),
	  OPTION_SPAN },
	{ 'j', "json", NULL, "print one JSON object per line", FIELD(is_json) },
	{ 0 },
};

struct push_visit {
	const struct push_values *values;
	struct push_address address;
	struct pusher_options options;
	pid_t pids[OPTION_LIST_MAX];
	size_t pid_count;
	int signals;
	int trouble; /* last one reported; 0: none */
	uint64_t refused_reported;
	struct pusher *pusher;
	struct sender *sender;
};

/* Labels from the user precede those of processes. */
static int labels_read(const struct push_values *values, struct push_labels *ret, struct err *err)
{
	char host[256] = "";
	int r = 0;

	push_labels_add(ret, "__name__", "process_cpu");
	push_labels_add(ret, "service_name", values->service);
	for (size_t i = 0; !r && i < values->labels.count; i++)
		r = push_labels_parse(ret, values->labels.items[i], err);
	if (!gethostname(host, sizeof(host) - 1))
		push_labels_add(ret, "host", host);
	return r;
}

static int tenant_check(const char *tenant, struct err *err)
{
	const char *fix = "--tenant team-a";

	for (const char *at = tenant; at && *at; at++)
		if (*at < ' ' || *at >= 127)
			return err_usage(err, fix,
					 "--tenant: it has characters that no header has");
	return !tenant || (*tenant && strlen(tenant) <= 128)
		       ? 0
		       : err_usage(err, fix, "--tenant: it is empty, or too long");
}

static int values_read(struct push_visit *self, struct err *err)
{
	const struct push_values *values = self->values;
	const struct all_conflict conflicts[] = {
		{ values->pids.count, "-p", "-a samples every process", "one of both" },
	};
	int r = samples_check_all(&values->samples, conflicts, ARRAY_SIZE(conflicts), err);

	if (!r)
		r = samples_options(&values->samples, &self->options.sampling, err);
	if (!r)
		r = labels_read(values, &self->options.labels, err);
	if (!r)
		r = tenant_check(values->tenant, err);
	if (!r && (values->interval_ns < INTERVAL_MIN_NS || values->interval_ns > INTERVAL_MAX_NS))
		r = err_usage(err, "--interval 10s",
			      "--interval: 1s is the least, and 10m the most");
	self->options.sampling.sampler.needs_stacks = true;
	self->options.sampling.sampler.pid = self->pids[0];
	self->options.sampling.sampler.further = self->pids + 1;
	self->options.sampling.sampler.further_count = self->pid_count ? self->pid_count - 1 : 0;
	return r;
}

static void show_begin(const struct push_visit *self, const struct source_facts *facts)
{
	unsigned hz = self->options.sampling.sampler.hz;
	struct json json;

	print_prefixed(stderr, "note: ", facts->reasons);
	if (!self->values->is_json) {
		print(stdout, "pushing to %s: %u sample%s a second, sampler %s\n",
		      self->address.url, hz, plural(hz), facts->sampler);
		fflush(stdout);
		return;
	}
	json = json_event(stdout, "pushing");
	json_text(&json, "url", self->address.url);
	json_number(&json, "hz", hz);
	json_text(&json, "sampler", facts->sampler);
	json_object_end(&json);
}

static void print_trouble(const struct err *trouble, uint64_t waiting)
{
	print(stderr, "warning: %s%s%s", trouble->what, trouble->why[0] ? ": " : "", trouble->why);
	print_counted(stderr, waiting, "; # profile{ waits|s wait} for the next try");
	print(stderr, "\n");
}

static void write_trouble(const struct err *trouble, uint64_t waiting)
{
	struct json json = json_event(stdout, "trouble");

	json_text(&json, "error", trouble->what);
	json_text(&json, "why", trouble->why);
	json_number(&json, "waiting", waiting);
	json_object_end(&json);
}

/* When the server is away, or is back: once for each kind of trouble; for refused pushes, each time
 * there are more. */
static void show_trouble(struct push_visit *self, const struct sender_totals *totals)
{
	const struct err *trouble = &totals->trouble;
	bool is_new =
		trouble->code != self->trouble || totals->refused.pushes != self->refused_reported;

	if (is_new && trouble->code)
		(self->values->is_json ? write_trouble : print_trouble)(trouble,
									totals->waiting.pushes);
	else if (is_new && self->trouble)
		print(stderr, "note: the server answers again\n");
	self->trouble = trouble->code;
	self->refused_reported = totals->refused.pushes;
}

static int profile_push(struct push_visit *self, struct err *err)
{
	struct bytes request = { 0 };
	uint64_t samples = 0;
	int r = pusher_collect(self->pusher, &request, &samples, err);

	if (samples)
		sender_put(self->sender, &request, samples);
	bytes_done(&request);
	return r;
}

/* Pushes until it is stopped or no process is left.  0, or the error that ended sampling. */
static int push_stay(struct push_visit *self, struct err *err)
{
	uint64_t begin_ns = now_ns(), next_ns = begin_ns + self->values->interval_ns;
	struct source_facts facts = { 0 };
	struct sender_totals totals;
	int r = 0;

	while (!r && !facts.has_ended && now_ns() - begin_ns < self->values->duration_ns) {
		uint64_t left_ns = self->values->duration_ns - (now_ns() - begin_ns);

		if (ending_wait(self->signals, -1, MIN(LOOK_NS, left_ns)) != ENDING_DURATION)
			return 0;
		sender_query(self->sender, &totals);
		show_trouble(self, &totals);
		if (now_ns() >= next_ns || pusher_is_full(self->pusher)) {
			r = profile_push(self, err);
			next_ns = now_ns() + self->values->interval_ns;
		}
		pusher_query(self->pusher, &facts);
		if (!r && facts.error.code && !facts.has_ended) {
			*err = facts.error;
			r = err->code;
		}
	}
	return r;
}

static const struct {
	const char *key, *text;
	size_t offset; /* in struct sender_totals */
} counts[] = {
	{ "pushed", "pushed", offsetof(struct sender_totals, sent) },
	{ "refused", "refused by the server", offsetof(struct sender_totals, refused) },
	{ "unclear", "sent, and not answered by the server",
	  offsetof(struct sender_totals, unclear) },
	{ "lost", "lost, because the server was unavailable for too long",
	  offsetof(struct sender_totals, lost) },
};

static const struct push_count *count_at(const struct sender_totals *sent, size_t index)
{
	return (const void *)((const char *)sent + counts[index].offset);
}

static void print_totals(const struct sender_totals *sent, const struct pusher_totals *collected)
{
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		const struct push_count *count = count_at(sent, i);

		if (count->pushes)
			print(stdout, "%s: %lu profile%s with %lu sample%s\n", counts[i].text,
			      count->pushes, plural(count->pushes), count->samples,
			      plural(count->samples));
	}
	print_counted(stdout, collected->lost + collected->missed,
		      "lost before they were in a profile: # samples\n");
}

static void write_totals(const struct sender_totals *sent, const struct pusher_totals *collected)
{
	struct json json = json_event(stdout, "totals");

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		json_object(&json, counts[i].key);
		json_number(&json, "profiles", count_at(sent, i)->pushes);
		json_number(&json, "samples", count_at(sent, i)->samples);
		json_object_end(&json);
	}
	json_number(&json, "samples_lost", collected->lost);
	json_number(&json, "samples_missed", collected->missed);
	json_object_end(&json);
}

/* An error where something is missing. */
static int result_judge(const struct sender_totals *sent, const struct pusher_totals *collected,
			struct err *err)
{
	uint64_t missing = sent->lost.pushes + sent->refused.pushes + sent->unclear.pushes;

	if (!sent->sent.pushes && !collected->collected) {
		err_set(err, -ENODATA, "no sample was taken");
		err_why(err, "no thread ran for a whole sampling interval");
		err_fix(err, "push for longer, or with a higher rate (-F), or with --off-cpu");
		return err_exit(err, EXIT_NOTHING_CAPTURED);
	}
	if (!sent->sent.pushes) {
		*err = sent->trouble;
		if (!err->code)
			err_set(err, -ETIMEDOUT, "nothing was pushed");
		return err_fix(err, "check that a store of profiles listens there: curl -v URL");
	}
	if (!missing)
		return 0;
	err_set(err, -EIO, "%lu of %lu profiles were not%s pushed", missing,
		missing + sent->sent.pushes,
		missing == sent->unclear.pushes ? ", as far as is known," : "");
	if (sent->trouble.code)
		err_why(err, "%s", sent->trouble.what);
	return err_exit(err, EXIT_PARTLY);
}

static int push_finish(struct push_visit *self, int r, struct err *err)
{
	struct pusher_totals collected = { 0 };
	struct sender_totals sent = { 0 };
	struct err second = { 0 };

	pusher_stop(self->pusher);
	if (profile_push(self, r ? &second : err) && !r)
		r = err->code;
	sender_finish(self->sender, FINISH_NS, &sent);
	pusher_totals(self->pusher, &collected);
	show_trouble(self, &sent);
	(self->values->is_json ? write_totals : print_totals)(&sent, &collected);
	return r ? r : result_judge(&sent, &collected, err);
}

static int push_start(struct push_visit *self, struct err *err)
{
	const struct sender_options sender = { .address = &self->address,
					       .tenant = self->values->tenant };
	struct source_facts facts;
	int r = self->signals = ending_prepare(err);

	ending_outlive_pipes();
	if (r >= 0)
		r = pusher_open(&self->pusher, &self->options, err);
	if (!r)
		r = sender_open(&self->sender, &sender, err);
	if (!r) {
		pusher_query(self->pusher, &facts);
		show_begin(self, &facts);
		r = push_finish(self, push_stay(self, err), err);
	}
	sender_free(self->sender);
	pusher_free(self->pusher);
	return r;
}

/* The first operand is the address; the others are processes. */
static int operands_read(struct push_visit *self, const struct command_line *line, struct err *err)
{
	const struct command_line rest = { .operands = line->operands + 1,
					   .count = line->count - 1 };
	const char *format = self->values->format;
	struct process_status status;
	int r;

	if (!line->count)
		return err_usage(err, "limpet push http://127.0.0.1:4040 -p PID", "no URL given");
	self->options.format = push_format_find(format ? format : push_format_pyroscope.name, err);
	r = self->options.format ? push_address_parse(line->operands[0], self->options.format,
						      &self->address, err)
				 : err->code;
	if (r)
		return r;
	if (self->values->samples.is_system_wide)
		return command_check_count(&rest, &operands_none, err);
	r = operand_processes(&rest, &self->values->pids, self->pids, &self->pid_count, err);
	for (size_t i = 0; !r && i < self->pid_count; i++)
		r = status_read(self->pids[i], self->pids[i], &status, err);
	return r;
}

static int push_run(const struct command_line *line, struct err *err)
{
	struct push_visit visit = { .values = line->values, .signals = -1 };
	int r = operands_read(&visit, line, err);

	if (!r)
		r = values_read(&visit, err);
	return r ? r : push_start(&visit, err);
}

const struct command command_push = {
	.name = "push",
	.summary =
		"push profiles to a store of profiles (Pyroscope, OpenTelemetry) every ten seconds",
	.usage =
		"URL {-p PID... | -a} [--format FORMAT] [-F HZ] [--interval TIME] [--service NAME] [--label NAME=VALUE]",
	.options = push_option_table,
	.values_size = sizeof(struct push_values),
	.defaults = &(const struct push_values){ .samples.hz = HZ_NOT_GIVEN,
						 .interval_ns = INTERVAL_NS,
						 .duration_ns = UINT64_MAX },
	.run = push_run,
	.notes =
		"Nothing is injected and no thread is stopped.  URL is that of a server with Pyroscope's push\n"
		"API (push.v1), or with --format otlp-v1development of one that takes OpenTelemetry's profiles\n"
		"(v1development, a protocol that may still change).  Labels: service_name, host, and where they are known rank, slurm_job,\n"
		"namespace and pod.  http:// with a number or localhost is spoken by limpet itself, all\n"
		"else by curl, which reads ~/.netrc.\n"
		"\n"
		"While the server is away, 16 MiB of profiles wait for it; what has no room is counted.\n"
		"Stops at Enter, Ctrl-C, SIGTERM, the duration, or the end of the process.\n"
		"\n"
		"examples:\n"
		"  limpet push http://127.0.0.1:4040 -p 4711 --service shop\n"
		"  limpet push http://127.0.0.1:4318 --format otlp-v1development -p 4711\n"
		"  limpet push https://profiles.example.com -a --label region=eu_west\n",
};
