/*
 * limpet doctor: which rights and features this machine has, which are missing, and the commands
 * that give them.
 */
#include <sys/utsname.h>
#include <unistd.h>

#include "host/attach/listener.h"
#include "host/cli/common/operand.h"
#include "host/cli/common/process_facts.h"
#include "host/cli/doctor/doctor.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/process/procfs.h"
#include "host/recorder/samples/sampling.h"

struct doctor_values {
	const char *pid;
	bool is_json, wants_setup;
};

static const struct option_desc doctor_options[] = {
	OPERAND_OPTION(offsetof(struct doctor_values, pid)),
	{ 0, "setup", NULL, "print the commands that give a group rights; nothing is done",
	  offsetof(struct doctor_values, wants_setup) },
	{ 'j', "json", NULL, "print one JSON object per line",
	  offsetof(struct doctor_values, is_json) },
	{ 0 },
};

static const char *const grade_names[] = {
	[FEATURE_NONE] = "no",
	[FEATURE_PART] = "partly",
	[FEATURE_FULL] = "yes",
};

static void print_machine(const struct viewer *viewer)
{
	const struct rights *rights = &viewer->rights;
	struct utsname machine = { 0 };
	char user[64];

	uname(&machine);
	users_name(&viewer->users, rights->uid, user, sizeof(user));
	print(stdout, "limpet %s on Linux %s %s, as %s (uid %u)\n", LIMPET_VERSION, machine.release,
	      machine.machine, user, rights->uid);
	if (rights->yama_scope >= 0)
		print(stdout, "Yama: ptrace_scope %d. ", rights->yama_scope);
	else
		print(stdout, "Yama: off. ");
	print(stdout, "Container: %s. Own user namespace: %s.\n\n",
	      rights->container ? rights->container : "no",
	      rights->is_user_namespace ? "yes" : "no");
}

static void write_machine(struct json *json, const struct rights *rights)
{
	struct utsname machine = { 0 };

	uname(&machine);
	json_text(json, "version", LIMPET_VERSION);
	json_text(json, "kernel", machine.release);
	json_text(json, "machine", machine.machine);
	json_number(json, "uid", rights->uid);
	json_number(json, "capabilities", rights->capabilities);
	json_signed(json, "yama_scope", rights->yama_scope);
	json_signed(json, "memfd_noexec", rights->memfd_noexec);
	json_text(json, "container", rights->container ? rights->container : "");
	json_bool(json, "user_namespace", rights->is_user_namespace);
	json_object_end(json);
}

static void write_feature(struct json *json, const struct feature *feature,
			  const struct finding *finding)
{
	json_text(json, "name", feature->name);
	json_text(json, "works", grade_names[finding->grade]);
	json_text(json, "level", finding->level);
	json_text(json, "rung", finding->level); /* its name in 0.1.0 */
	json_text(json, "missing", finding->missing);
	json_text(json, "fix", finding->fix);
	json_object_end(json);
}

static void show_feature(const struct feature *feature, const struct finding *finding, bool is_json)
{
	struct json json;

	if (is_json) {
		json = json_event(stdout, "feature");
		write_feature(&json, feature, finding);
		return;
	}
	print(stdout, "  %-6s  %-12s %s  [%s]\n", grade_names[finding->grade], feature->name,
	      finding->level, feature->verbs);
	if (finding->missing[0])
		print(stdout, "%10smissing: %s\n%10sfix:     %s\n", "", finding->missing, "",
		      finding->fix);
}

static const char *trial_grade(const struct sampling_trial *trial)
{
	if (!trial->kind)
		return "no";
	return trial->kind == samplers[0] && !trial->reasons[0] ? "yes" : "partly";
}

static const char *trial_summary(const struct sampling_trial *trial)
{
	return trial->kind ? trial->kind->summary : trial->err.what;
}

