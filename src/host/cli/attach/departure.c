/*
 * Prints the end of a session, with what stays in the target.
 */
#include "host/cli/attach/departure.h"

#include "host/core/text/json.h"
#include "host/core/text/print.h"

static void print_json(const struct departure *departure)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_text(&json, "event", "detached");
	json_signed(&json, "pid", departure->pid);
	json_text(&json, "reason", departure->reason);
	json_bool(&json, "unloaded", departure->is_unloaded);
	json_list(&json, "left");
	for (size_t i = 0; i < departure->left->count; i++)
		json_text(&json, NULL, departure->left->items[i]);
	json_list_end(&json);
	json_object_end(&json);
}

void departure_print(const struct departure *departure, bool is_json)
{
	if (is_json) {
		print_json(departure);
		return;
	}
	print(stdout, "%s\n", departure->words);
	for (size_t i = 0; i < departure->left->count; i++)
		print(stdout, "  stays: %s\n", departure->left->items[i]);
}
