/*
 * The API tables that AMD's runtimes register, and the functions in them.
 */
#pragma once

#include "target/amd/tables/signature.h"

enum api_table_number {
	API_HSA_CORE,
	API_HSA_AMD,
	API_HSA_IMAGE,
	API_HSA_FINALIZER,
	API_HIP,
	API_HIP_COMPILER,
	API_ROCTX,
	API_ROCTX_CONTROL,
	API_ROCTX_NAME,
	API_RCCL,
	API_ROCDECODE,
	API_ROCJPEG,
	API_TABLES,
};

/* A table that a runtime registers, or a part of one. */
struct api_table {
	const char *registered; /* its name */
	uint8_t part;           /* index of the table; HSA: of a table in its root */
	bool is_of_hsa;         /* begins with a version; other tables begin with a size */
	bool may_differ;        /* a longer table may have another order of slots */
	uint8_t domain;         /* enum trace_domain of its calls */
	uint16_t named;         /* how many functions are known */
	uint16_t count;         /* how many of these have a signature, and a number in the SDK */
	uint16_t first;         /* number of its first function among those of all tables */
	const struct signature *signatures;
};

#define API_FUNCTIONS 800u /* of all tables */
extern const struct api_table api_tables[API_TABLES];

/* How the function is called; made when the table is first seen. */
extern struct call_layout api_layouts[API_FUNCTIONS];

/* The number of the function of that name; table->named: none. */
unsigned api_function(const struct api_table *table, const char *name);
/* True if the function returns a status, and 0 is success. */
static inline bool api_returns_status(const struct api_table *table, unsigned operation)
{
	return operation < table->named &&
	       (!table->signatures[operation].text || table->signatures[operation].text[0] == 'e');
}
