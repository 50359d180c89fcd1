/*
 * Traces any imported function, by patterns of library and name. Its arguments are unknown.
 */
#include "target/domains/cpu/cpu.h"
#include "target/hooks/wants.h"
#include "target/runtime/text.h"

#define PREFIX "function="

static const struct traced any_function[] = {
	{ NULL, NULL, DOMAIN_FUNCTION, HOOK_ANY, .value_count = 0 },
};

static bool function_start(const struct trace_request *request)
{
	const char *part = request->text;
	size_t length = 0;
	bool fits = true;

	while (request_next(&part, &length))
		if (length > sizeof(PREFIX) - 1 &&
		    pattern_matches(PREFIX "*", sizeof(PREFIX), part))
			fits &= wants_add_pattern(any_function, part + sizeof(PREFIX) - 1,
						  length - (sizeof(PREFIX) - 1));
	return fits;
}

const struct domain_hooks hooks_function = { DOMAIN_FUNCTION, any_function,
					     ARRAY_SIZE(any_function), function_start };
