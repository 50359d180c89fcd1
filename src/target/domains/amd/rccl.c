/*
 * RCCL: its table, by the names of its slots.
 */
#include "target/domains/amd/amd.h"
#include "target/domains/amd/slots.h"

/* Some builds have inserted entries, so the names of a longer table are unknown. */
#define STATUS(name, signature) SLOT_STATUS(name, DOMAIN_RCCL, HOOK_ANY, NULL),
#define PLAIN(name, signature)  SLOT_PLAIN(name, DOMAIN_RCCL, HOOK_ANY, NULL),
#define NEWER(name)             SLOT_STATUS(name, DOMAIN_RCCL, HOOK_ANY, NULL),
#define WIDE(name, signature)   SLOT_STATUS(name, DOMAIN_RCCL, HOOK_WIDE, NULL),
static const struct traced slots[] = {
#include "target/amd/tables/rccl.def"
};

const struct slot_list rccl_lists[1] = {
	{ "rccl", 0, false, true, DOMAIN_RCCL, slots, ARRAY_SIZE(slots) },
};

const struct domain_hooks hooks_rccl = { DOMAIN_RCCL, NULL, 0, NULL };
