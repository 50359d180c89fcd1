/*
 * limpet from C: attach to a running process, load libraries into it, leave.
 *
 * Link with liblimpet (pkg-config limpet).  Every struct begins with its size, so that programs
 *built against an older header keep working; set it with the LIMPET_*_INIT macros.  Functions
 *return 0 or a negative errno and fill in the error when one is given.  A handle may be used by one
 *thread at a time.
 *
 *	struct limpet_error error = LIMPET_ERROR_INIT;
 *	struct limpet *target = limpet_open(pid, &error);
 *	const char *const tools[] = { "./libmytool.so" };
 *	struct limpet_options options = LIMPET_OPTIONS_INIT;
 *
 *	options.tools = tools;
 *	options.tool_count = 1;
 *	if (!target || limpet_attach(target, &options, NULL, &error))
 *		fprintf(stderr, "%s\n", error.what);
 *	...
 *	limpet_detach(target, LIMPET_UNLOAD, &error);
 *	limpet_close(target);
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

/* What went wrong, in words for a person. */
struct limpet_error {
	size_t struct_size;
	int code;       /* negative errno */
	int exit_code;  /* what the command line would exit with, see README */
	char what[256]; /* what failed */
	char why[320];  /* the cause, may be empty */
	char fix[320];  /* what to do about it, one way a line, may be empty */
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
	/* attach: the process and all its descendants, also those born before limpet_detach().
	 * Three threads of the library's then run in the caller, with every signal blocked.
	 * Processes that cannot be attached are skipped, also the first one, as long as there is
	 * one that can; error->why then says why, with code 0. */
	LIMPET_CHILDREN = 16,
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

/* What an attach cost the target. */
struct limpet_report {
	size_t struct_size;
	int thread;            /* the one thread that was stopped */
	int was_resident;      /* 1: the agent was there from before, nothing was loaded */
	uint64_t pause_ns;     /* how long that thread was stopped */
	uint64_t interrupt_ns; /* how long it took to stop it */
	uint64_t attach_ns;    /* all of it, as seen by the caller */
	size_t failed_tools;   /* that failed, without LIMPET_STRICT; see limpet_tool_status() */
	size_t processes;      /* attached: 1, or with LIMPET_CHILDREN as many as are there now */
	size_t skipped;        /* with LIMPET_CHILDREN: that could not be attached */
};
#define LIMPET_REPORT_INIT                                   \
	{                                                    \
		.struct_size = sizeof(struct limpet_report), \
	}

enum limpet_state {
	LIMPET_ABSENT,   /* there is nothing of limpet's in the process */
	LIMPET_RESTING,  /* the agent is mapped and does nothing */
	LIMPET_ATTACHED, /* somebody holds it */
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
	LIMPET_TOOL_IDLE, /* loaded; not configured, or it takes no part */
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

/* NULL when there is no such process; whether it can be attached, limpet_attach() says. */
struct limpet *limpet_open(int pid, struct limpet_error *error);

/* options and report may be NULL.  On failure the target is as it was.  Tools that failed while
 * others went on are named in error->why, one a line, with code 0. */
int limpet_attach(struct limpet *target, const struct limpet_options *options,
		  struct limpet_report *report, struct limpet_error *error);

/* Leaves.  What could not be unmapped is named in error->why, with code 0. */
int limpet_detach(struct limpet *target, unsigned flags, struct limpet_error *error);

/* Asks without stopping anything; works for a process that somebody else holds. */
int limpet_status(struct limpet *target, struct limpet_status *status, struct limpet_error *error);

/* One of the tools in the process; -ENOENT when there are not so many. */
int limpet_tool_status(struct limpet *target, unsigned index, struct limpet_tool_status *status,
		       struct limpet_error *error);

/* Detaches when still attached; NULL is fine. */
void limpet_close(struct limpet *target);

#ifdef __cplusplus
}
#endif

#endif
