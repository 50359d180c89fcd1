/*
 * The index of records, made while the file is read for the first time.
 */

#include "host/model/read/read.h"

#include <errno.h>
#include <string.h>

#include "host/core/room.h"
#include "host/recording/pack.h"

static int add_location(struct model_thread *thread, const struct records_location *location)
{
	if (make_room(&thread->locations, thread->location_count, &thread->location_room,
		      sizeof(*thread->locations)))
		return -ENOMEM;
	thread->locations[thread->location_count++] = *location;
	return 0;
}

/* The contents of a chunk. */
struct survey {
	uint32_t calls, records;
	uint32_t others; /* of kinds newer than this limpet */
	bool has_raw_stacks;
};

/* Reads every record: the earliest beginning, the number of calls, and the names. */
static int index_survey(struct cursor cursor, struct names *names,
			struct records_location *location, struct survey *ret)
{
	struct packer packer = { 0 };
	_Alignas(uint64_t) unsigned char record[RECORD_MAX_BYTES];
	long size;

	*ret = (struct survey){ 0 };
	while ((size = unpack(&packer, &cursor, record)) > 0) {
		const struct record_call *call = (const void *)record;

		if (call->head.kind == RECORD_CALL) {
			location->least_begin = MIN(location->least_begin, call->begin);
			ret->calls++;
		} else if (call->head.kind == RECORD_NAME) {
			if (names_add(names, (const void *)record))
				return -ENOMEM;
		} else if (call->head.kind >= RECORD_KINDS) {
			ret->others++;
		} else if (!ret->records) {
			location->begins_with_a_rest = true;
		}
		ret->has_raw_stacks |= call->head.kind == RECORD_STACK;
		ret->records++;
	}
	return size < 0 ? -EPROTO : 0;
}

int index_records(struct model *model, struct model_thread *thread, uint64_t at,
		  const struct records_head *head, struct cursor records)
{
	struct records_location location = { .at = at,
					     .least_begin = UINT64_MAX,
					     .sequence = head->sequence };
	struct survey found;
	int r = index_survey(records, &model->processes[thread->process->number]->names, &location,
			     &found);

	if (r)
		return r;
	if (found.records != head->count)
		return -EPROTO;
	thread->calls += found.calls;
	model->calls += found.calls;
	model->records += found.records;
	model->other_records += found.others;
	model->has_raw_stacks |= found.has_raw_stacks;
	return add_location(thread, &location);
}

void index_finish(struct model_thread *thread)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = thread->location_count; i-- > 0;) {
		least = MIN(least, thread->locations[i].least_begin);
		thread->locations[i].least_begin = least;
	}
}
