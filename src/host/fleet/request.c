/*
 * Requests as text.  Runs at both ends; a node part validates everything.
 */
#include "host/fleet/request.h"

#include "host/core/bytes.h"
#include "host/core/cleanup.h"
#include "host/core/text/base64.h"
#include "host/fleet/message.h"
#include "host/recorder/samples/sampling.h"
#include "host/recording/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_BYTES_MAX (90u << 10) /* one argument may have 128 KiB */

static void find_put(struct bytes *bytes, const struct find_options *find)
{
	bytes_u32(bytes, find->way);
	bytes_u32(bytes, find->family);
	bytes_u32(bytes, find->has_ranks);
	bytes_u32(bytes, (uint32_t)find->ranks.count);
	for (size_t i = 0; i < find->ranks.count; i++) {
		bytes_u32(bytes, find->ranks.items[i].first);
		bytes_u32(bytes, find->ranks.items[i].last);
	}
	bytes_text(bytes, find->name);
	bytes_text(bytes, find->variable);
	bytes_text(bytes, find->job);
	bytes_text(bytes, find->step);
	bytes_text(bytes, find->key);
	bytes_u32(bytes, find->has_owner);
	bytes_u32(bytes, find->owner);
	bytes_u32(bytes, (uint32_t)find->known_count);
	for (size_t i = 0; i < find->known_count; i++) {
		bytes_u32(bytes, find->known[i].rank);
		bytes_u32(bytes, (uint32_t)find->known[i].pid);
	}
}

static void dump_put(struct bytes *bytes, const struct dump_wish *dump)
{
	bytes_u32(bytes, dump->times);
	bytes_u64(bytes, dump->interval_ns);
	bytes_u32(bytes, dump->kernel_frames);
	bytes_u32(bytes, dump->all_threads);
	bytes_u32(bytes, dump->no_lines);
	bytes_text(bytes, dump->sampler);
}

static void record_put(struct bytes *bytes, const struct record_wish *record)
{
	bytes_text(bytes, record->folder ? record->folder : "");
	bytes_text(bytes, record->mark ? record->mark : "");
	bytes_u64(bytes, record->duration_ns);
	bytes_u32(bytes, (uint32_t)record->word_count);
	for (size_t i = 0; i < record->word_count; i++)
		bytes_text(bytes, record->words[i]);
}

static void top_put_wish(struct bytes *bytes, const struct top_wish *top)
{
	bytes_u32(bytes, top->hz);
	bytes_text(bytes, top->sampler ? top->sampler : "");
	bytes_u64(bytes, top->duration_ns);
}

char *request_write(const struct node_request *request)
{
	CLEANUP(bytes_done) struct bytes bytes = { 0 };
	char *text;

	bytes_u32(&bytes, FLEET_PROTOCOL);
	bytes_u32(&bytes, request->action);
	bytes_text(&bytes, request->node);
	bytes_u32(&bytes, request->is_copy);
	bytes_u64(&bytes, request->limit_ns);
	bytes_u64(&bytes, request->rank_limit_ns);
	find_put(&bytes, &request->find);
	dump_put(&bytes, &request->dump);
	record_put(&bytes, &request->record);
	top_put_wish(&bytes, &request->top);
	bytes_u32(&bytes, checksum_of(bytes.data, bytes.size));
	if (bytes.has_failed || bytes.size > REQUEST_BYTES_MAX)
		return NULL;
	text = calloc(1, BASE64_SIZE(bytes.size) + 1);
	if (text)
		base64_encode(text, bytes.data, bytes.size);
	return text;
}

static uint32_t number_below(struct cursor *cursor, uint32_t end)
{
	uint32_t value = cursor_u32(cursor);

	cursor->has_failed |= value >= end;
	return cursor->has_failed ? 0 : value;
}

/* At most this many items can follow. */
static uint32_t count_take(struct cursor *cursor, size_t item_size)
{
	uint32_t count = cursor_u32(cursor);

	if (count > (size_t)(cursor->end - cursor->at) / item_size)
		cursor->has_failed = true;
	return cursor->has_failed ? 0 : count;
}

static void ranks_take(struct cursor *cursor, struct rank_set *ret)
{
	uint32_t count = count_take(cursor, 2 * sizeof(uint32_t));

	for (uint32_t i = 0; i < count; i++) {
		struct rank_range range;

		range.first = cursor_u32(cursor);
		range.last = cursor_u32(cursor);
		if (range.first > range.last || range.last > RANK_MAX ||
		    rank_set_add_range(ret, range))
			cursor->has_failed = true;
	}
}

