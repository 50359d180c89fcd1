/*
 * limpet from C: attach to a running process, load libraries into it, detach; and sample, without
 * attaching, what its threads are doing.
 *
 * Link with liblimpet (pkg-config limpet).  Every struct begins with its size, so that programs
 * built against an older header keep working; set it with the LIMPET_*_INIT macros.  Functions
 * return 0 or a negative errno and fill in the error when one is given.  A handle may be used by
 * one thread at a time; samplers by several.
 *
 * 	struct limpet_error error = LIMPET_ERROR_INIT;
 * 	struct limpet *target = limpet_open(pid, &error);
 * 	const char *const tools[] = { "./libmytool.so" };
 * 	struct limpet_options options = LIMPET_OPTIONS_INIT;
 *
 * 	options.tools = tools;
 * 	options.tool_count = 1;
 * 	if (!target || limpet_attach(target, &options, NULL, &error))
 * 		fprintf(stderr, "%s\n", error.what);
 * 	...
 * 	limpet_detach(target, LIMPET_UNLOAD, &error);
 * 	limpet_close(target);
 *
 * 	struct limpet_sampler *sampler = limpet_sampler_open(target, NULL, &error);
 *
 * 	if (!sampler || limpet_sampler_start(sampler, &error))
 * 		fprintf(stderr, "%s\n", error.what);
 * 	...
 * 	limpet_sampler_stop(sampler, &error);
 * 	limpet_sampler_read(sampler, 100, print_sample, NULL, &error);
 * 	limpet_sampler_close(sampler);
 */
#ifndef LIMPET_LIMPET_H
#define LIMPET_LIMPET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process that one may attach to.  Holds no lock and nothing in the target until limpet_attach().
 */
struct limpet;

/* An error, in words for a person. */
struct limpet_error {
	size_t struct_size;
	int code;       /* negative errno */
	int exit_code;  /* the command line's exit status for it, see docs/support.md */
	char what[256]; /* what failed */
	char why[320];  /* the cause, may be empty */
	char fix[320];  /* the fix, one alternative a line, may be empty */
};
#define LIMPET_ERROR_INIT                                   \
	{                                                   \
		.struct_size = sizeof(struct limpet_error), \
	}

enum limpet_flags {
	LIMPET_FORCE = 1,    /* attach: go on where seccomp filters cannot be read */
	LIMPET_CONTINUE = 2, /* attach: send SIGCONT to a process that job control stopped */
	LIMPET_STRICT = 4,   /* attach: one tool that fails undoes all */
	LIMPET_UNLOAD = 8,   /* detach: unmap everything of limpet's */
	/* attach: the process and all its descendants, also those that start before
	 * limpet_detach().  Three threads of the library's then run in the caller, with every
	 * signal blocked.  Processes that cannot be attached are skipped, also the first one, as
	 * long as there is one that can; error->why then has the reason, with code 0.  -EPERM,
	 * exit_code 2: descendants of process 1, more than 32, or of several users, unless the
	 * environment has LIMPET_ALL_DESCENDANTS=1; samples alone need no consent. */
	LIMPET_CHILDREN = 16,  /* sampler: all descendants too, also later ones */
	LIMPET_OFF_CPU = 32,   /* sampler: also threads that wait, with the time that they waited */
	LIMPET_NO_KERNEL = 64, /* sampler, threads: no frames of the kernel */
	LIMPET_STACKS = 128,   /* threads: with the stack of each */
};

struct limpet_options {
	size_t struct_size;
	const char *const *tools; /* paths of tool libraries, see limpet/tool.h */
	size_t tool_count;
	const char *const *variables; /* "NAME=VALUE", visible in the target while attached */
	size_t variable_count;
	unsigned flags;               /* enum limpet_flags */
	unsigned tool_timeout_ms;     /* for each call of a tool; 0: ten seconds */
	const char *const *libraries; /* paths of plain libraries: only their constructors run */
	size_t library_count;
};
#define LIMPET_OPTIONS_INIT                                   \
	{                                                     \
		.struct_size = sizeof(struct limpet_options), \
	}

