/*
 * The SDK's numbers of API tables and of the kinds of their calls.
 */
#pragma once

#include "target/amd/sinks/sdk/base/abi.h"
#include "target/amd/tables/api_table.h"

struct tool_table {
	uint8_t callback_kind, buffer_kind, extended_kind, request_kind;
	uint16_t table_bit; /* in rocprofiler_at_intercept_table_registration() */
	uint16_t argument_bytes, result_bytes; /* in its payloads */
};
extern const struct tool_table tool_tables[API_TABLES];

/* NULL: no table has that kind. */
const struct api_table *table_of_callback(int kind);
const struct api_table *table_of_buffer(int kind);
