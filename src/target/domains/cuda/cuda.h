/*
 * Shared by the files of the CUDA domain. CUPTI and the driver are declared here as far as limpet
 * calls these: the build needs none of their headers.
 *
 * cuda.c        the runtime: start, look, stop
 * session.c     one CUPTI subscription, from the first call to the last
 * activities.c  converts CUPTI's records of device work into limpet's
 * callbacks.c   begin and end of driver functions: causes and calls
 * gate.c        blocks calls that enqueue work while CUPTI's record kinds are switched
 * causes.c      maps correlation numbers to calls
 * buffers.c     memory for CUPTI's records
 * layouts.c     versions of CUPTI, and the layouts of its records
 * hazards.c     precautions by version of CUPTI
 * clock.c       CUPTI's times as ticks
 * devices.c     numbers and names of devices and streams
 * library.c     finds CUPTI and the driver in the process
 * state.c       the domains to record
 * notes.c       messages about CUDA
 * runtime_calls.c, nccl.c  imported functions of the CUDA runtime, and of NCCL
 */
#pragma once

#include "target/domains/runtime.h"
#include "target/hooks/work.h"

/* Numbers of CUDA's devices and streams. */
#define CUDA_NUMBERS_FROM 65536u
#define CUDA_NUMBERS      65536u

extern const struct runtime runtime_cuda;
extern const struct domain_hooks hooks_cuda_runtime, hooks_nccl;

/* In a request: trace query calls, too. */
#define CUDA_API_ALL "cuda-api-all"
/* In a request: record the call stack of each call. */
#define LAUNCH_STACKS "launch-stack"

/* notes.c */
enum cuda_note {
	SAY_CUDA_NO_CUPTI,
	SAY_CUDA_UNKNOWN_CUPTI,
	SAY_CUDA_HELD,
	SAY_CUDA_REFUSED,
	SAY_CUDA_HAZARD,
	SAY_CUDA_UNCHECKED,
	SAY_CUDA_STAYS,
	SAY_CUDA_MISLED,
	SAY_CUDA_RENEWED,
	SAY_CUDA_DROPPED,
	CUDA_NOTES,
};
extern const struct note cuda_notes[CUDA_NOTES];

/* state.c: bits of enum trace_domain. */
void cuda_set_written(uint32_t domains);
uint32_t cuda_written(void);
bool cuda_writes(enum trace_domain domain);
/* Query calls, too. */
void cuda_set_all_calls(bool is_on);
bool cuda_writes_all_calls(void);
/* The call stack of each call, too. */
void cuda_set_stacks(bool is_on);
bool cuda_writes_stacks(void);

/* library.c: CUPTI's functions, as in its public interface; all return 0 for success. */
typedef void cupti_callback(void *unused, int domain, uint32_t function, const void *call);
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *record_max);
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				    size_t valid);
struct cupti {
	int (*version)(uint32_t *ret);
	int (*timestamp)(uint64_t *ret);
	int (*subscribe)(void **ret, cupti_callback *callback, void *user);
	int (*unsubscribe)(void *subscriber);
	int (*enable_callback)(uint32_t is_on, void *subscriber, int domain, uint32_t function);
	int (*enable_domain)(uint32_t is_on, void *subscriber, int domain);
	int (*callback_name)(int domain, uint32_t function, const char **ret);
	int (*register_buffers)(cupti_buffer_requested *, cupti_buffer_completed *);
	int (*set_attribute)(int attribute, size_t *size, void *value);
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*flush)(uint32_t flags);
	int (*next_record)(uint8_t *buffer, size_t valid, const uint8_t **record);
	int (*dropped)(void *context, uint32_t stream, size_t *ret);
};
struct cuda_driver {
	int (*version)(int *ret);
	int (*device_count)(int *ret);
	int (*device)(int *ret, int ordinal);
	int (*device_name)(char *ret, int room, int device);
	int (*device_attribute)(int *ret, int attribute, int device);
};
/* Finds the driver if it is mapped, and keeps it loaded. On limpet's threads. */
bool library_find_driver(struct cuda_driver *ret);
/* Finds the mapped CUPTI, else loads the one beside the CUDA runtime; keeps it loaded. */
bool library_find_cupti(const struct cuda_driver *driver, struct cupti *ret);
void library_release(void);

/* layouts.c */
enum cupti_kind {
	CUPTI_COPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_CONCURRENT_KERNEL = 10,
	CUPTI_PEER_COPY = 22,
	CUPTI_MEMORY = 49,
};
/* True if records of this version have the layouts below. */
bool layout_is_known(uint32_t version);

/* hazards.c */
enum cuda_care {
	CARE_STAY = 1,   /* disable CUPTI, never finalize it */
	CARE_REFUSE = 2, /* do not use CUPTI at all */
	CARE_CHECK_GRAPHS =
		4, /* match a graph's kernel only with a launch of a graph, else with no call */
	CARE_RENEW = 8,       /* renew the subscription in time */
	CARE_HOLD = 16,       /* switch record kinds only while no thread enqueues work */
	CARE_CUT_GRAPHS = 32, /* leave out graphs in flight at the end */
	CARE_LAST = CARE_CUT_GRAPHS,
};
bool hazards_are_known(uint32_t version);
/* Bits of enum cuda_care. */
uint32_t hazards_care(uint32_t version);
/* Since the subscription began: records, and records of work that have no times. */
struct cuda_wear {
	uint64_t records, timeless;
};
#define CUDA_RECORDS_MAX  20000000u
#define CUDA_TIMELESS_MAX 100u
bool hazards_want_renewal(uint32_t care, const struct cuda_wear *wear);

