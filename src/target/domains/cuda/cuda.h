/*
 * What the files of the CUDA domain share.  CUPTI and the driver are described here as far as we
 * call them: nothing of their headers is needed to build.
 *
 * cuda.c        the runtime: begins, looks, leaves
 * session.c     one subscription of CUPTI's: from the first call to the last
 * activities.c  what devices did, from CUPTI's records into ours
 * callbacks.c   the driver's functions, entered and left: causes and calls
 * gate.c        calls that enqueue work wait while CUPTI's record kinds are switched
 * causes.c      which call a correlation number belongs to
 * buffers.c     memory for CUPTI's records
 * layouts.c     versions of CUPTI, and where its records have what
 * hazards.c     what limpet must take care of in which version of CUPTI
 * clock.c       CUPTI's moments as ticks
 * devices.c     numbers and names of devices and streams
 * library.c     finds CUPTI and the driver in the process
 * state.c       what is to be written
 * notes.c       what there may be to say
 * runtime_calls.c, nccl.c  what modules import of the runtime, and of NCCL
 */
#pragma once

#include "target/domains/runtime.h"
#include "target/domains/work.h"

/* Numbers of its devices and streams. */
#define CUDA_NUMBERS_FROM 65536u
#define CUDA_NUMBERS      65536u

extern const struct runtime runtime_cuda;
extern const struct domain_hooks hooks_cuda_runtime, hooks_nccl;

/* In a request: calls that only ask are traced, too. */
#define CUDA_API_ALL "cuda-api-all"
/* Calls have the stack that they were made from. */
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
/* Calls that only ask, too? */
void cuda_set_all_calls(bool is_on);
bool cuda_writes_all_calls(void);
/* The stack of each call, too? */
void cuda_set_stacks(bool is_on);
bool cuda_writes_stacks(void);

/* library.c: CUPTI's functions, as its public interface has them; all answer 0 for success. */
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
/* Is the driver in the process?  Keeps it.  On threads of ours, which may load modules. */
bool library_find_driver(struct cuda_driver *ret);
/* The CUPTI that is mapped, else the one beside the runtime; keeps it. */
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
/* Are records of this version laid out as below? */
bool layout_is_known(uint32_t version);

/* hazards.c */
enum cuda_care {
	CARE_STAY = 1,         /* CUPTI is switched off, never finalized */
	CARE_REFUSE = 2,       /* not used at all */
	CARE_CHECK_GRAPHS = 4, /* a graph's kernel belongs to a launch of a graph, or to no call */
	CARE_RENEW = 8,        /* the subscription is renewed in time */
	CARE_HOLD = 16,        /* record kinds are switched while no thread enqueues work */
	CARE_CUT_GRAPHS = 32,  /* graphs under way at the end are left out */
	CARE_LAST = CARE_CUT_GRAPHS,
};
bool hazards_are_known(uint32_t version);
/* Bits of enum cuda_care. */
uint32_t hazards_care(uint32_t version);
/* Since the subscription began: records, and records of work that was done without times. */
struct cuda_wear {
	uint64_t records, timeless;
};
#define CUDA_RECORDS_MAX  20000000u
#define CUDA_TIMELESS_MAX 100u
bool hazards_want_renewal(uint32_t care, const struct cuda_wear *wear);

/* What a kernel, a copy and a memset have in common, and the rest of each. */
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
	uint64_t *mark; /* a word of this call, for the subscriber */
	uint32_t correlation;
	int32_t result; /* of an exit */
};
void layout_call(const void *data, struct cupti_call *ret);

/* clock.c: on threads of ours, now and then; then anywhere. */
void cuda_clock_set(const struct cupti *cupti);
uint64_t cuda_clock_ticks(const struct clock_rate *now, uint64_t cupti_ns);

/* causes.c: the calls of late, by their correlation number. */
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
cupti_buffer_requested buffer_give;
/* Ready for the next; `valid`: how much of it is not zero any more. */
void buffer_take_back(uint8_t *buffer, size_t valid);
uint32_t buffers_out(void);
/* Those that come back meanwhile hold records of work that is not done: they are not used again. */
void buffers_retire(bool is_on);
/* Of those that CUPTI does not have. */
void buffers_close(void);

/* devices.c */
void devices_ask(const struct cuda_driver *driver);
uint64_t cuda_device(struct writer *writer, uint32_t ordinal);
uint64_t cuda_stream(struct writer *writer, uint32_t context, uint32_t stream);

/* activities.c */
struct cuda_tally {
	uint64_t cut;       /* not done at the end, or of a graph that was under way then */
	uint64_t dropped;   /* by CUPTI */
	uint64_t unwritten; /* by us, where there was no ring for them */
	uint64_t misled;    /* of graphs, with the number of a call that launches none */
};
/* For a session that begins; care: bits of enum cuda_care. */
void activities_use(const struct cupti *cupti, uint32_t care);
cupti_buffer_completed activities_take;
struct cuda_tally activities_tally(void);
struct cuda_wear activities_wear(void);
/* A subscription begins. */
void activities_renew(void);
/* ...and ends: before anything is disabled. */
void activities_end(void);

/* gate.c */
/* Calls are counted anew. */
void gate_renew(void);
/* No call enters until gate_open(), but for 0.5 s at most; returns when those inside have left, or
 * after 0.2 s. */
void gate_shut(void);
void gate_open(void);
/* gate_open(), and calls are not counted any more: none of them will be told to have ended. */
void gate_end(void);
/* In a callback at the begin and the end of a call that enqueues work; `mark` is the call's. */
void gate_enter(uint64_t *mark);
void gate_leave(const uint64_t *mark);

/* callbacks.c */
bool callbacks_announce(const struct cupti *cupti);
void callbacks_enable(const struct cupti *cupti, void *subscriber);
void callbacks_disable(const struct cupti *cupti, void *subscriber);
cupti_callback callbacks_take;

/* session.c: 0; -ENOENT, -ENOTSUP, -EBUSY, -EIO, and a note says why. */
int cuda_session_begin(const struct cuda_driver *driver) MUST_CHECK;
bool cuda_session_is_on(void);
/* Domains of which something is seen. */
uint32_t cuda_session_domains(void);
/* Now and then. */
void cuda_session_tend(void);
void cuda_session_end(struct rings *rings);
void cuda_session_forget(void);