/* The cost of an attach for the target. */
struct limpet_report {
	size_t struct_size;
	int thread;            /* the one thread that was stopped */
	int was_resident;      /* 1: the agent was there from before, nothing was loaded */
	uint64_t pause_ns;     /* how long that thread was stopped */
	uint64_t interrupt_ns; /* until it was stopped */
	uint64_t attach_ns;    /* all of it, as seen by the caller */
	size_t failed_tools;   /* that failed, without LIMPET_STRICT; see limpet_tool_status() */
	size_t processes;      /* attached: 1, or with LIMPET_CHILDREN the present number */
	size_t skipped;        /* with LIMPET_CHILDREN: that could not be attached */
};
#define LIMPET_REPORT_INIT                                   \
	{                                                    \
		.struct_size = sizeof(struct limpet_report), \
	}

enum limpet_state {
	LIMPET_ABSENT,   /* there is nothing of limpet's in the process */
	LIMPET_RESTING,  /* the agent is mapped and does nothing */
	LIMPET_ATTACHED, /* a limpet holds it */
};

struct limpet_status {
	size_t struct_size;
	enum limpet_state state;
	int holder;        /* process that holds it, or 0 */
	uint64_t since_ns; /* of the last change, CLOCK_REALTIME */
	uint32_t attaches; /* so far */
	uint32_t tools;    /* loaded now */
	uint64_t dropped;  /* records lost */
};
#define LIMPET_STATUS_INIT                                   \
	{                                                    \
		.struct_size = sizeof(struct limpet_status), \
	}

enum limpet_tool_state {
	LIMPET_TOOL_IDLE, /* loaded; not configured, or takes no part */
	LIMPET_TOOL_ATTACHING,
	LIMPET_TOOL_ATTACHED,
	LIMPET_TOOL_DETACHING,
	LIMPET_TOOL_DETACHED,
	LIMPET_TOOL_FAILED,
};

struct limpet_tool_status {
	size_t struct_size;
	enum limpet_tool_state state;
	char path[256];
	char reason[256]; /* why it is idle or failed; may be empty */
};
#define LIMPET_TOOL_STATUS_INIT                                   \
	{                                                         \
		.struct_size = sizeof(struct limpet_tool_status), \
	}

/* "0.1.0" */
const char *limpet_version(void);

/* NULL when there is no such process; limpet_attach() checks whether it can be attached. */
struct limpet *limpet_open(int pid, struct limpet_error *error);

/* options and report may be NULL.  On failure the target is unchanged.  If some tools failed and
 * others run, error->why names the failed ones, one a line, with code 0. */
int limpet_attach(struct limpet *target, const struct limpet_options *options,
		  struct limpet_report *report, struct limpet_error *error);

/* Detaches.  error->why names what could not be unmapped, with code 0. */
int limpet_detach(struct limpet *target, unsigned flags, struct limpet_error *error);

/* Reads the state without stopping anything; works for a process that another limpet holds. */
int limpet_status(struct limpet *target, struct limpet_status *status, struct limpet_error *error);

/* One of the tools in the process; -ENOENT when there are not so many. */
int limpet_tool_status(struct limpet *target, unsigned index, struct limpet_tool_status *status,
		       struct limpet_error *error);

/* Detaches when still attached; NULL is fine.  Samplers live on. */
void limpet_close(struct limpet *target);

/*
 * Sampling: many times a second, the activity of each thread.  Nothing is loaded into the process,
 * no thread of it is stopped, and it need not be attached.  A thread of the library samples, with
 * one more for a callback and one more for a recording, all with every signal blocked.
 */
struct limpet_sampler;

/* Frames, innermost first; see limpet_stack_frame(). */
struct limpet_stack;

enum limpet_sample_kind {
	LIMPET_RUNNING,  /* on a processor; weight_ns is the time that it stands for */
	LIMPET_BLOCKED,  /* has waited; weight_ns is how long */
	LIMPET_RUNNABLE, /* wanted a processor and had none; weight_ns is how long */
};

/* Made by the library: fields behind struct_size are not there. */
struct limpet_sample {
	size_t struct_size;
	uint64_t number;  /* from 0 on, without gaps */
	uint64_t time_ns; /* CLOCK_MONOTONIC, of its end */
	uint64_t weight_ns;
	int pid, tid;
	unsigned cpu;
	enum limpet_sample_kind kind;
	char state;           /* as in ps: 'R', 'S', 'D', ... */
	char thread_name[17]; /* may be empty */
	int is_complete;      /* the stack reaches the outermost function */
	int is_guessed;       /* a frame of it is a guess */
	const char *end;      /* "complete", or why the stack is not */
	size_t frame_count;
	const struct limpet_stack *stack; /* never NULL */
};

/* The sample and its stack live until it returns. */
typedef void limpet_sample_visitor(const struct limpet_sample *sample, void *context);

