/*
 * The functions of a GPU runtime's table, in the order of its slots.
 */
#pragma once

#include "target/domains/runtime.h"

struct slot_list {
	const char *table; /* the name under which it is registered */
	uint8_t part;      /* which of its tables; of HSA: which of those that the root points to */
	bool is_of_hsa;    /* begins with a version; the others with a size */
	bool may_differ;   /* where it is longer than we know, any slot may be another */
	enum trace_domain domain;
	const struct traced *traced;
	uint16_t count;
};

/* A slot whose result is an error code, one whose result is none, one with large arguments. */
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

/* A slot that is seen before and after: what it says is told by its own domain and by others. */
#define SLOT_AROUND(name, domain, count, write, before, after)                  \
	{                                                                       \
		NULL, #name, domain, HOOK_AROUND, write, NULL, count,           \
			{ { VALUE_RESULT, CAPTURE_RESULT_INT } }, before, after \
	}

extern const struct slot_list hip_lists[2], hsa_lists[4], rccl_lists[1], media_lists[2],
	roctx_lists[3];
