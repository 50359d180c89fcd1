/*
 * Shared by the files of the OpenCL domain. OpenCL is declared here as far as limpet calls it: the
 * build needs none of its headers.
 *
 * opencl.c           the runtime: start, look, stop, drain
 * drivers.c          finds drivers and hooks their tables
 * entries.c          how calls of each function are recorded
 * vendors.c          the tables of drivers, and the functions behind the hooks
 * names.c            the names of functions
 * state.c            the domains to record
 * notes.c            messages about OpenCL
 * queues.c           numbers and names of queues and devices
 * kernels.c          numbers and names of kernels
 * commands.c         enqueue calls, and others on queues
 * command_kinds.c    the device work of enqueue calls (command.h)
 * events.c           commands in flight, until the device completes them
 * times.c            begin and end of device work
 * memory.c           buffers, images, shared memory
 * shadow*.c          limpet's profiling queues beside the application's queues (shadow.h)
 * bypass.c           finds out whether the application may enqueue unseen
 * answers.c          corrects query results: events, queues, contexts, function addresses
 */
#pragma once

#include "target/domains/runtime.h"
#include "target/hooks/work.h"

/* Numbers of OpenCL's devices and queues. */
#define OPENCL_NUMBERS_FROM WORK_NUMBERS
#define OPENCL_NUMBERS      65280u

extern const struct runtime runtime_opencl;

/* Objects are addresses; results are 0 or negative. */
typedef uint64_t opencl_object;

enum opencl_entry {
#define OPENCL(kind, name, ...) ENTRY_##name,
#define END_OF_SLOTS            OPENCL_SLOTS, OPENCL_LAST_SLOT = OPENCL_SLOTS - 1,
#include "target/domains/opencl/entries.def"
	OPENCL_ENTRIES,
};

/* Properties, by OpenCL's numbers. */
enum opencl_info {
	PLATFORM_VERSION = 0x0901,
	PLATFORM_NAME = 0x0902,
	DEVICE_TYPE = 0x1000,
	DEVICE_NAME = 0x102b,
	DEVICE_VENDOR = 0x102c,
	DEVICE_PLATFORM = 0x1031,
	CONTEXT_REFERENCES = 0x1080,
	CONTEXT_DEVICES = 0x1081,
	QUEUE_CONTEXT = 0x1090,
	QUEUE_DEVICE = 0x1091,
	QUEUE_REFERENCES = 0x1092,
	QUEUE_PROPERTIES = 0x1093,
	QUEUE_PRIORITY = 0x1096,
	QUEUE_THROTTLE = 0x1097,
	QUEUE_PROPERTIES_ARRAY = 0x1098,
	MEMORY_SIZE = 0x1102,
	MEMORY_CONTEXT = 0x1106,
	MEMORY_PARENT = 0x1107,
	IMAGE_ELEMENT_SIZE = 0x1111,
	KERNEL_NAME = 0x1190,
	KERNEL_LOCAL_BYTES = 0x11b2,
	KERNEL_PRIVATE_BYTES = 0x11b4,
	EVENT_QUEUE = 0x11d0,
	EVENT_REFERENCES = 0x11d2,
	EVENT_STATUS = 0x11d3,
	PROFILING_QUEUED = 0x1280,
	PROFILING_START = 0x1282,
	PROFILING_END = 0x1283,
};

/* entries.c; the last element is for slots without a known name. */
extern const struct traced opencl_traced[OPENCL_ENTRIES + 1];

/* names.c */
extern const char *const opencl_names[OPENCL_ENTRIES];
/* True for functions hooked only for device times, unless calls are recorded. */
extern const bool opencl_is_timed[OPENCL_ENTRIES + 1];

/* vendors.c */
struct opencl_vendor {
	uint64_t *table;
	opencl_object
		platform; /* one of the platforms with this table; 0: only other objects have it */
	uint32_t slot_count, session;
	uint32_t hooked;                    /* number of hooked slots in `session` */
	uint64_t functions[OPENCL_ENTRIES]; /* the driver's functions; 0: not there */
	uint64_t stubs[OPENCL_ENTRIES];     /* of their hooks */
	/* For device times: */
	uint64_t hooked_ns;
	uint32_t is_settled;
	uint32_t refusal; /* enum opencl_refusal */
};

