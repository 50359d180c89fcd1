/*
 * Opens samplers and closes them at once: nothing is stopped, nothing stays.
 */
#include "host/cli/doctor/sampling.h"

#include "host/core/text/json.h"
#include "host/core/text/print.h"
#include "host/recorder/samples/sampling.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REASONS_MAX 4096u

struct trial {
	const struct sampler_kind *kind; /* NULL: none can be had */
	char reasons[REASONS_MAX];
	struct err err;
};

static void try_out(pid_t pid, struct trial *ret)
{
	const struct sampler_options options = {
		.pid = pid, .hz = SAMPLING_HZ, .on_cpu = true, .kernel_frames = true
	};
	struct sampler_refusals refusals = { 0 };
	struct sampler *sampler = NULL;

	*ret = (struct trial){ 0 };
	if (!sampler_choose(&sampler, &options, /* name */ NULL, &refusals, &ret->err))
		ret->kind = sampler->kind;
	sampler_explain(&refusals, sampler, ret->reasons, sizeof(ret->reasons));
	sampler_close(sampler);
}

static void print_reasons(const struct trial *trial, const char *indent)
{
	for (const char *at = trial->reasons; *at; at += strcspn(at, "\n"), at += *at == '\n')
		print(stdout, "%snote: %.*s\n", indent, (int)strcspn(at, "\n"), at);
}

static const char *grade_of(const struct trial *trial)
{
	if (!trial->kind)
		return "no";
	return trial->kind == samplers[0] && !trial->reasons[0] ? "yes" : "partly";
}

static void write_trial(struct json *json, const struct trial *trial)
{
	json_text(json, "works", grade_of(trial));
	json_text(json, "sampler", trial->kind ? trial->kind->name : "");
	json_text(json, "summary", trial->kind ? trial->kind->summary : trial->err.what);
	json_text(json, "no_better_sampler", trial->reasons);
}

static void print_json(const struct trial *trial, pid_t pid)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "sampling");
	if (pid)
		json_signed(&json, "pid", pid);
	write_trial(&json, trial);
	json_object_end(&json);
}

void doctor_sampling_write(struct json *json, pid_t pid)
{
	struct trial trial;

	try_out(pid ? pid : getpid(), &trial);
	json_object(json, "sampling");
	write_trial(json, &trial);
	json_object_end(json);
}

void doctor_sampling_machine(bool is_json)
{
	struct trial trial;

	try_out(getpid(), &trial);
	if (is_json) {
		print_json(&trial, 0);
		return;
	}
	print(stdout, "  %-6s  %-12s %s: %s  [record, dump]\n", grade_of(&trial), "sampling",
	      trial.kind ? trial.kind->name : "nothing",
	      trial.kind ? trial.kind->summary : trial.err.what);
	print_reasons(&trial, "          ");
}

void doctor_sampling_process(pid_t pid, bool is_json)
{
	struct trial trial;

	try_out(pid, &trial);
	if (is_json) {
		print_json(&trial, pid);
		return;
	}
	print(stdout, "\nsampling %d: %s: %s\n", (int)pid,
	      trial.kind ? trial.kind->name : "nothing",
	      trial.kind ? trial.kind->summary : trial.err.what);
	print_reasons(&trial, "");
}
