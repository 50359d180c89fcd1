#include "host/export/trace/pftrace_packet.h"

#include <errno.h>

#include "host/export/exporter.h"
#include "host/export/proto.h"

enum trace_field { TRACE_PACKET = 1 };

int packet_write(struct bytes *trace, struct bytes *packet, enum packet_sequence sequence,
		 FILE *out)
{
	proto_number(packet, PACKET_SEQUENCE, sequence);
	proto_message(trace, TRACE_PACKET, packet);
	if (trace->has_failed)
		return -ENOMEM;
	fwrite(trace->data, 1, trace->size, out);
	trace->size = 0;
	return export_state(out);
}
