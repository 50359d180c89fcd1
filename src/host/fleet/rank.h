/*
 * What became of a rank.  Each ends in exactly one of these.
 */
#pragma once

#include "shared/base/macros.h"

#define RANK_NONE UINT32_MAX /* nothing tells its number */

enum rank_state {
	RANK_NO_ANSWER, /* its node has not said anything of it in time */
	RANK_DONE,      /* all that was asked for is there */
	RANK_IDLE,      /* it is there, and did nothing that could be seen */
	RANK_ENDED,     /* it has ended, or ended meanwhile */
	RANK_REFUSED,   /* it may not be looked at */
	RANK_CUT,       /* only a part of it is there */
	RANK_STATES,
};

/* "done", "no answer": for people; "done", "no-answer": for programs. */
const char *rank_state_name(enum rank_state state);
const char *rank_state_key(enum rank_state state);
