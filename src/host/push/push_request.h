/*
 * The message that stores of profiles take: push.v1.PushRequest, profiles with their labels.
 */
#pragma once

#include "host/push/labels.h"

/* One more series, with one profile of this time; the profile's bytes are emptied. */
void push_request_add(struct bytes *request, const struct push_labels *labels,
		      struct bytes *profile);
