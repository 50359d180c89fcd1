/*
 * limpet ui: the page.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/command.h"
#include "host/cli/doctor/members.h"
#include "host/cli/fleet/fleet_ui.h"
#include "host/cli/operand.h"
#include "host/cli/report.h"
#include "host/cli/ui_page.h"
#include "host/cli/version.h"
#include "host/core/text/text.h"
#include "host/ui/browser.h"

struct ui_values {
	uint64_t port, lease_ns;
	const char *pid, *socket;
	bool no_open, is_json;
};

#define FIELD(member) offsetof(struct ui_values, member)

static const struct option_desc ui_options[] = {
	OPERAND_OPTION(FIELD(pid)),
	{ 0, "port", "N", "listen on this port of 127.0.0.1 (default: any free one)", OPTION_NUMBER,
	  FIELD(port) },
	{ 0, "socket", "PATH", "listen on a socket file instead, for your user alone", OPTION_ONCE,
	  FIELD(socket) },
	{ 0, "lease", "TIME", "stop tracing when no browser has asked for TIME (30s; 0: never)",
	  OPTION_DURATION, FIELD(lease_ns) },
	{ 0, "no-open", NULL, "print the address only; open no browser", OPTION_FLAG,
	  FIELD(no_open) },
	{ 'j', "json", NULL, "print where it listens as one JSON object", OPTION_FLAG,
	  FIELD(is_json) },
	{ 0 },
};

static bool is_file(const char *operand)
{
	return strspn(operand, "0123456789") != strlen(operand) && access(operand, R_OK) == 0;
}

/* Nothing, one process, or up to two recordings. */
static int operands_read(char **argv, int count, const struct ui_values *values,
			 struct ui_options *ret, struct err *err)
{
	if (!count && !values->pid)
		return 0;
	if (values->pid || !is_file(argv[0]))
		return operand_process(values->pid, argv, count, &ret->pid, err);
	if (count > 2)
		return report_surplus(argv[2], err);
	for (int i = 0; i < count; i++)
		ret->files[i] = argv[i];
	return 0;
}

/* A folder of ranks is one recording: the caller's to free, as they are until the page ends. */
static int folders_merge(struct ui_options *options, char *merged[2], struct err *err)
{
	int r = 0;

	for (unsigned i = 0; !r && i < 2; i++) {
		if (!options->files[i] || !is_folder(options->files[i]))
			continue;
		r = fleet_ui_merge(options->files[i], &merged[i], err);
		if (!r)
			options->files[i] = merged[i];
	}
	return r;
}

static int values_check(const struct ui_values *values, struct err *err)
{
	if (values->port <= UINT16_MAX)
		return 0;
	err_set(err, -EINVAL, "%llu is no port", (unsigned long long)values->port);
	err_fix(err, "--port 1 to --port 65535");
	return err_exit(err, EXIT_USAGE);
}

static enum exit_code ui_run(char **argv)
{
	struct ui_values values = { .lease_ns = UI_LEASE_NS };
	struct err err = { 0 };
	char *merged[2] = { NULL, NULL };
	struct ui_options options = { .version = LIMPET_VERSION, .examine = doctor_write_members };
	int operands = options_parse(ui_options, argv, &values, &err);

	if (operands >= 0 && !values_check(&values, &err) &&
	    !operands_read(argv, operands, &values, &options, &err) &&
	    !folders_merge(&options, merged, &err)) {
		invoker_find(&options.user, &options.group);
		options.port = (uint16_t)values.port;
		options.socket = values.socket;
		options.lease_ns = values.lease_ns;
		(void)!ui_page_run(&options,
				   &(struct ui_page_words){ values.no_open, values.is_json }, &err);
	}
	free(merged[0]);
	free(merged[1]);
	return report_end("ui", values.is_json && err.code, &err);
}

const struct command command_ui = {
	.name = "ui",
	.summary = "look at processes and recordings on a page, live",
	.usage =
		"[PID|FILE|DIR [FILE|DIR]] [--port N] [--socket PATH] [--lease TIME] [--no-open] [--json]",
	.options = ui_options,
	.run = ui_run,
	.notes =
		"Listens on 127.0.0.1 and [::1] only; the page asks for everything with the secret\n"
		"that is in its address. Two recordings are compared.  When no browser has asked for 30 s,\n"
		"traces end and limpet detaches; what was recorded stays.\n"
		"\n"
		"examples:\n"
		"  limpet ui                          the list of processes\n"
		"  limpet ui 4711                     sample one at once\n"
		"  limpet ui app.limpet               a recording\n"
		"  limpet ui run1                     samples of all ranks of limpet fleet record\n"
		"  limpet ui --socket /run/user/1000/limpet --no-open\n",
};
