/*
 * limpet ui: the page.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/common/operand.h"
#include "host/cli/common/ui_page.h"
#include "host/cli/doctor/doctor.h"
#include "host/cli/fleet/fleet.h"
#include "host/ui/browser.h"

struct ui_values {
	uint64_t port, lease_ns;
	const char *pid, *socket;
	bool no_open, is_json;
};

#define FIELD(member) offsetof(struct ui_values, member)

static const struct option_desc ui_options[] = {
	OPERAND_OPTION(FIELD(pid)),
	{ 0, "port", "N", "listen on this port of 127.0.0.1 (default: any free one)", FIELD(port),
	  OPTION_NUMBER },
	{ 0, "socket", "PATH", "listen on a socket file instead, for your user alone",
	  FIELD(socket), OPTION_ONCE },
	{ 0, "lease", "TIME",
	  "stop tracing when no browser has sent a request for TIME (30s; 0: never)",
	  FIELD(lease_ns), OPTION_DURATION },
	{ 0, "no-open", NULL, "print the address only; open no browser", FIELD(no_open) },
	{ 'j', "json", NULL, "print where it listens as one JSON object", FIELD(is_json) },
	{ 0 },
};

/* Nothing, one process, or up to two recordings. */
static int operands_read(const struct command_line *line, struct ui_options *ret, struct err *err)
{
	const struct ui_values *values = line->values;
	const char *first = line->operands[0];

	if (!first && !values->pid)
		return 0;
	if (values->pid || !first[strspn(first, "0123456789")] || access(first, R_OK))
		return operand_process(line, values->pid, &ret->pid, err);
	for (int i = 0; i < MIN(line->count, 2); i++)
		ret->files[i] = line->operands[i];
	return line->count > 2 ? command_surplus(line->operands[2], err) : 0;
}

/* A folder of ranks is one recording: the caller's to free, as they are until the page ends. */
static int folders_merge(struct ui_options *options, char *merged[2], struct err *err)
{
	int r = 0;

	for (unsigned i = 0; !r && i < 2; i++) {
		if (!options->files[i] || !is_folder(options->files[i]))
			continue;
		r = fleet_merge_folder(options->files[i], &merged[i], err);
		if (!r)
			options->files[i] = merged[i];
	}
	return r;
}

static int ui_run(const struct command_line *line, struct err *err)
{
	struct ui_values *values = line->values;
	char *merged[2] = { NULL, NULL };
	struct ui_options options = { .version = LIMPET_VERSION,
				      .examine = doctor_write_members,
				      .port = (uint16_t)values->port,
				      .socket = values->socket,
				      .lease_ns = values->lease_ns };
	int r;

	if (values->port > UINT16_MAX)
		return err_usage(err, "--port 1 to --port 65535", "%lu is no port", values->port);
	r = operands_read(line, &options, err);
	if (!r)
		r = folders_merge(&options, merged, err);
	invoker_find(&options.user, &options.group);
	if (!r)
		r = ui_page_run(&options,
				&(struct ui_page_words){ values->no_open, values->is_json }, err);
	free(merged[0]);
	free(merged[1]);
	values->is_json &= err->code != 0; /* the address was all, without an error */
	return r;
}

const struct command command_ui = {
	.name = "ui",
	.summary = "look at processes and recordings on a page, live",
	.usage =
		"[PID|FILE|DIR [FILE|DIR]] [--port N] [--socket PATH] [--lease TIME] [--no-open] [--json]",
	.options = ui_options,
	.values_size = sizeof(struct ui_values),
	.defaults = &(const struct ui_values){ .lease_ns = UI_LEASE_NS },
	.run = ui_run,
	.notes =
		"Listens on 127.0.0.1 and [::1] only; each request of the page carries the secret that is in\n"
		"its address.  Two recordings are compared.  When no browser has sent a request for 30 s,\n"
		"traces end and limpet detaches; what was recorded stays.\n"
		"\n"
		"examples:\n"
		"  limpet ui                          the list of processes\n"
		"  limpet ui 4711                     sample one at once\n"
		"  limpet ui app.limpet               a recording\n"
		"  limpet ui run1                     samples of all ranks of limpet fleet record\n"
		"  limpet ui --socket /run/user/1000/limpet --no-open\n",
};
