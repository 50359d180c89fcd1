/*
 * limpet push: profiles of processes to a store of profiles, every ten seconds, until it is
 * stopped.
 */
#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/push/push_text.h"
#include "host/cli/record/samples.h"
#include "host/cli/report.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/ending.h"
#include "host/core/text/print.h"
#include "host/process/status.h"

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
	  OPTION_FLAG, FIELD(samples.is_system_wide) },
	{ 'C', "children", NULL, "sample its descendants too, also those started later",
	  OPTION_FLAG, FIELD(samples.children) },
	{ 'F', "frequency", "HZ", "take HZ samples a second, 1 to 5000 (default: 99)",
	  OPTION_NUMBER, FIELD(samples.hz) },
	{ 0, "off-cpu", NULL, "also sample waiting threads: where, and how long", OPTION_FLAG,
	  FIELD(samples.off_cpu) },
	{ 0, "sampler", "NAME", "use only this sampler: bpf, copy, read or state", OPTION_TEXT,
	  FIELD(samples.sampler) },
	{ 0, "format", "FORMAT", "speak pyroscope (default) or otlp-v1development", OPTION_ONCE,
	  FIELD(format) },
	{ 'i', "interval", "TIME", "push once in TIME, 1s to 10m (default: 10s)", OPTION_DURATION,
	  FIELD(interval_ns) },
	{ 0, "service", "NAME", "label service_name (default: OTEL_SERVICE_NAME, or the program)",
	  OPTION_TEXT, FIELD(service) },
	{ 0, "label", "NAME=VALUE", "one more label of every profile; repeatable", OPTION_LIST,
	  FIELD(labels) },
	{ 0, "tenant", "ID", "send X-Scope-OrgID: ID, for servers with several tenants",
	  OPTION_TEXT, FIELD(tenant) },
	{ 'd', "duration", "TIME", "stop after TIME (default: never)", OPTION_SPAN,
	  FIELD(duration_ns) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG, FIELD(is_json) },
	{ 0 },
};

struct push_visit {
	const struct push_values *values;
	struct push_address address;
	struct pusher_options options;
	pid_t pids[OPTION_LIST_MAX];
	size_t pid_count;
	int signals;
	struct push_text text;
	struct pusher *pusher;
	struct sender *sender;
};

static int usage_refuse(const char *what, const char *fix, struct err *err)
{
	err_set(err, -EINVAL, "%s", what);
	err_fix(err, "%s", fix);
	return err_exit(err, EXIT_USAGE);
}

static int tenant_check(const char *tenant, struct err *err)
{
	if (!tenant)
		return 0;
	for (const char *at = tenant; *at; at++)
		if (*at < ' ' || *at >= 127)
			return usage_refuse("--tenant: it has characters that no header has",
					    "--tenant team-a", err);
	return strlen(tenant) && strlen(tenant) <= 128
		       ? 0
		       : usage_refuse("--tenant: it is empty, or too long", "--tenant team-a", err);
}

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
		r = usage_refuse("--interval: 1s is the least, and 10m the most", "--interval 10s",
				 err);
	self->options.sampling.sampler.needs_stacks = true;
	self->options.sampling.sampler.pid = self->pids[0];
	self->options.sampling.sampler.further = self->pids + 1;
	self->options.sampling.sampler.further_count = self->pid_count ? self->pid_count - 1 : 0;
	return r;
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

static void trouble_tell(struct push_visit *self)
{
	struct sender_totals totals;

	sender_look(self->sender, &totals);
	push_text_trouble(&self->text, &totals);
}

/* Pushes until it is stopped or no process is left.  0, or the error that ended sampling. */
static int push_stay(struct push_visit *self, struct err *err)
{
	uint64_t begin_ns = now_ns(), next_ns = begin_ns + self->values->interval_ns;
	struct source_facts facts = { 0 };
	int r = 0;

	while (!r && !facts.has_ended && now_ns() - begin_ns < self->values->duration_ns) {
		uint64_t left_ns = self->values->duration_ns - (now_ns() - begin_ns);

		if (ending_wait(self->signals, -1, MIN(LOOK_NS, left_ns)) != ENDING_DURATION)
			return 0;
		trouble_tell(self);
		if (now_ns() >= next_ns || pusher_is_full(self->pusher)) {
			r = profile_push(self, err);
			next_ns = now_ns() + self->values->interval_ns;
		}
		pusher_look(self->pusher, &facts);
		if (!r && facts.error.code && !facts.has_ended) {
			*err = facts.error;
			r = err->code;
		}
	}
	return r;
}

static int push_finish(struct push_visit *self, int r, struct err *err)
{
	struct push_result result = { 0 };
	struct err second = { 0 };

	pusher_stop(self->pusher);
	if (profile_push(self, r ? &second : err) && !r)
		r = err->code;
	sender_finish(self->sender, FINISH_NS, &result.sent);
	pusher_totals(self->pusher, &result.collected);
	push_text_trouble(&self->text, &result.sent);
	push_text_end(&self->text, &result);
	return r ? r : push_result_judge(&result, err);
}

static int push_go(struct push_visit *self, struct err *err)
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
		pusher_look(self->pusher, &facts);
		push_text_begun(&self->text, &self->address, &self->options.sampling, &facts);
		r = push_finish(self, push_stay(self, err), err);
	}
	sender_free(self->sender);
	pusher_free(self->pusher);
	return r;
}

/* The first operand is the address; the others are processes. */
static int operands_read(struct push_visit *self, char **operands, int count, struct err *err)
{
	const char *format = self->values->format;
	struct process_status status;
	int r;

	if (!count)
		return usage_refuse("it is not said where to push to",
				    "limpet push http://127.0.0.1:4040 -p PID", err);
	self->options.format = push_format_find(format ? format : push_format_pyroscope.name, err);
	r = self->options.format
		    ? push_address_parse(operands[0], self->options.format, &self->address, err)
		    : err->code;
	if (r)
		return r;
	if (self->values->samples.is_system_wide)
		return count > 1 ? report_surplus(operands[1], err) : 0;
	r = operand_processes(&self->values->pids, operands + 1, count - 1, self->pids,
			      &self->pid_count, err);
	for (size_t i = 0; !r && i < self->pid_count; i++)
		r = status_read(self->pids[i], self->pids[i], &status, err);
	return r;
}

static enum exit_code push_run(char **argv)
{
	struct push_values values = { .samples.hz = HZ_NOT_GIVEN,
				      .interval_ns = INTERVAL_NS,
				      .duration_ns = UINT64_MAX };
	struct push_visit visit = { .values = &values, .signals = -1 };
	struct err err = { 0 };
	int operands = options_parse(push_option_table, argv, &values, &err);

	visit.text.is_json = values.is_json;
	if (operands >= 0 && !operands_read(&visit, argv, operands, &err) &&
	    !values_read(&visit, &err))
		(void)!push_go(&visit, &err);
	return report_end("push", values.is_json, &err);
}

const struct command command_push = {
	.name = "push",
	.summary =
		"push profiles to a store of profiles (Pyroscope, OpenTelemetry) every ten seconds",
	.usage =
		"URL {-p PID... | -a} [--format FORMAT] [-F HZ] [--interval TIME] [--service NAME] [--label NAME=VALUE]",
	.options = push_option_table,
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
