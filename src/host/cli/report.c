/*
 * Prints the end of a verb.  The only place that shows a struct err.
 */
#include "host/cli/report.h"

#include <errno.h>

#include "host/core/text/print.h"
#include "host/core/text/text.h"

static void print_labelled(const char *first, const char *further, const char *lines)
{
	struct text rest = text_of(lines), line;
	const char *label = first;

	while (text_take_line(&rest, &line)) {
		print(stderr, "  %s: %.*s\n", label, (int)(line.end - line.at), line.at);
		label = further;
	}
}

/*
 * error: cannot attach to 4242 (vllm): ...
 *   why: ...
 *   fix: ...
 *   or : ...        (each further line of err->fix)
 */
static void print_error(const struct err *err)
{
	fflush(stdout);
	print(stderr, "error: %s\n", err->what);
	print_labelled("why", "   ", err->why);
	print_labelled("fix", "or ", err->fix);
}

static enum exit_code exit_of(const struct err *err)
{
	return err->code ? err->exit : EXIT_DONE;
}

void report_summary(struct json *json, const char *verb, const struct err *err)
{
	json_object(json, NULL);
	json_text(json, "event", "summary");
	json_text(json, "verb", verb);
	json_number(json, "exit", exit_of(err));
	json_text(json, "error", err->code ? err->what : "");
	json_text(json, "why", err->code ? err->why : "");
	json_text(json, "fix", err->code ? err->fix : "");
}

enum exit_code report_end(const char *verb, bool is_json, const struct err *err)
{
	if (err->code)
		print_error(err);
	if (is_json) {
		struct json json = { .out = stdout };

		report_summary(&json, verb, err);
		json_object_end(&json);
	}
	return exit_of(err);
}

int report_surplus(const char *operand, struct err *err)
{
	err_set(err, -EINVAL, "unexpected argument '%s'", operand);
	return err_exit(err, EXIT_USAGE);
}
