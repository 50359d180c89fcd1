/*
 * Pyroscope's push API: push.v1.PushRequest, gzipped pprof with labels.
 */
#include "host/push/format.h"

#include "host/core/cleanup.h"
#include "host/export/profile/pprof.h"
#include "host/export/proto.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

/* Field numbers of push.proto and types.proto. */
enum request_field { REQUEST_SERIES = 1 };
enum series_field { SERIES_LABEL = 1, SERIES_SAMPLE = 2 };
enum sample_field { SAMPLE_PROFILE = 1, SAMPLE_ID = 2 };
enum label_field { LABEL_NAME = 1, LABEL_VALUE = 2 };

#define UUID_MAX 37u

/* A random one (version 4), which identifies a profile that is sent twice. */
static void uuid_make(char ret[UUID_MAX])
{
	unsigned char u[16] = { 0 };

	(void)!getrandom(u, sizeof(u), 0);
	u[6] = (unsigned char)((u[6] & 0x0f) | 0x40);
	u[8] = (unsigned char)((u[8] & 0x3f) | 0x80);
	snprintf(ret, UUID_MAX,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
		 u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
		 u[15]);
}

static int pyroscope_add(struct push_draft *draft, const struct push_labels *labels)
{
	CLEANUP(bytes_done) struct bytes series = { 0 }, inner = { 0 }, profile = { 0 };
	int r = pprof_encode(draft->model, /* is_by_thread */ false, &profile);
	char id[UUID_MAX];

	if (r)
		return r;
	for (unsigned i = 0; i < labels->count; i++) {
		proto_text(&inner, LABEL_NAME, labels->items[i].name);
		proto_text(&inner, LABEL_VALUE, labels->items[i].value);
		proto_message(&series, SERIES_LABEL, &inner);
	}
	uuid_make(id);
	proto_message(&inner, SAMPLE_PROFILE, &profile);
	proto_text(&inner, SAMPLE_ID, id);
	proto_message(&series, SERIES_SAMPLE, &inner);
	proto_message(&draft->body, REQUEST_SERIES, &series);
	return draft->body.has_failed ? -ENOMEM : 0;
}

static int pyroscope_finish(struct push_draft *draft, struct bytes *ret)
{
	bytes_put(ret, draft->body.data, draft->body.size);
	bytes_done(&draft->body);
	return ret->has_failed ? -ENOMEM : 0;
}

static bool pyroscope_is_passing(unsigned status)
{
	return status == 408 || status == 429 || status >= 500;
}

const struct push_format push_format_pyroscope = {
	.name = "pyroscope",
	.path = "/push.v1.PusherService/Push",
	.content_type = "application/proto",
	.add = pyroscope_add,
	.finish = pyroscope_finish,
	.is_passing = pyroscope_is_passing,
};
