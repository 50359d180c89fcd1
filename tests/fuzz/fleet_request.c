/*
 * Fuzzes what a node part reads of home: any text; and any bytes with a right checksum, so that
 * what is behind it is reached.
 */
#include "fuzz.h"

#include "host/core/text/base64.h"
#include "host/fleet/request.h"
#include "host/recording/format.h"

#include <string.h>

static void request_try(const char *text)
{
	struct node_request request;
	struct err err;

	if (request_read(&request, text, &err))
		return;
	must(request.action < FLEET_ACTIONS && request.find.way < FIND_WAYS);
	must(request.dump.times <= DUMP_TIMES_MAX);
	must(request.record.word_count <= RECORD_WORDS_MAX);
	for (size_t i = 0; i < request.record.word_count; i++)
		must(request.record.words[i]);
	for (size_t i = 0; i < request.find.known_count; i++)
		must(request.find.known[i].pid > 0 && request.find.known[i].rank <= RANK_MAX);
	request_done(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	unsigned char whole[4096];
	char text[BASE64_SIZE(sizeof(whole)) + 1];
	uint32_t checksum;

	size = MIN(size, sizeof(whole) - sizeof(checksum));
	memcpy(text, bytes, size);
	text[size] = '\0';
	request_try(text);

	memcpy(whole, bytes, size);
	checksum = checksum_of(whole, size);
	memcpy(whole + size, &checksum, sizeof(checksum));
	base64_encode(text, whole, size + sizeof(checksum));
	text[BASE64_SIZE(size + sizeof(checksum))] = '\0';
	request_try(text);
	return 0;
}
