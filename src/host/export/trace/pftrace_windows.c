/*
 * On a sequence of packets of their own.
 */
#include "host/export/trace/pftrace_windows.h"

#include "host/core/bytes.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/export/proto.h"
#include "host/export/trace/pftrace_packet.h"
#include "host/model/windows/window_points.h"

#include <errno.h>
#include <string.h>

/* Field numbers of perfetto_trace.proto. */
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { COUNTER_UNIT_NAME = 6 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_COUNTER_REAL = 44, TYPE_COUNTER = 4 };

struct writer {
	struct model *model;
	FILE *out;
	struct bytes trace, packet, inner, detail; /* each holds the next */
};

static uint64_t metric_track(const struct model_metric *metric)
{
	return 1ull << 61 | metric->number;
}

static int packet_end(struct writer *self)
{
	return packet_write(&self->trace, &self->packet, SEQUENCE_WINDOWS, self->out);
}

static int track_write(struct writer *self, const struct model_metric *metric)
{
	const char *unit = metric_rate_unit(metric);
	char title[256], name[300];

	metric_title(self->model, metric, title, sizeof(title));
	print_into(name, sizeof(name), "%s%s%s%s", title, unit[0] ? " (" : "", unit,
		   unit[0] ? ")" : "");
	proto_text(&self->detail, COUNTER_UNIT_NAME, unit);
	proto_number(&self->inner, TRACK_UUID, metric_track(metric));
	proto_text(&self->inner, TRACK_NAME, name);
	if (metric->process) /* its track, as in pftrace.c */
		proto_number(&self->inner, TRACK_PARENT, 1 + metric->process->number);
	proto_message(&self->inner, TRACK_COUNTER, &self->detail);
	proto_message(&self->packet, PACKET_TRACK, &self->inner);
	return packet_end(self);
}

static int point_write(const struct model_metric *metric, uint64_t time_ns, double value,
		       void *context)
{
	struct writer *self = context;
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_number(&self->packet, PACKET_TIMESTAMP, time_ns);
	proto_number(&self->inner, EVENT_TYPE, TYPE_COUNTER);
	proto_number(&self->inner, EVENT_TRACK, metric_track(metric));
	proto_fixed(&self->inner, EVENT_COUNTER_REAL, bits);
	proto_message(&self->packet, PACKET_EVENT, &self->inner);
	return packet_end(self);
}

int pftrace_windows_write(struct model *model, FILE *out)
{
	struct writer self = { .model = model, .out = out };
	size_t count = model->windows.metric_count;
	int r = 0;

	if (!model->windows.count)
		return 0;
	for (size_t i = 0; !r && i < count; i++)
		r = track_write(&self, &model->windows.metrics[i]);
	if (!r)
		r = model_each_point(model, point_write, &self);
	bytes_done(&self.trace);
	bytes_done(&self.packet);
	bytes_done(&self.inner);
	bytes_done(&self.detail);
	return r;
}
