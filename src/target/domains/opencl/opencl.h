/*
 * What the files of the OpenCL domain share.  OpenCL itself is described here as far as we call it:
 * nothing of its headers is needed to build.
 *
 * opencl.c           the runtime: begins, looks, drains
 * drivers.c          finds drivers and hooks their tables
 * entries.c          what is written about each function
 * addresses.c        functions that the program asks for by name
 * vendors.c          the tables of drivers, and the functions behind the hooks
 * names.c            the names of functions
 * state.c            what is to be written
 * notes.c            what there may be to say
 * queues.c           numbers and names of queues and devices
 * queue_changes.c    queues whose properties change
 * kernels.c          numbers and names of kernels
 * commands.c         enqueue calls
 * command_kinds.c    what they ask a device to do (command.h)
 * events.c           commands under way, until the device is done
 * times.c            when the device began and ended
 * memory.c           buffers, images, shared memory
 * shadow*.c          queues of ours that keep times, beside the program's (shadow.h)
 * bypass.c           could the program enqueue without our seeing it?
 * answers.c          what the program is told about its events, queues and contexts
 */
#pragma once

#include "target/domains/runtime.h"
#include "target/domains/work.h"

/* Numbers of its devices and queues. */
#define OPENCL_NUMBERS_FROM WORK_NUMBERS
#define OPENCL_NUMBERS      65280u

extern const struct runtime runtime_opencl;

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
#define TIMED(name, before, after)        ENTRY_##name,
#define TIMED_MAKES(name, before, after)  ENTRY_##name,
#define END_OF_SLOTS                      OPENCL_SLOTS, OPENCL_LAST_SLOT = OPENCL_SLOTS - 1,
#include "target/domains/opencl/entries.def"
#undef CALL
#undef MAKES
#undef COMMAND
#undef MAPS
#undef AROUND
#undef AROUND_MAKES
#undef AROUND_PLAIN
#undef TIMED
#undef TIMED_MAKES
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

/* entries.c; the last one is for slots that are newer than we are. */
extern const struct traced opencl_traced[OPENCL_ENTRIES + 1];

/* names.c */
extern const char *const opencl_names[OPENCL_ENTRIES];
/* Those that are hooked for device times only, where their calls are not wanted. */
extern const bool opencl_is_timed[OPENCL_ENTRIES + 1];

/* vendors.c */
struct opencl_vendor {
	uint64_t *table;
	opencl_object platform; /* one of those that have this table; 0: only other objects */
	uint32_t slot_count, session;
	uint32_t hooked;                    /* slots, in that session */
	uint64_t functions[OPENCL_ENTRIES]; /* as the driver has them; 0: not there */
	uint64_t stubs[OPENCL_ENTRIES];     /* that lead there through us */
	/* For device times: */
	uint64_t hooked_ns;
	uint32_t is_settled;
	uint32_t refusal; /* enum opencl_refusal */
};

/* Before the first hook: what stands for entry 0. */
void vendors_start(const struct traced *traced);
/* NULL behind the last. */
struct opencl_vendor *vendor_at(uint32_t index);
/* The table of an object; the vendor that has it, NULL: none; a new one, NULL: there are too many.
 */
uint64_t *vendor_table_of(opencl_object object);
struct opencl_vendor *vendor_with_table(const uint64_t *table);
struct opencl_vendor *vendor_add(uint64_t *table);

/* Whose function a hook leads to. */
const struct opencl_vendor *vendor_of(const struct hook *hook);
unsigned vendor_entry(const struct hook *hook);

/* Asks for a property of an object: clGetXInfo(object, name, size, value).  False: not known. */
bool vendor_ask(const struct opencl_vendor *vendor, enum opencl_entry entry, opencl_object object,
		uint32_t name, void *value, size_t size);

/* Keeps the driver from being unloaded; NULL when it is not there any more. */
void *vendor_keep(const struct opencl_vendor *vendor);
void vendor_let_go(void *kept);

/* Calls a function of an object alone. */
int32_t vendor_call(const struct opencl_vendor *vendor, enum opencl_entry entry,
		    opencl_object object);

/* Notes the table of an object that the vendor has made; those that were noted, in their order. */
struct object_table {
	uint64_t *table; /* NULL: it is just being noted */
	uint32_t slot_count;
};
void vendor_meet(const struct opencl_vendor *vendor, opencl_object object);
bool vendor_object_table(uint32_t index, struct object_table *ret);
traced_after vendor_after_context;

/* addresses.c */
traced_after vendor_after_address;

/* drivers.c: finds tables and hooks them, drivers when modules have come, and tables that objects
 * had.  True when one is hooked. */
bool drivers_look(bool have_modules_changed, struct got_report *report);

