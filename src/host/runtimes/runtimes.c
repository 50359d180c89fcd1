/*
 * The tables of runtimes.def.
 */
#include "host/runtimes/runtimes.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *key, *title;
} runtimes[RUNTIME_COUNT] = {
#define RUNTIME(name, key, title) [RUNTIME_##name] = { key, title },
#include "host/runtimes/runtimes.def"
};

const struct runtime_library runtime_libraries[] = {
#define RUNTIME_LIBRARY(name, stem, reveals, key, label, absent) \
	{ RUNTIME_##name, stem, reveals, key, label, absent },
#include "host/runtimes/runtimes.def"
	{ .stem = NULL },
};

const struct runtime_option_facts runtime_options[RUNTIME_OPTIONS] = {
#define RUNTIME_FLAG(id, option, help, request, implied, unless) \
	[RUNTIME_OPTION_##id] = { option, request, NULL, NULL, implied, unless },
#define RUNTIME_WORD(id, option, argument, help, word, usual, request, implied, unless) \
	[RUNTIME_OPTION_##id] = { option, request, word, usual, implied, unless },
#include "host/runtimes/runtimes.def"
};

const struct runtime_trace runtime_traces[] = {
#define RUNTIME_TRACE(name, trace, title) { RUNTIME_##name, trace, title },
#include "host/runtimes/runtimes.def"
	{ .trace = NULL },
};

const char *runtime_name(enum runtime runtime)
{
	return runtimes[runtime].key;
}

const char *runtime_title(enum runtime runtime)
{
	return runtimes[runtime].title;
}

const char *runtimes_describe(unsigned bits, char *buffer, size_t capacity)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (unsigned i = 0; i < RUNTIME_COUNT && used < capacity; i++)
		if (bits >> i & 1)
			used += (size_t)snprintf(buffer + used, capacity - used, "%s%s",
						 used ? "," : "", runtimes[i].key);
	return buffer;
}

bool runtime_library_is(const struct runtime_library *library, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = strlen(library->stem);

	return slash && strncmp(slash + 1, library->stem, length) == 0 &&
	       strncmp(slash + 1 + length, ".so", 3) == 0;
}

unsigned runtime_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	/* Nearly all files end here: only libraries count. */
	if (!slash || strncmp(slash + 1, "lib", 3) != 0)
		return 0;
	for (const struct runtime_library *it = runtime_libraries; it->stem; it++)
		if (it->reveals && runtime_library_is(it, path))
			return 1u << it->runtime;
	return 0;
}

bool runtime_is_code(const char *module)
{
	static const char *const patterns[] = {
#define RUNTIME_CODE(pattern) pattern,
#include "host/runtimes/runtimes.def"
	};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!fnmatch(patterns[i], module, 0))
			return true;
	return false;
}

const char *runtime_error_name(unsigned domain, int32_t result)
{
	static const struct {
		uint32_t domains;
		int32_t number;
		const char *name;
	} errors[] = {
#define RUNTIME_ERROR(domains, number, name) { domains, number, name },
#include "host/runtimes/runtimes.def"
	};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].number == result && domain_is_in(errors[i].domains, domain))
			return errors[i].name;
	return NULL;
}

const char *runtime_stays(unsigned bits, uint32_t domains, size_t *number)
{
	static const struct {
		enum runtime runtime;
		uint32_t domains, started, other;
		const char *text;
	} stays[] = {
#define RUNTIME_STAYS(name, domains, started, other, text) \
	{ RUNTIME_##name, domains, started, other, text },
#include "host/runtimes/runtimes.def"
	};

	while (*number < ARRAY_SIZE(stays)) {
		size_t i = (*number)++;
		bool is_known = bits >> stays[i].runtime & 1 && domains & stays[i].domains;
		bool is_likely = !bits && domains & stays[i].started && !(domains & stays[i].other);

		if (is_known || is_likely)
			return stays[i].text;
	}
	return NULL;
}
