/*
 * The result for a rank.  Each ends in exactly one of these.
 */
#pragma once

#include "shared/base/macros.h"

#define RANK_NONE UINT32_MAX /* its number is unknown */

enum rank_state {
	RANK_NO_ANSWER, /* its node sent nothing about it in time */
	RANK_DONE,      /* the request was fulfilled */
	RANK_IDLE,      /* it exists, but was never seen active */
	RANK_ENDED,     /* it has ended, or ended meanwhile */
	RANK_REFUSED,   /* it may not be profiled */
	RANK_CUT,       /* only a part was recorded */
	RANK_STATES,
};

/* "done", "no answer": for people; "done", "no-answer": for programs. */
const char *rank_state_name(enum rank_state state);
const char *rank_state_key(enum rank_state state);
