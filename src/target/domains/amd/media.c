/*
 * rocDecode and rocJPEG: their tables, by the names of their slots.
 */
#include "target/domains/amd/amd.h"
#include "target/domains/amd/slots.h"

#define STATUS(name, signature) SLOT_STATUS(name, DOMAIN_ROCDECODE, HOOK_ANY, NULL),
#define PLAIN(name, signature)  SLOT_PLAIN(name, DOMAIN_ROCDECODE, HOOK_ANY, NULL),
static const struct traced decode_slots[] = {
#include "target/amd/tables/rocdecode.def"
};
#undef STATUS
#undef PLAIN

#define STATUS(name, signature) SLOT_STATUS(name, DOMAIN_ROCJPEG, HOOK_ANY, NULL),
#define PLAIN(name, signature)  SLOT_PLAIN(name, DOMAIN_ROCJPEG, HOOK_ANY, NULL),
static const struct traced jpeg_slots[] = {
#include "target/amd/tables/rocjpeg.def"
};

const struct slot_list media_lists[2] = {
	{ "rocdecode", 0, false, false, DOMAIN_ROCDECODE, decode_slots, ARRAY_SIZE(decode_slots) },
	{ "rocjpeg", 0, false, false, DOMAIN_ROCJPEG, jpeg_slots, ARRAY_SIZE(jpeg_slots) },
};

const struct domain_hooks hooks_rocdecode = { DOMAIN_ROCDECODE, NULL, 0, NULL };
const struct domain_hooks hooks_rocjpeg = { DOMAIN_ROCJPEG, NULL, 0, NULL };
