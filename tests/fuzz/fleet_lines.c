/*
 * Fuzzes what home reads from nodes: lines, messages, and all that is made of them.
 *
 * Bytes that are no lines are taken as one message, behind a byte that chooses its kind: checksums
 * keep chance from finding one.
 */
#include "fuzz.h"

#include "host/fleet/channel/channel.h"
#include "host/fleet/merge/class_tree.h"
#include "host/fleet/merge/fleet_dump.h"
#include "host/fleet/top/fleet_top.h"

#include <string.h>

struct home {
	struct fleet fleet;
	struct fleet_dump dump;
	struct fleet_top top;
};

static void message_take(struct home *home, const unsigned char *bytes, size_t size)
{
	struct cursor cursor = { bytes, bytes + size, false };
	uint32_t kind = message_kind(&cursor);
	struct hello_message hello;
	struct state_message state;
	struct rank_message rank;
	struct note_message note;
	struct piece_message piece;
	struct recorded_message recorded;

	if (kind == MESSAGE_HELLO && hello_take(&cursor, &hello))
		must(!fleet_take_hello(&home->fleet, 0, &hello));
	else if (kind == MESSAGE_RANK && rank_take(&cursor, &rank))
		must(!fleet_take_rank(&home->fleet, 0, &rank));
	else if (kind == MESSAGE_STATE && state_take(&cursor, &state))
		must(!fleet_take_state(&home->fleet, 0, &state));
	else if (kind == MESSAGE_NOTE && note_take(&cursor, &note))
		must(!fleet_take_note(&home->fleet, 0, &note));
	else if (kind == MESSAGE_PIECE && piece_take(&cursor, &piece))
		must(piece.size <= PIECE_BYTES_MAX && piece.bytes + piece.size <= bytes + size);
	else if (kind == MESSAGE_RECORDED)
		(void)recorded_take(&cursor, &recorded);
	else if (kind == MESSAGE_TOP)
		must(!fleet_top_take(&home->top, 0, kind, &cursor));
	else if (kind)
		must(!fleet_dump_take(&home->dump, 0, kind, &cursor));
}

/* Messages one after the other: a byte for the kind, two for the length. */
static void messages_take(struct home *home, const uint8_t *bytes, size_t size)
{
	while (size > 3) {
		unsigned char message[1u << 12] = { bytes[0] % MESSAGE_KINDS };
		size_t length = (size_t)(bytes[1] | bytes[2] << 8) % (sizeof(message) - 4);

		bytes += 3;
		size -= 3;
		length = MIN(length, size);
		memcpy(message + 4, bytes, length);
		message_take(home, message, length + 4);
		bytes += length;
		size -= length;
	}
}

static void lines_take(struct home *home, const uint8_t *bytes, size_t size)
{
	struct text text = { (const char *)bytes, (const char *)bytes + size }, one;
	struct line_stream stream = { 0 };
	struct line line;
	bool is_torn;

	while (text_take_line(&text, &one)) {
		if (!line_read(one, &line, &is_torn))
			continue;
		must(line.size <= sizeof(line.bytes));
		if (line_stream_take(&stream, &line) == STREAM_MESSAGE)
			message_take(home, stream.message.data, stream.message.size);
	}
	line_stream_done(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct home home = { 0 };
	struct class_tree tree;
	struct halted_ranks halted;
	struct motions motions;
	struct top_view view;

	must(fleet_add_node(&home.fleet, "n1") == 0);
	lines_take(&home, bytes, size);
	messages_take(&home, bytes, size);
	must(!top_view_make(&view, &home.top, &home.fleet));
	for (size_t i = 0; i < view.functions.count; i++)
		must(view.functions.items[i].most_rank < home.fleet.rank_count);
	top_view_done(&view);
	must(!fleet_settle(&home.fleet, NULL));
	must(!fleet_dump_settle(&home.dump, &home.fleet));
	for (size_t i = 0; i < home.fleet.rank_count; i++)
		must(home.fleet.ranks[i].is_settled && home.fleet.ranks[i].number <= RANK_MAX);
	for (unsigned i = 0; i < CLASS_THREADS; i++) {
		must(!class_tree_build(&tree, &home.dump, 0, (enum class_threads)i));
		class_tree_done(&tree);
	}
	must(!motions_find(&motions, &home.dump));
	motions_done(&motions);
	must(!halts_find(&halted, &home.dump, &home.fleet));
	for (size_t i = 0; i < halted.count; i++)
		must(halted.items[i].halt != HALT_NONE && halted.items[i].halt < HALTS);
	halts_done(&halted);
	fleet_top_done(&home.top);
	fleet_dump_done(&home.dump);
	fleet_done(&home.fleet);
	return 0;
}