/* Called before the first hook; `traced` is that of entry 0. */
void vendors_start(const struct traced *traced);
/* Returns NULL behind the last one. */
struct opencl_vendor *vendor_at(uint32_t index);
/* Returns an object's table; the vendor with a table, or NULL; a new vendor, or NULL if full. */
uint64_t *vendor_table_of(opencl_object object);
struct opencl_vendor *vendor_with_table(const uint64_t *table);
struct opencl_vendor *vendor_add(uint64_t *table);

/* The vendor, and the entry, of a hook's function. */
const struct opencl_vendor *vendor_of(const struct hook *hook);
unsigned vendor_entry(const struct hook *hook);

/* Queries a property of an object: clGetXInfo(object, name, size, value). False: unknown. */
bool vendor_query(const struct opencl_vendor *vendor, enum opencl_entry entry, opencl_object object,
		  uint32_t name, void *value, size_t size);

/* Keeps the driver loaded until got_release(); NULL if it was unloaded. */
void *vendor_keep(const struct opencl_vendor *vendor);

/* Calls a function whose only argument is an object. */
int32_t vendor_call(const struct opencl_vendor *vendor, enum opencl_entry entry,
		    opencl_object object);

/* Notes the table of an object that the vendor has created; noted tables are read by index. */
struct object_table {
	uint64_t *table; /* NULL: another thread is noting it */
	uint32_t slot_count;
};
void vendor_note_object(const struct opencl_vendor *vendor, opencl_object object);
bool vendor_object_table(uint32_t index, struct object_table *ret);
traced_after vendor_after_context;

/* drivers.c: finds and hooks the tables of drivers when modules were loaded, and tables of objects.
 * True if a driver's table is hooked. */
bool drivers_scan(bool have_modules_changed, struct hooks_report *report);

/* queues.c */
struct opencl_queue {
	opencl_object handle;
	uint32_t is_ready;
	uint32_t number, device; /* as in records */
	opencl_object device_handle;
	bool is_ordered, has_profiling;
	uint64_t last_end; /* when the last command was completed, in ticks */
	/* For device times, see shadow.c: */
	const struct opencl_vendor *vendor;
	struct opencl_shadow *shadow;
	uint32_t maker;        /* 1: a thread is making a shadow */
	uint32_t refusal;      /* enum opencl_refusal */
	bool is_new;           /* every command in it was seen, or is complete */
	opencl_object first;   /* a marker behind unseen commands */
	opencl_object barrier; /* event of the last barrier */
};

void queues_start(void);
/* Returns NULL if there are too many queues. */
struct opencl_queue *queue_find(const struct opencl_vendor *vendor, opencl_object handle);
/* Returns the number of a device, 0 if there are too many. */
uint32_t device_number(const struct opencl_vendor *vendor, opencl_object device);
/* Returns the number of a context's first device. */
uint32_t device_of_context(const struct opencl_vendor *vendor, opencl_object context);
/* The offset of this device's clock: nanoseconds to add for CLOCK_BOOTTIME. */
int64_t *device_clock(uint32_t number);
/* The driver has just returned this handle for a new queue, whatever had it before. */
void queue_describe_again(const struct opencl_vendor *vendor, opencl_object handle);
traced_after queue_after_create;
/* Name a profiling queue, with a number of its own; a queue whose times are estimated. */
void queue_view(const struct opencl_queue *queue, struct opencl_queue *ret);
void queue_name_refused(const struct opencl_queue *queue, const char *why);
/* Releases the events kept for device times. */
void queues_stop(void);

/* shadow.c */
enum opencl_refusal {
	NOT_REFUSED,
#define REFUSAL(name, text) REFUSED_##name,
#include "target/domains/opencl/refusals.def"
#undef REFUSAL
	REFUSALS,
};

/* notes.c; the first messages are refusals, by their number. */
enum opencl_note {
	SAY_NO_DRIVER = REFUSALS,
	SAY_MANY_QUEUES,
	SAY_NO_ORDER,
	OPENCL_NOTES,
};
extern const struct note opencl_notes[OPENCL_NOTES];

/* state.c; ending: no event is kept any more. */
bool shadows_are_wanted(void);
bool shadows_are_ending(void);
void shadows_set_wanted(bool wanted);
void shadows_set_ending(void);

void shadows_start(bool wanted);
/* Sends later commands to the application's queues again; called before tables are restored. */
void shadows_stop(void);
/* Number of limpet's queues that still exist. */
uint32_t shadows_left(void);
void shadows_report(struct rings *rings);
void shadows_forget(void);
/* Called periodically on limpet's thread. */
void shadows_check(void);
/* Marks drivers all of whose calls are seen by now: their queues may get shadows. */
void shadows_settle(void);

