/*
 * A short list under a lock.  Notes name foreign files: they are made printable here.
 */
#include "host/core/notes.h"

#include "host/core/text/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char notes[NOTES_MAX][NOTE_BYTES];
static size_t count, left_out;

void note_add(const char *format, ...)
{
	char text[2 * NOTE_BYTES], note[NOTE_BYTES];
	va_list arguments;
	size_t same = 0;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_shorten(text, sizeof(note) - 1);
	text_copy_printable(text_of(text), note, sizeof(note));
	pthread_mutex_lock(&lock);
	while (same < count && strcmp(notes[same], note))
		same++;
	if (same == count && count < NOTES_MAX)
		memcpy(notes[count++], note, sizeof(note));
	else if (same == count)
		left_out++;
	pthread_mutex_unlock(&lock);
}

bool note_at(size_t number, char ret[NOTE_BYTES])
{
	bool is_there;

	pthread_mutex_lock(&lock);
	is_there = number < count;
	if (is_there)
		memcpy(ret, notes[number], NOTE_BYTES);
	pthread_mutex_unlock(&lock);
	return is_there;
}

size_t notes_left_out(void)
{
	size_t number;

	pthread_mutex_lock(&lock);
	number = left_out;
	pthread_mutex_unlock(&lock);
	return number;
}
