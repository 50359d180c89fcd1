/*
 * The functions of a GPU runtime's table, in the order of its slots.
 */
#pragma once

#include "target/domains/runtime.h"

struct slot_list {
	const char *table; /* its registered name */
	uint8_t part;      /* index of the table; of HSA: of the tables that the root points to */
	bool is_of_hsa;    /* begins with a version; other tables begin with a size */
	bool may_differ;   /* if the table is longer than `count`, any slot may differ */
	enum trace_domain domain;
	const struct traced *traced;
	uint16_t count;
};

/* A slot that returns an error code, and one that returns none. */
#define SLOT_STATUS(name, domain, way, write)                    \
	{                                                        \
		NULL, #name, domain, way, write, NULL, 1,        \
		{                                                \
			{                                        \
				VALUE_RESULT, CAPTURE_RESULT_INT \
			}                                        \
		}                                                \
	}
#define SLOT_PLAIN(name, domain, way, write)              \
	{                                                 \
		NULL, #name, domain, way, write, NULL, 0, \
		{                                         \
			{                                 \
				0, 0                      \
			}                                 \
		}                                         \
	}

/* A slot hooked before and after the call, for its own domain and others. */
#define SLOT_AROUND(name, domain, count, write, before, after)                  \
	{                                                                       \
		NULL, #name, domain, HOOK_AROUND, write, NULL, count,           \
			{ { VALUE_RESULT, CAPTURE_RESULT_INT } }, before, after \
	}

extern const struct slot_list hip_lists[2], hsa_lists[4], rccl_lists[1], media_lists[2],
	roctx_lists[3];