/* The common fields of a kernel, a copy and a memset, then those of each. */
struct cupti_work {
	uint64_t start, end;
	uint32_t device, context, stream, correlation;
	uint64_t graph_node; /* 0: not launched by a graph */
};
struct cupti_kernel {
	struct cupti_work work;
	uint32_t grid[3], block[3];
	uint32_t shared_bytes, local_bytes;
	const char *name;
};
struct cupti_copy {
	struct cupti_work work;
	uint64_t bytes;
	uint32_t kind, from_device, to_device;
};
struct cupti_memory {
	uint64_t address, bytes, time;
	uint32_t operation, kind, correlation, device, context, stream;
};
enum cupti_kind layout_kind(const uint8_t *record);
void layout_kernel(const uint8_t *record, struct cupti_kernel *ret);
void layout_copy(const uint8_t *record, struct cupti_copy *ret);
void layout_peer_copy(const uint8_t *record, struct cupti_copy *ret);
void layout_memset(const uint8_t *record, struct cupti_copy *ret);
void layout_memory(const uint8_t *record, struct cupti_memory *ret);

struct cupti_call {
	bool is_exit;
	uint64_t *mark; /* a word of this call, writable by the subscriber */
	uint32_t correlation;
	int32_t result; /* at an exit */
};
void layout_call(const void *data, struct cupti_call *ret);

/* clock.c: cuda_clock_set() runs on limpet's threads, cuda_clock_ticks() on any thread. */
void cuda_clock_set(const struct cupti *cupti);
uint64_t cuda_clock_ticks(const struct clock_rate *now, uint64_t cupti_ns);

/* causes.c: recent calls by their correlation number. */
struct cuda_cause {
	uint64_t begin;
	int32_t thread;
	bool is_graph; /* a launch of a graph */
};
int causes_open(void) MUST_CHECK;
void causes_close(void);
void cause_note(uint32_t correlation, const struct cuda_cause *cause);
bool cause_find(uint32_t correlation, struct cuda_cause *ret);

/* buffers.c */
int buffers_open(void) MUST_CHECK;
cupti_buffer_requested buffer_provide;
/* Makes a buffer ready for the next request; `valid`: number of bytes that CUPTI wrote. */
void buffer_recycle(uint8_t *buffer, size_t valid);
uint32_t buffers_in_use(void);
/* While on: completed buffers may hold records of unfinished work, and are not used again. */
void buffers_retire(bool is_on);
/* Frees the pages of all buffers that CUPTI does not have. */
void buffers_close(void);

/* devices.c */
void devices_query(const struct cuda_driver *driver);
uint64_t cuda_device(struct writer *writer, uint32_t ordinal);
uint64_t cuda_stream(struct writer *writer, uint32_t context, uint32_t stream);

/* activities.c */
struct cuda_tally {
	uint64_t cut;       /* unfinished at the end, or of a graph in flight then */
	uint64_t dropped;   /* dropped by CUPTI */
	uint64_t unwritten; /* lost because no ring was free */
	uint64_t misled;    /* records of graphs with the number of a call that launches none */
};
/* Begins a session; care: bits of enum cuda_care. */
void activities_use(const struct cupti *cupti, uint32_t care);
cupti_buffer_completed activities_convert;
struct cuda_tally activities_tally(void);
struct cuda_wear activities_wear(void);
/* Begins a subscription. */
void activities_renew(void);
/* Ends a subscription; called before record kinds are disabled. */
void activities_end(void);

/* gate.c */
/* Restarts the count of calls inside. */
void gate_renew(void);
/* Blocks calls at their begin until gate_open(), for at most 0.5 s. Returns once the calls inside
 * have ended, or after 0.2 s. */
void gate_shut(void);
void gate_open(void);
/* gate_open(), and stops counting calls, because their ends will not be reported any more. */
void gate_end(void);
/* For callbacks at the begin and the end of a call that enqueues work; `mark` is the call's. */
void gate_enter(uint64_t *mark);
void gate_leave(const uint64_t *mark);

/* callbacks.c */
bool callbacks_announce(const struct cupti *cupti);
void callbacks_enable(const struct cupti *cupti, void *subscriber);
void callbacks_disable(const struct cupti *cupti, void *subscriber);
cupti_callback callbacks_on_call;

/* session.c: returns 0, -ENOENT, -ENOTSUP, -EBUSY or -EIO; a note gives the reason. */
int cuda_session_begin(const struct cuda_driver *driver) MUST_CHECK;
bool cuda_session_is_on(void);
/* The domains that CUPTI delivers. */
uint32_t cuda_session_domains(void);
/* Called periodically: flushes, and renews the subscription when it is due. */
void cuda_session_tend(void);
void cuda_session_end(struct rings *rings);
void cuda_session_forget(void);
