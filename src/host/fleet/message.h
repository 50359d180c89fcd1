/*
 * The messages of node parts to home, one struct for each kind.  X_put() is the node's side,
 * X_take() home's: it returns false for an invalid message.  Texts that were taken point into the
 * message.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/fleet/rank.h"

/* Of messages and requests; both sides must have the same. */
#define FLEET_PROTOCOL 5u

enum message_kind {
	MESSAGE_HELLO = 1,
	MESSAGE_RANK,
	MESSAGE_STATE,
	MESSAGE_FRAMES,
	MESSAGE_STACKS,
	MESSAGE_NOTE,
	MESSAGE_PIECE,
	MESSAGE_RECORDED,
	MESSAGE_TOP, /* top/top_message.h */
	MESSAGE_KINDS,
};

/* The kind of a message, and the cursor after it; 0: none. */
uint32_t message_kind(struct cursor *cursor);

/* The first message.  If protocols differ, it has only the protocol and the version. */
struct hello_message {
	uint32_t protocol;
	const char *version, *node, *machine, *kernel;
	uint64_t real_ns, boot_ns; /* CLOCK_REALTIME and CLOCK_BOOTTIME of one moment */
	uint64_t clock_error_ns;   /* the kernel's estimate of CLOCK_REALTIME's maximum error */
	uint32_t is_synchronized;  /* that clock is synchronized (NTP) */
	uint32_t processors;
};

/* A rank that was found, before anything is done with it. */
struct rank_message {
	uint32_t pid;         /* of its topmost process, which identifies it in all messages */
	uint32_t process;     /* the profiled process: that one, or one run by wrappers */
	uint32_t rank, size;  /* RANK_NONE: not known; size 0: not known */
	const char *variable; /* the source of the rank, "" */
	const char *program, *command, *user;
	const char *through;             /* wrappers above it: "timeout, bash"; "" */
	uint32_t threads, process_state; /* as in /proc: 'S'; STATE_FROZEN */
	/* On request; else "". */
	const char *sampler, *sampler_reasons, *refusal;
};

/* The state of a rank. */
struct state_message {
	uint32_t pid, state; /* enum rank_state */
	const char *reason;  /* "" */
};

/* A note about the whole node. */
struct note_message {
	const char *text;
};

void hello_put(struct bytes *message, const struct hello_message *hello);
bool hello_take(struct cursor *cursor, struct hello_message *ret);
void rank_put(struct bytes *message, const struct rank_message *rank);
bool rank_take(struct cursor *cursor, struct rank_message *ret);
void state_put(struct bytes *message, const struct state_message *state);
bool state_take(struct cursor *cursor, struct state_message *ret);
void note_put(struct bytes *message, const struct note_message *note);
bool note_take(struct cursor *cursor, struct note_message *ret);

/* New functions: texts, and nodes of the node's own tree of calls.  Both are numbered from 0 in the
 * order of sending. */
struct frames_message {
	uint32_t first_text, text_count, first_node, node_count;
	struct cursor texts, nodes; /* frames_text(), frames_node() */
};

/* The kind of a function's code: rounds of a thread are compared by the program's own code. */
enum frame_kind {
	FRAME_PROGRAM, /* the executable, or generated code */
	FRAME_SCRIPT,  /* of an interpreted language */
	FRAME_LIBRARY, /* a shared library, the vdso or the kernel */
	FRAME_KINDS,
};

/* One function with the line of its call, or of its wait. */
struct frame_node {
	uint32_t parent;                 /* FRAME_ROOT, or an earlier node */
	uint32_t function, module, file; /* texts */
	uint32_t line;                   /* 0: not known, or irrelevant */
	uint32_t kind;                   /* enum frame_kind */
};

#define FRAME_ROOT UINT32_MAX

struct frames_draft {
	uint32_t first_text, text_count, first_node, node_count;
	struct bytes texts, nodes;
};