static void known_take(struct cursor *cursor, struct find_options *ret)
{
	uint32_t count = count_take(cursor, 2 * sizeof(uint32_t));

	ret->known = calloc(count + 1, sizeof(*ret->known));
	cursor->has_failed |= !ret->known;
	for (uint32_t i = 0; ret->known && i < count; i++) {
		ret->known[i].rank = cursor_u32(cursor);
		ret->known[i].pid = (pid_t)cursor_u32(cursor);
		cursor->has_failed |= ret->known[i].pid <= 0 || ret->known[i].rank > RANK_MAX;
	}
	ret->known_count = ret->known ? count : 0;
}

static void find_take(struct cursor *cursor, struct find_options *ret)
{
	ret->way = (enum find_way)number_below(cursor, FIND_WAYS);
	ret->family = (enum rank_family)number_below(cursor, FAMILIES);
	ret->has_ranks = number_below(cursor, 2);
	ranks_take(cursor, &ret->ranks);
	ret->name = cursor_text(cursor);
	ret->variable = cursor_text(cursor);
	ret->job = cursor_text(cursor);
	ret->step = cursor_text(cursor);
	ret->key = cursor_text(cursor);
	ret->has_owner = number_below(cursor, 2);
	ret->owner = cursor_u32(cursor);
	known_take(cursor, ret);
}

static void dump_take_wish(struct cursor *cursor, struct dump_wish *ret)
{
	ret->times = number_below(cursor, DUMP_TIMES_MAX + 1);
	ret->interval_ns = cursor_u64(cursor);
	ret->kernel_frames = number_below(cursor, 2);
	ret->all_threads = number_below(cursor, 2);
	ret->no_lines = number_below(cursor, 2);
	ret->sampler = cursor_text(cursor);
}

static void record_take(struct cursor *cursor, struct record_wish *ret)
{
	uint32_t count;

	ret->folder = cursor_text(cursor);
	ret->mark = cursor_text(cursor);
	ret->duration_ns = cursor_u64(cursor);
	count = number_below(cursor, RECORD_WORDS_MAX + 1);
	ret->words = calloc(count + 1, sizeof(*ret->words));
	cursor->has_failed |= !ret->words;
	for (uint32_t i = 0; ret->words && i < count; i++)
		ret->words[i] = cursor_text(cursor);
	ret->word_count = ret->words ? count : 0;
}

static void top_take_wish(struct cursor *cursor, struct top_wish *ret)
{
	ret->hz = number_below(cursor, SAMPLING_HZ_MAX + 1);
	ret->sampler = cursor_text(cursor);
	ret->duration_ns = cursor_u64(cursor);
}

static bool request_take(struct cursor *cursor, struct node_request *ret)
{
	ret->action = (enum fleet_action)number_below(cursor, FLEET_ACTIONS);
	ret->node = cursor_text(cursor);
	ret->is_copy = number_below(cursor, 2);
	ret->limit_ns = cursor_u64(cursor);
	ret->rank_limit_ns = cursor_u64(cursor);
	find_take(cursor, &ret->find);
	dump_take_wish(cursor, &ret->dump);
	record_take(cursor, &ret->record);
	top_take_wish(cursor, &ret->top);
	return !cursor->has_failed && cursor->at == cursor->end;
}

int request_read(struct node_request *ret, const char *text, struct err *err)
{
	struct node_request request = { .bytes = malloc(REQUEST_BYTES_MAX) };
	const unsigned char *bytes = request.bytes;
	struct cursor cursor;
	uint32_t checksum;
	size_t size;

	if (!bytes)
		return err_set(err, -ENOMEM, "request: no memory");
	if (base64_decode(text, strlen(text), request.bytes, REQUEST_BYTES_MAX, &size) &&
	    size >= sizeof(checksum)) {
		size -= sizeof(checksum);
		memcpy(&checksum, bytes + size, sizeof(checksum));
		cursor = (struct cursor){ bytes, bytes + size, false };
		if (checksum_of(bytes, size) == checksum && cursor_u32(&cursor) == FLEET_PROTOCOL &&
		    request_take(&cursor, &request)) {
			*ret = request;
			return 0;
		}
	}
	request_done(&request);
	err_set(err, -EPROTO, "the request of limpet fleet makes no sense");
	return err_why(err, "it was changed on its way, or the other limpet is of another version");
}

void request_done(struct node_request *request)
{
	rank_set_done(&request->find.ranks);
	free(request->find.known);
	free(request->record.words);
	free(request->bytes);
	*request = (struct node_request){ 0 };
}
