/*
 * Calls as samples: requested memory, and the time of devices, locks and I/O.  Each has a
 * stack and a weight, so that every picture of samples can show calls, too.
 */
#pragma once

#include "host/ui/command.h"
#include "host/ui/store/stack_tree.h"
#include "host/ui/store/store.h"

struct ui_session;

/* Zero is none yet. */
struct call_samples {
	bool is_made;
	struct store store; /* its model has samples of its own, and the threads of the calls */
	struct stack_tree stacks[2];
};

#define UI_CALL_KINDS (UI_KINDS - UI_ALLOC) /* all from UI_ALLOC on */

/* Makes the samples of one kind of calls, once.  0 or -ENOMEM. */
int call_samples_make(struct call_samples *samples, struct ui_session *session,
		      enum ui_kind kind) MUST_CHECK;
void call_samples_done(struct call_samples *samples);

/* Those of the session, made on first use; NULL: no memory.  Invalid when the session follows its
 * calls. */
struct call_samples *ui_session_call_samples(struct ui_session *session,
					     enum ui_kind kind) MUST_CHECK;
