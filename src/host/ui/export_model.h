/*
 * A session as a model of its own, for exporters.
 */
#pragma once

#include "host/ui/session.h"

/* A recording is read again, a live session as it is kept by now; only the range is in it. */
int export_model_open(struct ui_session *session, const struct ui_range *range, const char *version,
		      struct model **ret, struct err *err) MUST_CHECK;