/* queues.c */
struct opencl_queue {
	opencl_object handle;
	uint32_t is_ready;
	uint32_t number, device; /* as in records */
	opencl_object device_handle;
	bool is_ordered, has_profiling;
	uint64_t last_end; /* when the last command was done, in ticks */
	/* For device times, see shadow.c: */
	const struct opencl_vendor *vendor;
	struct opencl_shadow *shadow;
	uint32_t maker;        /* 1: a thread is making one */
	uint32_t refusal;      /* enum opencl_refusal */
	bool is_new;           /* all that was ever enqueued was seen, or is done */
	opencl_object first;   /* a marker behind what was not seen */
	opencl_object barrier; /* an event of the last one */
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
/* A handle that was given out just now is a new queue, whatever had it before. */
void queue_meet_again(const struct opencl_vendor *vendor, opencl_object handle);
traced_after queue_after_create;
/* The names of a queue whose times are its device's, with a number of its own, and of one that has
 * none for a reason. */
void queue_view(const struct opencl_queue *queue, struct opencl_queue *ret);
void queue_say_refusal(const struct opencl_queue *queue, const char *why);
/* Gives back what was kept for device times. */
void queues_stop(void);

/* shadow.c */
enum opencl_refusal {
	NOT_REFUSED,
#define REFUSAL(name, text) REFUSED_##name,
#include "target/domains/opencl/refusals.def"
#undef REFUSAL
	REFUSALS,
};

/* notes.c: a refusal is said by its number. */
enum opencl_note {
	SAY_NO_DRIVER = REFUSALS,
	SAY_MANY_QUEUES,
	SAY_NO_ORDER,
	OPENCL_NOTES,
};
extern const struct note opencl_notes[OPENCL_NOTES];

/* state.c; ending: nothing is to be kept any more. */
bool shadows_are_wanted(void);
bool shadows_are_ending(void);
void shadows_set_wanted(bool wanted);
void shadows_set_ending(void);

void shadows_start(bool wanted);
/* Has everything go to the program's queues again; before the tables are put back. */
void shadows_stop(void);
/* How many queues of ours are still there. */
uint32_t shadows_left(void);
void shadows_tell(struct rings *rings);
void shadows_forget(void);
/* On our thread, now and then. */
void shadows_look(void);
/* Drivers whose calls are all seen by now: their queues may be changed. */
void shadows_settle(void);

/* Around each call that takes a queue first.  What it enters with tells which queue it takes. */
uint64_t shadow_enter(const struct opencl_vendor *vendor, opencl_object handle);
void shadow_leave(const struct opencl_vendor *vendor, opencl_object handle, uint64_t token);
opencl_object shadow_handle(uint64_t token, opencl_object handle);   /* to be called with */
opencl_object shadow_programs(uint64_t token, opencl_object handle); /* as the program knows it */
struct opencl_shadow *shadow_chosen(uint64_t token);                 /* NULL: the program's */
struct opencl_queue *shadow_view(struct opencl_shadow *shadow);

/* Commands under way keep theirs. */
void shadow_keep(struct opencl_shadow *shadow);
void shadow_drop(struct opencl_shadow *shadow);
/* Takes over one reference of the event, which is in our queue or in the program's. */
void shadow_note_barrier(struct opencl_queue *queue, opencl_object event, bool is_in_ours);
/* Back to the program's queue, and it stays so. */
void shadow_give_up(const struct opencl_vendor *vendor, opencl_object handle,
		    enum opencl_refusal why);
void shadows_give_up(struct opencl_vendor *vendor);

/* For answers: whose our queue is, 0: not ours; counts of references. */
opencl_object shadow_owner(opencl_object queue);
uint32_t shadow_references(opencl_object handle, uint32_t count);
uint32_t shadow_context_references(opencl_object context);
traced_after shadow_after_release;

/* bypass.c: on our thread, when hooks are in. */
bool bypass_is_possible(const struct opencl_vendor *vendor);

/* answers.c */
traced_before profiling_before_info;
traced_after profiling_after_info, event_after_info, queue_after_info, context_after_info;

/* kernels.c */
void kernels_start(void);
/* The number of its name, said to the host by now. */
uint64_t kernel_number(const struct opencl_vendor *vendor, opencl_object kernel);
uint64_t kernel_number_of_text(const char *text);
traced_after kernel_after_create, kernel_after_create_all;

/* events.c */
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
	struct opencl_shadow *shadow; /* that it is in, kept; NULL: in the program's own */
	uint32_t session, next;       /* next: in the list of free ones */
	uint32_t holding;             /* of our reference, see events.c */
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
/* References of an event without ours; false when it is none. */
bool event_references(const struct opencl_vendor *vendor, opencl_object event, uint32_t *ret);

/* times.c */
struct opencl_times {
	uint64_t begin, end;
};
/* When the device was at it; `now`: when we heard that it was done. */
struct opencl_times times_of(const struct opencl_command *command, uint64_t now);

/* commands.c */
traced_before command_before, queued_before, listed_before;
traced_after command_after, queued_after, both_after, barrier_after;

/* memory.c */
int memory_start(void) MUST_CHECK;
/* Bytes of a region that was mapped at this address; forgets it. */
uint64_t memory_mapped(uint64_t address, bool *is_written);
void memory_note_mapping(uint64_t address, uint64_t size, bool is_written);
void memory_free_shared(const struct hook_around *around, uint64_t address, uint64_t end);
traced_before memory_before_release;
traced_after memory_after_create, memory_after_svm_alloc, memory_after_svm_free;

/* queue_changes.c */
traced_before queue_before_change;
traced_after queue_after_change;

/* state.c: is this domain to be written of OpenCL?  On any thread.  All of them, as bits. */
bool opencl_writes(enum trace_domain domain);
uint32_t opencl_written(void);
void opencl_set_written(uint32_t domains);
