/*
 * limpet from C: loads a tool library into a running process, stays a second, leaves nothing
 * behind.
 *
 *   cc use_api.c $(pkg-config --cflags --libs limpet) -o use_api
 *   ./use_api PID ./hello_tool.so HELLO_OUTPUT=/tmp/hello HELLO_NAME=you
 *
 * Returns what the command line would.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <limpet/limpet.h>

static int complain(const struct limpet_error *error)
{
	fprintf(stderr, "use_api: %s\n", error->what);
	if (error->why[0])
		fprintf(stderr, "  why: %s\n", error->why);
	if (error->fix[0])
		fprintf(stderr, "  fix: %s\n", error->fix);
	return error->exit_code;
}

/* What the arguments ask for: a tool, and variables that it sees while we are attached. */
struct wish {
	const char *const *tool;
	const char *const *variables;
	size_t variable_count;
};

static int tool_load(struct limpet *target, const struct wish *wish, struct limpet_error *error)
{
	struct limpet_options options = LIMPET_OPTIONS_INIT;
	struct limpet_report report = LIMPET_REPORT_INIT;
	int r;

	options.tools = wish->tool;
	options.tool_count = 1;
	options.variables = wish->variables;
	options.variable_count = wish->variable_count;
	options.flags = LIMPET_STRICT; /* a tool that cannot be loaded is an error */
	r = limpet_attach(target, &options, &report, error);
	if (r == 0)
		printf("attached: thread %d stood still for %.3f ms\n", report.thread,
		       (double)report.pause_ns / 1e6);
	return r;
}

static int status_show(struct limpet *target, struct limpet_error *error)
{
	struct limpet_status status = LIMPET_STATUS_INIT;
	int r = limpet_status(target, &status, error);

	if (r == 0)
		printf("held by process %d, %u tool(s) loaded, attached %u time(s) so far\n",
		       status.holder, (unsigned int)status.tools, (unsigned int)status.attaches);
	return r;
}

static int visit(struct limpet *target, const struct wish *wish, struct limpet_error *error)
{
	int r = tool_load(target, wish, error);

	if (r == 0)
		r = status_show(target, error);
	if (r == 0)
		sleep(1);
	if (r == 0)
		r = limpet_detach(target, LIMPET_UNLOAD, error);
	if (r == 0)
		printf("detached%s%s\n", error->why[0] ? "; stays: " : ", nothing is left",
		       error->why);
	return r;
}

int main(int argc, char **argv)
{
	struct limpet_error error = LIMPET_ERROR_INIT;
	const char *const *arguments = (const char *const *)argv;
	struct wish wish = { arguments + 2, arguments + 3, 0 };
	struct limpet *target;
	int r;

	if (argc < 3) {
		fprintf(stderr, "usage: %s PID TOOL.so [NAME=VALUE]...\n", argv[0]);
		return 2;
	}
	wish.variable_count = (size_t)argc - 3;
	target = limpet_open((int)strtol(argv[1], NULL, 10), &error);
	r = target ? visit(target, &wish, &error) : -1;
	limpet_close(target); /* also detaches, should visit() have failed half-way */
	return r ? complain(&error) : 0;
}
