/*
 * What the files of the OpenCL domain share.  OpenCL itself is described here as far as we call it:
 * nothing of its headers is needed to build.
 *
 * opencl.c           the domain: begins, looks, drains
 * opencl_entries.c   what is written about each function
 * opencl_vendors.c   drivers, their tables, and the functions behind the hooks
 * opencl_queues.c    numbers and names of queues and devices
 * opencl_kernels.c   numbers and names of kernels
 * opencl_commands.c  enqueue calls, and what they ask a device to do
 * opencl_events.c    commands under way, until the device is done
 * opencl_times.c     when the device began and ended
 * opencl_memory.c    buffers, images, shared memory
 */
#pragma once

#include "target/domains/work.h"

/* Objects are addresses; results are 0 or negative. */
typedef uint64_t opencl_object;

enum opencl_entry {
#define CALL(name)                        ENTRY_##name,
#define MAKES(name)                       ENTRY_##name,
#define COMMAND(name)                     ENTRY_##name,
#define MAPS(name)                        ENTRY_##name,
#define AROUND(name, before, after)       ENTRY_##name,
#define AROUND_MAKES(name, before, after) ENTRY_##name,
#define AROUND_PLAIN(name, before, after) ENTRY_##name,
#define END_OF_SLOTS                      OPENCL_SLOTS, OPENCL_LAST_SLOT = OPENCL_SLOTS - 1,
#include "target/domains/opencl_entries.def"
#undef CALL
#undef MAKES
#undef COMMAND
#undef MAPS
#undef AROUND
#undef AROUND_MAKES
#undef AROUND_PLAIN
#undef END_OF_SLOTS
	OPENCL_ENTRIES,
};

/* Names of properties, as OpenCL numbers them. */
enum opencl_info {
	PLATFORM_VERSION = 0x0901,
	PLATFORM_NAME = 0x0902,
	DEVICE_TYPE = 0x1000,
	DEVICE_NAME = 0x102b,
	DEVICE_VENDOR = 0x102c,
	DEVICE_PLATFORM = 0x1031,
	CONTEXT_DEVICES = 0x1081,
	QUEUE_DEVICE = 0x1091,
	QUEUE_PROPERTIES = 0x1093,
	MEMORY_SIZE = 0x1102,
	MEMORY_CONTEXT = 0x1106,
	MEMORY_PARENT = 0x1107,
	IMAGE_ELEMENT_SIZE = 0x1111,
	KERNEL_NAME = 0x1190,
	KERNEL_LOCAL_BYTES = 0x11b2,
	KERNEL_PRIVATE_BYTES = 0x11b4,
	EVENT_REFERENCES = 0x11d2,
	PROFILING_QUEUED = 0x1280,
	PROFILING_START = 0x1282,
	PROFILING_END = 0x1283,
};

/* opencl_entries.c; the last one is for slots that are newer than we are. */
extern const struct traced opencl_traced[OPENCL_ENTRIES + 1];

/* opencl_vendors.c */
struct opencl_vendor {
	uint64_t *table;
	uint32_t slot_count, session;
	uint32_t hooked;                    /* slots, in that session */
	uint64_t functions[OPENCL_ENTRIES]; /* as the driver has them; 0: not there */
	uint64_t stubs[OPENCL_ENTRIES];     /* that lead there through us */
};

/* Whose function a hook leads to. */
const struct opencl_vendor *vendor_of(const struct hook *hook);
unsigned vendor_entry(const struct hook *hook);

/* Asks for a property of an object: clGetXInfo(object, name, size, value).  False: not known. */
bool vendor_ask(const struct opencl_vendor *vendor, enum opencl_entry entry, opencl_object object,
		uint32_t name, void *value, size_t size);

/* Keeps the driver from being unloaded; NULL when it is not there any more. */
void *vendor_keep(const struct opencl_vendor *vendor);
void vendor_let_go(void *kept);

/* Finds tables and hooks them: drivers when modules have come, and tables that objects had.
 * True when one is hooked. */
bool vendors_look(bool have_modules_changed, struct got_report *report);
/* Looks at the table of an object that the vendor has made. */
void vendor_meet(const struct opencl_vendor *vendor, opencl_object object);
traced_after vendor_after_address, vendor_after_context;

/* opencl_queues.c */
struct opencl_queue {
	opencl_object handle;
	uint32_t is_ready;
	uint32_t number, device; /* as in records */
	opencl_object device_handle;
	bool is_ordered, has_profiling;
	uint64_t last_end; /* when the last command was done, in ticks */
};

void queues_start(void);
/* NULL when there are too many. */
struct opencl_queue *queue_find(const struct opencl_vendor *vendor, opencl_object handle);
/* The number of a device, 0 when there are too many. */
uint32_t device_number(const struct opencl_vendor *vendor, opencl_object device);
/* Of the first device of a context. */
uint32_t device_of_context(const struct opencl_vendor *vendor, opencl_object context);
/* Where the clock of this device is set to: nanoseconds to be added for CLOCK_BOOTTIME. */
int64_t *device_clock(uint32_t number);
traced_after queue_after_create, queue_after_change;

/* opencl_kernels.c */
void kernels_start(void);
/* The number of its name, said to the host by now. */
uint64_t kernel_number(const struct opencl_vendor *vendor, opencl_object kernel);
uint64_t kernel_number_of_text(const char *text);
traced_after kernel_after_create, kernel_after_create_all;

/* opencl_events.c */
struct opencl_work {
	enum trace_domain domain; /* DOMAINS: nothing that would be written */
	union {
		struct {
			uint64_t name, dispatch;
			uint64_t grid[3], group[3];
			uint64_t private_bytes, local_bytes;
		} kernel;
		struct {
			uint64_t size, to, from;
			uint32_t direction;
		} copy;
	};
};

struct opencl_command {
	opencl_object event; /* of which one reference is ours */
	const struct opencl_vendor *vendor;
	struct opencl_queue *queue;
	uint32_t session, next; /* next: in the list of free ones */
	uint32_t holding;       /* of our reference, see opencl_events.c */
	uint32_t thread;
	uint64_t begin, end; /* of the call */
	bool is_blocking;
	struct opencl_work work;
};

int events_start(void) MUST_CHECK;
/* Takes over one reference of the event, whatever comes of it. */
void event_follow(const struct opencl_command *command);
/* Waits until the device is done with everything, not longer than that; how much is left, whose
 * events are not ours any more. */
uint32_t events_drain(uint32_t deadline_ms);
/* How many could not be remembered. */
uint32_t events_lost(void);
void events_forget(void);
traced_after event_after_info;

/* opencl_times.c */
struct opencl_times {
	uint64_t begin, end;
};
/* When the device was at it; `now`: when we heard that it was done. */
struct opencl_times times_of(const struct opencl_command *command, uint64_t now);

/* opencl_commands.c */
traced_before command_before;
traced_after command_after;

/* opencl_memory.c */
int memory_start(void) MUST_CHECK;
/* Bytes of a region that was mapped at this address; forgets it. */
uint64_t memory_mapped(uint64_t address, bool *is_written);
void memory_note_mapping(uint64_t address, uint64_t size, bool is_written);
void memory_free_shared(const struct hook_around *around, uint64_t address, uint64_t end);
traced_before memory_before_release;
traced_after memory_after_create, memory_after_svm_alloc, memory_after_svm_free;

/* opencl.c: is this domain to be written of OpenCL?  On any thread. */
bool opencl_writes(enum trace_domain domain);
