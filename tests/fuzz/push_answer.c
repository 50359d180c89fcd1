/*
 * Fuzzes what a store of profiles answers to `limpet push`.
 */
#include "fuzz.h"

#include "host/push/answer.h"
#include "host/push/format.h"

#include <errno.h>
#include <string.h>

/* Whether it comes at once or in pieces: what was enough stays so. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	struct push_answer answer = { 0 }, whole = { 0 };
	int r = push_answer_parse(text, size, /* is_end */ true, /* wants_body */ true, &whole);
	char why[REJECTION_MAX];

	must(r == 0 || r == -EPROTO);
	(void)push_format_otlp.judge(bytes, size, why);
	must(strlen(why) < sizeof(why));
	for (size_t part = 0; part <= size; part += 1 + size / 16) {
		int early = push_answer_parse(text, part, /* is_end */ false,
					      /* wants_body */ part & 1, &answer);

		must(early == 0 || early == -EPROTO || early == -EAGAIN);
		if (early)
			continue;
		must(answer.status >= 200 && answer.status <= 599);
		must(strlen(answer.text) <= ANSWER_BODY_MAX);
		must(r == 0 && whole.status == answer.status);
	}
	return 0;
}