struct limpet_sampler_options {
	size_t struct_size;
	unsigned rate_hz;      /* samples a second of each thread, 1 to 5000; 0: 99 */
	unsigned flags;        /* LIMPET_OFF_CPU, LIMPET_CHILDREN, LIMPET_NO_KERNEL */
	size_t buffer_samples; /* that are kept for limpet_sampler_read() and the callback, at
				* most 1048576; 0: 4096.  A sample takes some 200 bytes and 16 for
				* each frame, at most 19 KiB. */
	union {
		const char *sampler; /* only this one: "bpf", "copy", "read" or "state"; NULL: the
				      * best that is allowed here */
		const char *rung;    /* its name in 0.1.0 */
	};
	/* Called for each sample, in order, on a thread of the library's that only does that.  One
	 * that is slow misses samples, which are counted: sampling itself does not wait.  It must
	 * not start, stop, close or set the rate of its own sampler.  NULL: none. */
	limpet_sample_visitor *on_sample;
	void *context;    /* for on_sample */
	const char *path; /* also writes a recording, for the limpet command; finished by
			   * limpet_sampler_stop(), after which it cannot be started again.  NULL:
			   * none. */
};
#define LIMPET_SAMPLER_OPTIONS_INIT                                   \
	{                                                             \
		.struct_size = sizeof(struct limpet_sampler_options), \
	}

struct limpet_sampler_status {
	size_t struct_size;
	int is_running;    /* 0 before the start, after the stop, or when the process has ended */
	unsigned rate_hz;  /* as requested */
	uint64_t samples;  /* so far */
	uint64_t complete; /* of them, with stacks that reach the outermost function */
	uint64_t lost;     /* without room on their way */
	uint64_t overwritten; /* pushed out of the buffer before the callback has seen them; without
				 one: pushed out */
	union {
		char sampler[16]; /* which one is in use; "" before the first start */
		char rung[16];    /* its name in 0.1.0 */
	};
	char summary[96];   /* its description */
	char reasons[2048]; /* lines: why no better one, its limits and fixes, as known; "": none */
	unsigned one_in; /* one in so many was kept, weighing as much as all; the maximum; 1: all */
};
#define LIMPET_SAMPLER_STATUS_INIT                                   \
	{                                                            \
		.struct_size = sizeof(struct limpet_sampler_status), \
	}

struct limpet_frame {
	size_t struct_size;
	const char *function; /* readable; "libfoo.so+0x1234" where it has no name */
	const char *module;   /* the file, "[kernel]", "[vdso]", "[jit]" or "[unknown]" */
	uint64_t address;     /* in the file, or in the process where there is none */
	int is_named;
};
#define LIMPET_FRAME_INIT                                   \
	{                                                   \
		.struct_size = sizeof(struct limpet_frame), \
	}

struct limpet_thread {
	size_t struct_size;
	int tid;
	char state;             /* as in ps */
	const char *state_name; /* "sleeping" */
	const char *name;
	uint64_t cpu_ns;     /* processor time so far */
	const char *call;    /* the system call it waits in; "" */
	const char *object;  /* the object: a file, a socket, a lock and its holder; "" */
	const char *channel; /* the function of the kernel it sleeps in; "" */
	/* With LIMPET_STACKS; else frame_count is 0. */
	int has_stack, is_complete, is_guessed;
	const char *end;
	size_t frame_count;
	const struct limpet_stack *stack; /* never NULL */
};

/* The thread and its stack live until it returns. */
typedef void limpet_thread_visitor(const struct limpet_thread *thread, void *context);

/* Nothing is sampled yet.  Options may be NULL; their texts are copied. */
struct limpet_sampler *limpet_sampler_open(struct limpet *target,
					   const struct limpet_sampler_options *options,
					   struct limpet_error *error);

/* Returns when sampling runs.  -EALREADY: it samples; -ESRCH: the process that was opened has
 * ended; or the error of the last sampler tried.  May follow a stop. */
int limpet_sampler_start(struct limpet_sampler *sampler, struct limpet_error *error);

/* Returns when the last sample was read and the callback has got all in the buffer.  -EALREADY: it
 * does not sample. */
int limpet_sampler_stop(struct limpet_sampler *sampler, struct limpet_error *error);

/* Now when it samples, after a gap of some milliseconds; else from the next start on. */
int limpet_sampler_set_rate(struct limpet_sampler *sampler, unsigned rate_hz,
			    struct limpet_error *error);

