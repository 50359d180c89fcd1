/*
 * The facts about a call in its slice: Perfetto's debug annotations.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/model/model.h"

/* Names of annotations that are no values; values have their kinds. */
enum annotation_name {
	NAME_TEXT = VALUE_KINDS,
	NAME_STACK,
	NAME_FUNCTION,
	NAME_LIBRARY,
	NAME_UNFINISHED,
	NAME_STANDS_FOR,
	ANNOTATION_NAMES
};

/* Into a track event; `room` is empty before and after.  The name is interned by its number. */
void annotation_put(struct bytes *event, struct bytes *room, enum annotation_name name,
		    const char *text);
/* All of a call: its values, text, library and stack. */
void annotations_put(struct bytes *event, struct bytes *room, const struct call *call);
