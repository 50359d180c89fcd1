/*
 * What the host knows of GPU runtimes, made from runtimes.def.
 */
#pragma once

#include "shared/wire/domains.h"

#include <stdbool.h>
#include <stddef.h>

enum runtime {
#define RUNTIME(name, ...) RUNTIME_##name,
#include "host/runtimes/runtimes.def"
	RUNTIME_COUNT,
};

/* "hip", "hsa", ... */
const char *runtime_name(enum runtime runtime);
/* "HIP", ... */
const char *runtime_title(enum runtime runtime);

/* "hip,hsa" for these bits; "" for none.  Returns the buffer. */
const char *runtimes_describe(unsigned runtimes, char *buffer, size_t capacity);

struct runtime_library {
	enum runtime runtime;
	const char *stem; /* of its name: ".so" or ".so.N" must follow */
	bool reveals;     /* the runtime, where it is mapped */
	const char *key, *label, *absent;
};

/* All, ended by one without a stem. */
extern const struct runtime_library runtime_libraries[];

/* Whether a file of that path is it. */
bool runtime_library_is(const struct runtime_library *library, const char *path);

/* The runtime that a mapped file of that path reveals, as a bit; 0: none. */
unsigned runtime_of_file(const char *path);

/* Whether a module's functions are those of a runtime. */
bool runtime_is_code(const char *module);

enum runtime_domains {
	DOMAINS_LAUNCHES = 0u
#define RUNTIME_LAUNCHES(domains) | (domains)
#include "host/runtimes/runtimes.def"
	,
	DOMAINS_WORK = 0u
#define RUNTIME_WORK(domains) | (domains)
#include "host/runtimes/runtimes.def"
	,
	DOMAINS_BUSY = 0u
#define RUNTIME_BUSY(domains) | (domains)
#include "host/runtimes/runtimes.def"
	,
	DOMAINS_RESULTS = 0u
#define RUNTIME_RESULTS(domains) | (domains)
#include "host/runtimes/runtimes.def"
};

/* The name of an error that a call of this domain has returned; NULL: unknown. */
const char *runtime_error_name(unsigned domain, int32_t result);

/* Options, as bits of the request. */
enum runtime_option {
#define RUNTIME_FLAG(id, ...) RUNTIME_OPTION_##id,
#define RUNTIME_WORD(id, ...) RUNTIME_OPTION_##id,
#include "host/runtimes/runtimes.def"
	RUNTIME_OPTIONS,
};

#define RUNTIME_OPTION_BIT(id) (1u << RUNTIME_OPTION_##id)

struct runtime_option_facts {
	const char *option, *request;
	const char *word, *usual; /* NULL: it is a flag */
	uint32_t implied, unless; /* domains */
};

extern const struct runtime_option_facts runtime_options[RUNTIME_OPTIONS];

/* What a trace leaves in processes with these runtimes (0: a program that is started), after those
 * before this number; NULL: no more. */
const char *runtime_stays(unsigned runtimes, uint32_t domains, size_t *number);

struct runtime_trace {
	enum runtime runtime;
	const char *trace, *title;
};

/* All, ended by one without a trace. */
extern const struct runtime_trace runtime_traces[];
