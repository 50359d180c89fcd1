/*
 * limpet's thread begins and adds; note_raise() runs inside hooked calls: no libc, no waiting.
 */
#include "target/hooks/notes.h"

#include "target/hooks/writer.h"
#include "target/runtime/text.h"

static struct rings *written_to;
static const struct note *known[TRACE_NOTES];
static unsigned known_count;

void notes_begin(struct rings *rings)
{
	written_to = rings;
	known_count = 0;
}

void notes_add(const struct note *notes, size_t count)
{
	for (size_t i = 0; i < count && known_count < TRACE_NOTES; i++) {
		struct trace_note *entry = &written_to->notes[known_count];

		entry->about = notes[i].about;
		entry->domains = notes[i].domains;
		text_add(entry->text, sizeof(entry->text), 0, notes[i].text);
		known[known_count++] = &notes[i];
	}
}

static unsigned find_number(const struct note *note)
{
	unsigned number = 0;

	while (number < known_count && known[number] != note)
		number++;
	return number;
}

void note_raise(const struct note *note)
{
	unsigned number = find_number(note);

	if (number < known_count)
		writer_note(number);
}

void note_withdraw(const struct note *note)
{
	struct rings *rings = writers_rings();
	unsigned number = find_number(note);

	if (rings && number < known_count)
		__atomic_store_n(&rings->notes[number].is_said, 0, __ATOMIC_RELAXED);
}
