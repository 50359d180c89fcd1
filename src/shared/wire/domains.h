/*
 * The numbers, names and sets of what can be traced, made from domains.def.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* A number is one byte in recordings; unknown ones are kept as "other N". */
#define DOMAIN_NUMBERS 256u

/* clang-format off */
union domain_highest {
#define DOMAIN(number, name, ...) char name[(number) + 1];
#include "shared/wire/domains.def"
};

enum trace_domain {
#define DOMAIN(number, name, ...) DOMAIN_##name = (number),
#include "shared/wire/domains.def"
	DOMAINS = sizeof(union domain_highest), /* one more than the highest of this build */
};
/* clang-format on */

_Static_assert(DOMAINS <= 32, "sets of domains are bits of 32");

enum domain_set {
	IN_SYS = 1,     /* --sys-trace */
	IN_RUNTIME = 2, /* --runtime-trace */
	IN_HIP = 4,     /* --hip-trace */
	IN_HSA = 8,     /* --hsa-trace */
	IN_GPU = 16,    /* of a runtime with calls and activities */
	IN_TABLES = 32, /* seen through tables of a runtime, which have to be found */
	IN_BPF = 64,    /* by kernel programs: nothing is loaded into the target */
	IN_CUDA = 128,  /* --cuda-trace */
};

#define DOMAIN_BIT(name) (1u << DOMAIN_##name)

/* Bits of the domains of each set. */
#define DOMAIN_IF(sets, set, number) | ((sets) & (set) ? 1u << (number) : 0u)
/* clang-format off */
enum domain_bits {
	DOMAINS_SYS = 0u
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, ...) DOMAIN_IF(sets, IN_SYS, number)
#include "shared/wire/domains.def"
	, DOMAINS_RUNTIME = 0u
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, ...) DOMAIN_IF(sets, IN_RUNTIME, number)
#include "shared/wire/domains.def"
	, DOMAINS_HIP = 0u
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, ...) DOMAIN_IF(sets, IN_HIP, number)
#include "shared/wire/domains.def"
	, DOMAINS_HSA = 0u
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, ...) DOMAIN_IF(sets, IN_HSA, number)
#include "shared/wire/domains.def"
	, DOMAINS_CUDA = 0u
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, ...) DOMAIN_IF(sets, IN_CUDA, number)
#include "shared/wire/domains.def"
	, DOMAINS_GPU = 0u
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, ...) DOMAIN_IF(sets, IN_GPU, number)
#include "shared/wire/domains.def"
	, DOMAINS_TABLES = 0u
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, ...) DOMAIN_IF(sets, IN_TABLES, number)
#include "shared/wire/domains.def"
	, DOMAINS_BPF = 0u
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, ...) DOMAIN_IF(sets, IN_BPF, number)
#include "shared/wire/domains.def"
};
/* clang-format on */

/* "alloc", "hip", ...; NULL for an unknown number. */
const char *domain_key(unsigned domain);
/* Is it something that devices do, and not a call of the program? */
bool domain_is_activity(unsigned domain);

/* Does a set of bits have it?  Never an unknown number. */
static inline bool domain_is_in(uint32_t bits, unsigned domain)
{
	return domain < DOMAINS && bits >> domain & 1;
}
