/*
 * limpet doctor: which rights and features this machine has, which are missing, and the commands
 * that give them.
 */
#include <sys/utsname.h>

#include "host/attach/listener.h"
#include "host/cli/command.h"
#include "host/cli/doctor/features.h"
#include "host/cli/doctor/members.h"
#include "host/cli/doctor/sampling.h"
#include "host/cli/doctor/setup.h"
#include "host/cli/operand.h"
#include "host/cli/report.h"
#include "host/cli/show.h"
#include "host/cli/version.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/process/procfs.h"

struct doctor_values {
	const char *pid;
	bool is_json, wants_setup;
};

static const struct option_desc doctor_options[] = {
	OPERAND_OPTION(offsetof(struct doctor_values, pid)),
	{ 0, "setup", NULL, "print the commands that give a group rights; nothing is done",
	  OPTION_FLAG, offsetof(struct doctor_values, wants_setup) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG,
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
}

static void print_machine_json(const struct viewer *viewer)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "machine");
	write_machine(&json, &viewer->rights);
	json_object_end(&json);
}

static void print_feature(const struct feature *feature, const struct finding *finding)
{
	print(stdout, "  %-6s  %-12s %s  [%s]\n", grade_names[finding->grade], feature->name,
	      finding->level, feature->verbs);
	if (finding->missing[0])
		print(stdout, "%10smissing: %s\n%10sfix:     %s\n", "", finding->missing, "",
		      finding->fix);
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
}

static void print_feature_json(const struct feature *feature, const struct finding *finding)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "feature");
	write_feature(&json, feature, finding);
	json_object_end(&json);
}

static void examine_machine(const struct viewer *viewer, bool is_json)
{
	if (is_json)
		print_machine_json(viewer);
	else
		print_machine(viewer);
	for (const struct feature *feature = features; feature->name; feature++) {
		struct finding finding = feature->examine(&viewer->rights);

		if (is_json)
			print_feature_json(feature, &finding);
		else
			print_feature(feature, &finding);
	}
	doctor_sampling_machine(is_json);
}

void doctor_write_members(struct json *json, pid_t pid)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };

	viewer_init(&viewer);
	json_object(json, "machine");
	write_machine(json, &viewer.rights);
	json_object_end(json);
	json_list(json, "features");
	for (const struct feature *feature = features; feature->name; feature++) {
		struct finding finding = feature->examine(&viewer.rights);

		json_object(json, NULL);
		write_feature(json, feature, &finding);
		json_object_end(json);
	}
	json_list_end(json);
	doctor_sampling_write(json, pid);
}

static int examine_process(struct viewer *viewer, pid_t pid, bool is_json, struct err *err)
{
	CLEANUP(process_done) struct process process = { 0 };
	struct json json = { .out = stdout };
	int r = process_look(viewer, pid, &process, err);

	if (r < 0)
		return r;
	if (is_json) {
		show_process_json(&json, &process);
		json_object_end(&json);
	} else {
		putchar('\n');
		show_process_facts(&process, stdout);
	}
	r = show_threads(&process, is_json, stdout, err);
	if (r < 0)
		return r;
	doctor_sampling_process(pid, is_json);
	r = listener_judge(&process, err);
	if (!is_json && r == 0)
		print(stdout, "\nok: limpet attach %d should work\n", (int)pid);
	else if (!is_json)
		putchar('\n');
	return r;
}

static enum exit_code doctor_run(char **argv)
{
	CLEANUP(viewer_done) struct viewer viewer = { 0 };
	struct doctor_values values = { 0 };
	struct err err = { 0 };
	pid_t pid = 0;
	int operands = options_parse(doctor_options, argv, &values, &err);

	if ((operands > 0 || values.pid) && values.wants_setup)
		operands = report_surplus(values.pid ? values.pid : argv[0], &err);
	if (operands > 0 || (operands == 0 && values.pid))
		operands = operand_process(values.pid, argv, operands, &pid, &err);
	if (operands >= 0 && !values.wants_setup)
		operands = proc_check(&err);
	if (operands >= 0 && values.wants_setup) {
		doctor_setup(values.is_json);
	} else if (operands >= 0) {
		viewer_init(&viewer);
		examine_machine(&viewer, values.is_json);
	}
	/* The verdict is in err. */
	if (operands >= 0 && pid)
		(void)!examine_process(&viewer, pid, values.is_json, &err);
	return report_end("doctor", values.is_json, &err);
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "check what is allowed here, what is missing, and how to get it",
	.usage = "[PID] [--setup] [--json]",
	.options = doctor_options,
	.run = doctor_run,
	.notes =
		"With PID it also looks at that process, and says how it would be sampled; the exit code is\n"
		"the one that attach would give. --setup says how others than root get rights.\n",
};
