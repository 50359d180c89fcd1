/*
 * The tracer's notes.  Their texts lie in memory that the target can write to: each is copied,
 * bounded and made printable before it is shown.
 */
#include "host/session/trace.h"

#include <stdio.h>
#include <string.h>

static uint32_t read_word(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void copy_text(const struct trace_note *note, char ret[TRACE_NOTE_TEXT_MAX])
{
	size_t length = 0;

	for (; length < TRACE_NOTE_TEXT_MAX - 1; length++) {
		char letter = ((const volatile char *)note->text)[length];

		if (!letter)
			break;
		ret[length] = (char)(letter >= ' ' && letter <= '~' ? letter : '?');
	}
	ret[length] = '\0';
}

static bool is_said(const struct trace *trace, unsigned number, enum note_about about)
{
	const struct trace_note *note = &trace->rings->notes[number];

	return read_word(&note->is_said) && read_word(&note->about) == about;
}

/* The copy lives as long as the trace, or until the same note is read again. */
static const char *note_text(const struct trace *trace, unsigned number)
{
	copy_text(&trace->rings->notes[number], trace->notes[number]);
	return trace->notes[number];
}

const char *trace_note(const struct trace *trace, unsigned domain)
{
	uint32_t asked = domain < DOMAINS ? 1u << domain & trace->domains_wanted : 0;

	for (unsigned i = 0; i < TRACE_NOTES; i++) {
		uint32_t domains = read_word(&trace->rings->notes[i].domains) & asked;

		if (((is_said(trace, i, NOTE_DOMAINS) || is_said(trace, i, NOTE_HELD)) &&
		     domains) ||
		    (is_said(trace, i, NOTE_ABSENT) && domains & trace_absent(trace)))
			return note_text(trace, i);
	}
	return NULL;
}

uint32_t trace_held(const struct trace *trace)
{
	uint32_t domains = 0;

	for (unsigned i = 0; i < TRACE_NOTES; i++)
		if (is_said(trace, i, NOTE_HELD))
			domains |= read_word(&trace->rings->notes[i].domains);
	return domains & trace_absent(trace);
}

const char *trace_end_note(const struct trace *trace, unsigned note)
{
	return note < TRACE_NOTES && is_said(trace, note, NOTE_END) ? note_text(trace, note) : NULL;
}

void trace_queues_add(struct trace_queues *to, const struct trace_queues *more)
{
	to->timed += more->timed;
	to->estimated += more->estimated;
	to->left += more->left;
	for (uint32_t i = 0; i < more->reason_count; i++) {
		uint32_t at = 0;

		while (at < to->reason_count && strcmp(to->reasons[at], more->reasons[i]))
			at++;
		if (at == to->reason_count && at < TRACE_REASONS_MAX)
			snprintf(to->reasons[to->reason_count++], TRACE_NOTE_TEXT_MAX, "%s",
				 more->reasons[i]);
	}
}

void trace_queues(const struct trace *trace, struct trace_queues *ret)
{
	const struct rings *rings = trace->rings;

	*ret = (struct trace_queues){ .timed = read_word(&rings->queues_timed),
				      .estimated = read_word(&rings->queues_estimated),
				      .left = read_word(&rings->queues_left) };
	for (unsigned i = 0; i < TRACE_NOTES && ret->reason_count < TRACE_REASONS_MAX; i++)
		if (is_said(trace, i, NOTE_QUEUES))
			copy_text(&rings->notes[i], ret->reasons[ret->reason_count++]);
}