/* Add items; frames_put() writes all of them and empties the draft, continuing its numbers. */
void frames_add_text(struct frames_draft *frames, const char *text);
void frames_add_node(struct frames_draft *frames, const struct frame_node *node);
void frames_put(struct bytes *message, struct frames_draft *frames);
bool frames_take(struct cursor *cursor, struct frames_message *ret);
bool frames_take_text(struct frames_message *frames, const char **ret);
bool frames_take_node(struct frames_message *frames, struct frame_node *ret);

/* The stacks of all threads of one process of a rank. */
struct stacks_message {
	uint32_t pid, process; /* of the rank; of the process, perhaps a descendant */
	uint32_t round;        /* number of the dump, from 0 */
	uint32_t thread_count;
	struct cursor threads;
};

enum thread_flag {
	THREAD_IS_MAIN = 1,
	THREAD_HAS_STACK = 2,
	THREAD_IS_COMPLETE = 4,
	THREAD_HAS_GIL = 8,
};

struct stacks_thread {
	uint32_t tid, flags, state;
	uint32_t leaf;  /* node of the tree; FRAME_ROOT: no stack */
	uint64_t turns; /* how often it got a processor */
	const char *name, *call, *object;
};

void stacks_put(struct bytes *message, const struct stacks_message *stacks);
void stacks_put_thread(struct bytes *message, const struct stacks_thread *thread);
bool stacks_take(struct cursor *cursor, struct stacks_message *ret);
bool stacks_take_thread(struct stacks_message *stacks, struct stacks_thread *ret);

/* A piece of a rank's recording, on its way home. */
struct piece_message {
	uint32_t pid;
	uint64_t offset; /* of the piece in the file */
	const unsigned char *bytes;
	size_t size;
};

#define PIECE_BYTES_MAX (32u << 10)

void piece_put(struct bytes *message, const struct piece_message *piece);
bool piece_take(struct cursor *cursor, struct piece_message *ret);

/* The end of a rank's recording, complete or cut. */
struct recorded_message {
	uint32_t pid;
	uint32_t is_there; /* it is in home's folder already */
	uint64_t size_bytes;
};

void recorded_put(struct bytes *message, const struct recorded_message *recorded);
bool recorded_take(struct cursor *cursor, struct recorded_message *ret);

#define TOP_FUNCTIONS_MAX 32u /* sent by one node */
#define TOP_RANKS_MAX     4096u
#define TOP_BYTES_MAX     (128u << 10)
#define TOP_WINDOW_NS     5000000000ull

struct top_message {
	uint64_t window_ns;          /* the recent time */
	uint64_t own_ns, own_for_ns; /* processor time of the node part, in own_for_ns */
	uint64_t samples, lost;      /* in the window; since the beginning */
	uint64_t other_ns;           /* in functions that are not sent */
	uint32_t hz;                 /* lowered if it cost too much */
	const char *sampler;
	uint32_t rank_count, function_count;
	struct cursor items; /* ranks, then functions */
};

struct top_rank {
	uint32_t pid; /* of its topmost process */
	uint64_t running_ns, samples;
	const char *function; /* its hottest one; "" */
};

/* Over the ranks of the node: least is among those with any. */
struct top_function {
	const char *name, *module;
	uint64_t sum_ns, total_ns, count;
	uint32_t ranks;
	uint64_t most_ns, least_ns;
	uint32_t most_pid, least_pid;
};

/* The message, then the announced numbers of ranks and functions. */
void top_message_put(struct bytes *message, const struct top_message *top);
void top_message_put_rank(struct bytes *message, const struct top_rank *rank);
void top_message_put_function(struct bytes *message, const struct top_function *function);

/* After the kind of the message.  False: invalid. */
bool top_message_take(struct cursor *cursor, struct top_message *ret);
bool top_message_take_rank(struct top_message *top, struct top_rank *ret);
bool top_message_take_function(struct top_message *top, struct top_function *ret);