static void write_trial(struct json *json, const struct sampling_trial *trial)
{
	json_text(json, "works", trial_grade(trial));
	json_text(json, "sampler", trial->kind ? trial->kind->name : "");
	json_text(json, "summary", trial_summary(trial));
	json_text(json, "no_better_sampler", trial->reasons);
	json_object_end(json);
}

/* pid 0: of limpet itself, a line of the table of features. */
static void show_sampling(pid_t pid, bool is_json)
{
	struct sampling_trial trial;
	const char *sampler;
	struct json json;

	sampling_try(pid ? pid : getpid(), &trial);
	if (is_json) {
		json = json_event(stdout, "sampling");
		if (pid)
			json_signed(&json, "pid", pid);
		write_trial(&json, &trial);
		return;
	}
	sampler = trial.kind ? trial.kind->name : "nothing";
	if (pid)
		print(stdout, "\nsampling %d: %s: %s\n", pid, sampler, trial_summary(&trial));
	else
		print(stdout, "  %-6s  %-12s %s: %s  [record, dump]\n", trial_grade(&trial),
		      "sampling", sampler, trial_summary(&trial));
	print_prefixed(stdout, pid ? "note: " : "          note: ", trial.reasons);
}

static void examine_machine(const struct viewer *viewer, bool is_json)
{
	struct json json;

	if (is_json) {
		json = json_event(stdout, "machine");
		write_machine(&json, &viewer->rights);
	} else {
		print_machine(viewer);
	}
	for (const struct feature *feature = features; feature->name; feature++) {
		struct finding finding = feature->examine(&viewer->rights);

		show_feature(feature, &finding, is_json);
	}
	show_sampling(0, is_json);
}

void doctor_write_members(struct json *json, pid_t pid)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };
	struct sampling_trial trial;

	viewer_init(&viewer);
	json_object(json, "machine");
	write_machine(json, &viewer.rights);
	json_list(json, "features");
	for (const struct feature *feature = features; feature->name; feature++) {
		struct finding finding = feature->examine(&viewer.rights);

		json_object(json, NULL);
		write_feature(json, feature, &finding);
	}
	json_list_end(json);
	sampling_try(pid ? pid : getpid(), &trial);
	json_object(json, "sampling");
	write_trial(json, &trial);
}

static int examine_process(struct viewer *viewer, pid_t pid, bool is_json, struct err *err)
{
	CLEANUP(process_done) struct process process = { 0 };
	int r = process_inspect(viewer, pid, &process, err);

	if (r < 0)
		return r;
	if (is_json) {
		show_process_json(&process);
	} else {
		putchar('\n');
		show_process_facts(&process);
	}
	r = show_threads(&process, is_json, err);
	if (r < 0)
		return r;
	show_sampling(pid, is_json);
	r = listener_judge(&process, err);
	if (!is_json && r == 0)
		print(stdout, "\nok: limpet attach %d should work\n", pid);
	else if (!is_json)
		putchar('\n');
	return r;
}

static int doctor_run(const struct command_line *line, struct err *err)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };
	const struct doctor_values *values = line->values;
	bool has_operand = line->count || values->pid;
	pid_t pid = 0;
	int r = 0;

	if (has_operand && values->wants_setup)
		return command_surplus(values->pid ? values->pid : line->operands[0], err);
	if (values->wants_setup) {
		doctor_setup(values->is_json);
		return 0;
	}
	if (has_operand)
		r = operand_process(line, values->pid, &pid, err);
	if (!r)
		r = proc_check(err);
	if (r)
		return r;
	viewer_init(&viewer);
	examine_machine(&viewer, values->is_json);
	return pid ? examine_process(&viewer, pid, values->is_json, err) : 0;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "check what is allowed here, what is missing, and how to get it",
	.usage = "[PID] [--setup] [--json]",
	.options = doctor_options,
	.values_size = sizeof(struct doctor_values),
	.run = doctor_run,
	.notes =
		"With PID it also looks at that process, and says how it would be sampled; the exit code is\n"
		"the one that attach would give. --setup says how others than root get rights.\n",
};
