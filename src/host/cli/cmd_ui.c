/*
 * limpet ui: the page.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/command.h"
#include "host/cli/doctor/members.h"
#include "host/cli/operand.h"
#include "host/cli/report.h"
#include "host/cli/version.h"
#include "host/core/cleanup.h"
#include "host/core/ending.h"
#include "host/core/print.h"
#include "host/core/text.h"
#include "host/ui/browser.h"
#include "host/ui/ui.h"

struct ui_values {
	uint64_t port;
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

static int values_check(const struct ui_values *values, struct err *err)
{
	if (values->port <= UINT16_MAX)
		return 0;
	err_set(err, -EINVAL, "%llu is no port", (unsigned long long)values->port);
	err_fix(err, "--port 1 to --port 65535");
	return err_exit(err, EXIT_USAGE);
}

static void address_print_json(const struct ui_address *address)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "listening");
	json_text(&json, "url", address->url);
	json_number(&json, "port", address->port);
	json_text(&json, "socket", address->socket ? address->socket : "");
	json_text(&json, "ssh", address->ssh);
	json_object_end(&json);
}

static void address_print(const struct ui_address *address)
{
	print(stdout, "%s\n", address->url);
	if (address->socket || secure_getenv("SSH_CONNECTION"))
		print(stdout, "from another machine: %s\n", address->ssh);
	print(stdout, "Ctrl-C ends it and detaches from everything\n");
	fflush(stdout);
}

static int ui_wait(struct ui_server *server, const struct ui_values *values,
		   const struct ui_options *options, struct err *err)
{
	struct browser browser = { 0 };
	struct ui_address address;
	CLEANUP(close) int signals = ending_prepare(err);
	int r;

	if (signals < 0)
		return signals;
	ui_address(server, &address);
	if (values->is_json)
		address_print_json(&address);
	else
		address_print(&address);
	if (!values->no_open && address.port)
		browser_open(&browser, address.url, options->user, options->group);
	r = ui_serve(server, signals, err);
	browser_close(&browser);
	return r;
}

static int ui_run_options(const struct ui_values *values, struct ui_options *options,
			  struct err *err)
{
	struct ui_server *server = NULL;
	int r = ui_start(&server, options, err);

	if (!r)
		r = ui_wait(server, values, options, err);
	ui_stop(server);
	return r;
}

static enum exit_code ui_run(char **argv)
{
	struct ui_values values = { 0 };
	struct err err = { 0 };
	struct ui_options options = { .version = LIMPET_VERSION, .examine = doctor_write_members };
	int operands = options_parse(ui_options, argv, &values, &err);

	if (operands >= 0 && !values_check(&values, &err) &&
	    !operands_read(argv, operands, &values, &options, &err)) {
		invoker_find(&options.user, &options.group);
		options.port = (uint16_t)values.port;
		options.socket = values.socket;
		(void)!ui_run_options(&values, &options, &err);
	}
	return report_end("ui", values.is_json && err.code, &err);
}

const struct command command_ui = {
	.name = "ui",
	.summary = "look at processes and recordings on a page, live",
	.usage = "[PID|FILE [FILE]] [--port N] [--socket PATH] [--no-open] [--json]",
	.options = ui_options,
	.run = ui_run,
	.notes =
		"Listens on 127.0.0.1 and [::1] only; the page asks for everything with the secret\n"
		"that is in its address. Two recordings are compared.\n"
		"\n"
		"examples:\n"
		"  limpet ui                          the list of processes\n"
		"  limpet ui 4711                     sample one at once\n"
		"  limpet ui app.limpet               a recording\n"
		"  limpet ui --socket /run/user/1000/limpet --no-open\n",
};
