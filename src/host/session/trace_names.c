/*
 * Maps option names to domains: "alloc" is --alloc-trace.
 */
#include "host/session/trace.h"

#include "shared/wire/domains.h"

#include <string.h>

static const struct {
	const char *option;
	uint32_t domains;
} trace_names[] = {
/* clang-format off */
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, option, help) { option, 1u << (number) },
#define DOMAIN_NO_OPTION(...)
#define DOMAIN_SET(name, letter, option, help) { option, DOMAINS_##name },
#include "shared/wire/domains.def"
	/* clang-format on */
};

uint32_t trace_domains_named(const char *word)
{
	size_t size = strlen(word);

	for (size_t i = 0; i < ARRAY_SIZE(trace_names); i++)
		if (strncmp(trace_names[i].option, word, size) == 0 &&
		    strcmp(trace_names[i].option + size, "-trace") == 0)
			return trace_names[i].domains;
	return 0;
}
