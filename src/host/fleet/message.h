/*
 * What node parts tell home, one struct for each kind of message.  X_put() is the node's side,
 * X_take() home's: it answers false for what makes no sense.  Texts that were taken lie in the
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

/* The kind of a message, and the cursor behind it; 0: there is none. */
uint32_t message_kind(struct cursor *cursor);

/* First of all.  Only the protocol and the version are in it where protocols differ. */
struct hello_message {
	uint32_t protocol;
	const char *version, *node, *machine, *kernel;
	uint64_t real_ns, boot_ns; /* CLOCK_REALTIME and CLOCK_BOOTTIME of one moment */
	uint64_t clock_error_ns;   /* of CLOCK_REALTIME, as the kernel estimates it at most */
	uint32_t is_synchronized;  /* somebody keeps that clock right */
	uint32_t processors;
};

/* One that was found, before anything is done with it. */
struct rank_message {
	uint32_t pid;         /* of its topmost process, by which all messages name it */
	uint32_t process;     /* what is looked at: that one, or what wrappers run */
	uint32_t rank, size;  /* RANK_NONE: not known; size 0: not known */
	const char *variable; /* that tells the rank, "" */
	const char *program, *command, *user;
	const char *through;             /* wrappers above it: "timeout, bash"; "" */
	uint32_t threads, process_state; /* as in /proc: 'S'; STATE_FROZEN */
	/* Where they were asked for; "" else. */
	const char *sampler, *sampler_reasons, *refusal;
};

/* What became of it. */
struct state_message {
	uint32_t pid, state; /* enum rank_state */
	const char *reason;  /* "" */
};

/* A remark on the whole node. */
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

/* Functions that were met for the first time: texts, and nodes of the node's own tree of calls.
 * Both are numbered from 0 in the order in which they come. */
struct frames_message {
	uint32_t first_text, text_count, first_node, node_count;
	struct cursor texts, nodes; /* frames_text(), frames_node() */
};

/* Whose code a function is: a look at a thread is compared with the next one by the program's. */
enum frame_kind {
	FRAME_PROGRAM, /* the executable, or code that a runtime made */
	FRAME_SCRIPT,  /* of an interpreted language */
	FRAME_LIBRARY, /* a shared library, the vdso or the kernel */
	FRAME_KINDS,
};

/* One function with the line at which it calls the next one, or waits. */
struct frame_node {
	uint32_t parent;                 /* FRAME_ROOT, or a node before it */
	uint32_t function, module, file; /* texts */
	uint32_t line;                   /* 0: not known, or it says nothing */
	uint32_t kind;                   /* enum frame_kind */
};

#define FRAME_ROOT UINT32_MAX

struct frames_draft {
	uint32_t first_text, text_count, first_node, node_count;
	struct bytes texts, nodes;
};

/* Adds; frames_put() writes all of it and leaves it empty, behind what it had. */
void frames_add_text(struct frames_draft *frames, const char *text);
void frames_add_node(struct frames_draft *frames, const struct frame_node *node);
void frames_put(struct bytes *message, struct frames_draft *frames);
bool frames_take(struct cursor *cursor, struct frames_message *ret);
bool frames_take_text(struct frames_message *frames, const char **ret);
bool frames_take_node(struct frames_message *frames, struct frame_node *ret);

/* Where all threads of one process of a rank were. */
struct stacks_message {
	uint32_t pid, process; /* of the rank; of the process, which may be a descendant */
	uint32_t round;        /* which dump, from 0 */
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
	uint32_t leaf;  /* node of the tree; FRAME_ROOT without a stack */
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

/* A rank's recording is complete, or as complete as it will be. */
struct recorded_message {
	uint32_t pid;
	uint32_t is_there; /* it lies in home's folder already */
	uint64_t size_bytes;
};

void recorded_put(struct bytes *message, const struct recorded_message *recorded);
bool recorded_take(struct cursor *cursor, struct recorded_message *ret);
