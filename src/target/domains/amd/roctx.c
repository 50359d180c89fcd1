/*
 * Ranges and marks of roctx, as an imported library, or by its tables if it has any.
 */
#include "target/domains/amd/amd.h"
#include "target/domains/amd/slots.h"
#include "target/domains/marker.h"

/* In the order of the tables' slots. */
static const struct traced calls[] = {
	MARKS("roctxMarkA", marker_write_message),
	PUSHES("roctxRangePushA", marker_write_message),
	PUSHES("roctxRangePop", NULL),
	STARTS("roctxRangeStartA", marker_write_message),
	STOPS("roctxRangeStop"),
	MARKS("roctxGetThreadId", NULL),
	MARKS("roctxProfilerPause", NULL),
	MARKS("roctxProfilerResume", NULL),
	MARKS("roctxNameOsThread", marker_write_message),
	MARKS("roctxNameHsaAgent", marker_write_message),
	MARKS("roctxNameHipDevice", marker_write_message),
	MARKS("roctxNameHipStream", marker_write_message),
};

const struct slot_list roctx_lists[3] = {
	{ "roctx", 0, false, false, DOMAIN_MARKER, calls, 6 },
	{ "roctx", 1, false, false, DOMAIN_MARKER, calls + 6, 2 },
	{ "roctx", 2, false, false, DOMAIN_MARKER, calls + 8, 4 },
};

const struct domain_hooks hooks_roctx = { DOMAIN_MARKER, calls, ARRAY_SIZE(calls), NULL };