/* Visits the last samples, at most so many, oldest first, in the calling thread.  Returns how many
 * there were, or a negative errno. */
long limpet_sampler_read(struct limpet_sampler *sampler, size_t count, limpet_sample_visitor *visit,
			 void *context, struct limpet_error *error);

/* Never waits for a callback. */
int limpet_sampler_status(struct limpet_sampler *sampler, struct limpet_sampler_status *status,
			  struct limpet_error *error);

/* Stops when it still samples; NULL is fine.  Nothing else may use the sampler any more. */
void limpet_sampler_close(struct limpet_sampler *sampler);

/* One frame, 0 is the innermost; -ENOENT beyond the last.  The first request for code of a file
 * reads its names, which takes time.  Texts live as long as the sampler; those of limpet_threads()
 * until the visitor returns. */
int limpet_stack_frame(const struct limpet_stack *stack, size_t index, struct limpet_frame *frame,
		       struct limpet_error *error);

/*
 * Recording: `limpet record`, from a program.  Samples and traced calls of a process, of several,
 * or of their families go into a file for the limpet command, and samples to a callback too.
 * Traced processes are attached to as by limpet_attach(), by threads of the library with every
 * signal blocked; the process must not be attached by this program at the same time.
 */
struct limpet_recording;

struct limpet_record_status {
	size_t struct_size;
	int is_running; /* 0: the process has ended, the time is over, the file is full, or it
			 * failed: limpet_record_stop() finishes the file */
	uint64_t samples, samples_lost;
	uint64_t records, dropped; /* traced calls and their parts */
	uint64_t processes;        /* that are or were traced */
	uint64_t bytes;            /* of the file */
	char sampler[16];          /* "" without samples */
};
#define LIMPET_RECORD_STATUS_INIT                                   \
	{                                                           \
		.struct_size = sizeof(struct limpet_record_status), \
	}

struct limpet_record_options {
	size_t struct_size;
	const char *
		path; /* of the recording.  An earlier one is replaced; any other file is refused */
	const int *further_pids; /* processes beside the target, into the same file */
	size_t further_count;
	/* LIMPET_CHILDREN, LIMPET_OFF_CPU, LIMPET_NO_KERNEL, LIMPET_FORCE, LIMPET_CONTINUE; and
	 * LIMPET_UNLOAD: nothing of limpet's stays in traced processes */
	unsigned flags;
	unsigned rate_hz;          /* samples a second; 0: 99, or none where something is traced */
	const char *const *traces; /* "alloc", "io", "lock", ...: as limpet record --NAME-trace */
	size_t trace_count;
	const char *const *functions; /* "LIB:SYMBOL", as limpet record --function */
	size_t function_count;
	uint64_t duration_ns; /* stops by itself after that; 0: does not */
	uint64_t max_bytes;   /* of the file, likewise */
	/* Records for period_ns after delay_ns, so often (0: for ever).  period_ns 0: always. */
	uint64_t delay_ns, period_ns, repeat;
	/* Each sample, in order, on a thread of the library's that only does that; as in struct
	 * limpet_sampler_options.  NULL: none.  Nothing of the recording may be called by it. */
	limpet_sample_visitor *on_sample;
	void *context; /* for on_sample */
};
#define LIMPET_RECORD_OPTIONS_INIT                                   \
	{                                                            \
		.struct_size = sizeof(struct limpet_record_options), \
	}

/* Returns when the first sample or call can be recorded, or the first delay begins; NULL: it
 * failed, and there is no file.  The options' texts are copied. */
struct limpet_recording *limpet_record_start(struct limpet *target,
					     const struct limpet_record_options *options,
					     struct limpet_error *error);

/* How far it is, some tenths of a second ago. */
int limpet_record_status(struct limpet_recording *recording, struct limpet_record_status *status,
			 struct limpet_error *error);

/* Detaches, finishes the file, and frees the recording, also when it fails.  status may be NULL.
 * The end of the process is no failure; -ENODATA: nothing was recorded. */
int limpet_record_stop(struct limpet_recording *recording, struct limpet_record_status *status,
		       struct limpet_error *error);

/* Visits all threads of the process in their present state, in the calling thread.  If stacks are
 * requested and not allowed, the threads are visited without, and the error has the reason. */
int limpet_threads(struct limpet *target, unsigned flags, limpet_thread_visitor *visit,
		   void *context, struct limpet_error *error);

#ifdef __cplusplus
}
#endif

#endif