/* Around each call whose first argument is a queue. The token says which queue the call uses. */
uint64_t shadow_enter(const struct opencl_vendor *vendor, opencl_object handle);
void shadow_leave(const struct opencl_vendor *vendor, opencl_object handle, uint64_t token);
opencl_object shadow_handle(uint64_t token, opencl_object handle);   /* the queue to pass */
opencl_object shadow_programs(uint64_t token, opencl_object handle); /* the application's queue */
struct opencl_shadow *shadow_chosen(uint64_t token); /* NULL: the application's queue */
struct opencl_queue *shadow_view(struct opencl_shadow *shadow);

/* Commands in flight keep their shadow. */
void shadow_keep(struct opencl_shadow *shadow);
void shadow_drop(struct opencl_shadow *shadow);
/* Consumes one reference of the event, which is in limpet's or in the application's queue. */
void shadow_note_barrier(struct opencl_queue *queue, opencl_object event, bool is_in_ours);
/* Returns to the application's queue for good. */
void shadow_abandon(const struct opencl_vendor *vendor, opencl_object handle,
		    enum opencl_refusal why);
void shadows_abandon(struct opencl_vendor *vendor);

/* For answers.c: the application's queue of a limpet queue, or 0; corrected reference counts. */
opencl_object shadow_owner(opencl_object queue);
uint32_t shadow_references(opencl_object handle, uint32_t count);
uint32_t shadow_context_references(opencl_object context);
traced_after shadow_after_release;

/* bypass.c: on limpet's thread, after hooks are installed. */
bool bypass_is_possible(const struct opencl_vendor *vendor);

/* answers.c */
traced_before profiling_before_info;
traced_after profiling_after_info, event_after_info, queue_after_info, context_after_info;
traced_after vendor_after_address;

/* kernels.c */
void kernels_start(void);
/* Returns the number of the kernel's name, which has been written by then. */
uint64_t kernel_number(const struct opencl_vendor *vendor, opencl_object kernel);
uint64_t kernel_number_of_text(const char *text);
traced_after kernel_after_create, kernel_after_create_all;

/* events.c */
struct opencl_work {
	enum trace_domain domain; /* DOMAINS: nothing to record */
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
	opencl_object event; /* limpet has one reference */
	const struct opencl_vendor *vendor;
	struct opencl_queue *queue;
	struct opencl_shadow *shadow; /* kept; NULL: in the application's queue */
	uint32_t session, next;       /* next: in the free list */
	uint32_t holding;             /* state of limpet's reference, see events.c */
	uint32_t thread;
	uint64_t begin, end; /* of the call */
	bool is_blocking;
	struct opencl_work work;
};

int events_start(void) MUST_CHECK;
/* Consumes one reference of the event in any case. */
void event_follow(const struct opencl_command *command);
/* Waits up to the deadline for all commands. Returns the number left; releases their events. */
uint32_t events_drain(uint32_t deadline_ms);
/* Number of commands that could not be followed. */
uint32_t events_lost(void);
void events_forget(void);
/* An event's references without limpet's; false if it is no event. */
bool event_references(const struct opencl_vendor *vendor, opencl_object event, uint32_t *ret);

/* times.c */
struct opencl_times {
	uint64_t begin, end;
};
/* Begin and end on the device; `now`: when the completion was reported. */
struct opencl_times times_of(const struct opencl_command *command, uint64_t now);

/* commands.c */
traced_before command_before, queued_before, listed_before, queue_before_change;
traced_after command_after, queued_after, both_after, barrier_after, queue_after_change;

/* memory.c */
int memory_start(void) MUST_CHECK;
/* Returns the size of the region mapped at this address, and forgets it. */
uint64_t memory_mapped(uint64_t address, bool *is_written);
void memory_note_mapping(uint64_t address, uint64_t size, bool is_written);
void memory_free_shared(const struct hook_around *around, uint64_t address, uint64_t end);
traced_before memory_before_release;
traced_after memory_after_create, memory_after_svm_alloc, memory_after_svm_free;

/* state.c: whether OpenCL's part of a domain is recorded, on any thread; all of them, as bits. */
bool opencl_writes(enum trace_domain domain);
uint32_t opencl_written(void);
void opencl_set_written(uint32_t domains);
