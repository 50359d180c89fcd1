/*
 * Formats of profiles for stores: the path of the call, and the layout of a request.  A format is a
 * file that ends in one of these, and a line in the table of formats.c.
 */
#pragma once

#include "host/core/err.h"
#include "host/model/model.h"
#include "host/push/labels.h"

#define REJECTION_MAX 256u

/* Of the profiles of a request, after a status of success. */
enum push_verdict {
	PUSH_TAKEN,
	PUSH_REJECTED, /* some of them at least */
	PUSH_UNCLEAR,  /* the answer makes no sense */
};

struct otlp_tables;

/* A request that is being made; zero but for the model. */
struct push_draft {
	struct model *model;
	struct bytes body;
	struct otlp_tables *otlp;
};

struct push_format {
	const char *name;             /* as --format has it */
	const char *path;             /* of the call */
	const char *content_type;     /* of requests */
	const char *content_encoding; /* of them; NULL: none */
	/* One more series: the samples that the model keeps now.  0 or -ENOMEM. */
	int (*add)(struct push_draft *draft, const struct push_labels *labels);
	/* Appends the request to *ret; empties the draft.  0 or -ENOMEM. */
	int (*finish)(struct push_draft *draft, struct bytes *ret);
	/* By the body of the answer, which may be cut.  NULL: it does not matter. */
	enum push_verdict (*judge)(const unsigned char *body, size_t size,
				   char ret_why[REJECTION_MAX]);
	/* Shall a push with this status be sent again later?  Else it is refused for good. */
	bool (*is_passing)(unsigned status);
};

extern const struct push_format push_format_pyroscope; /* pyroscope.c: the usual one */
extern const struct push_format push_format_otlp;      /* otlp.c */

/* By name; NULL with an error that names all. */
const struct push_format *push_format_find(const char *name, struct err *err);
