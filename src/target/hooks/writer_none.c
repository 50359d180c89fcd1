/*
 * writer.h for a library that only notices calls: no thread gets a writer. So the library needs no
 * thread-local storage, and no memory that must outlive it.
 */
#include "target/hooks/writer.h"

struct rings *writers_rings(void)
{
	return NULL;
}

uint32_t writers_session(void)
{
	return 0;
}

bool writers_are_on(void)
{
	return false;
}

void writer_ignore_me(void)
{
}

void writer_count_lost(void)
{
}

struct writer *writer_begin(writer_seal *seal)
{
	(void)seal;
	return NULL;
}

void writer_end(struct writer *writer, writer_seal *seal)
{
	(void)writer;
	(void)seal;
}

bool writer_call_in(struct writer *writer, const struct record_call *call, const uint64_t *values,
		    const struct hook_frame *frame)
{
	(void)writer;
	(void)call;
	(void)values;
	(void)frame;
	return false;
}
