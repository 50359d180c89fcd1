/*
 * Fuzzes what the two processes of `limpet ui` tell each other, and the bodies of its requests.
 */
#include "fuzz.h"

#include <string.h>

#include "host/ui/request/command.h"
#include "host/ui/request/routes.h"

/* The bytes laid over a command that is right. */
static void command_check(const uint8_t *bytes, size_t size)
{
	static struct ui_command command, checked;

	ui_command_init(&command, UI_FLAME);
	memcpy(&command, bytes, size < sizeof(command) ? size : sizeof(command));
	if (ui_command_check(&command, sizeof(command), &checked) == 0) {
		must(checked.verb < UI_VERBS && checked.kind < UI_KINDS);
		must(checked.range.thread_count <= UI_THREADS_MAX);
		must(strlen(checked.name) < UI_NAME_MAX);
	}
	must(ui_command_check(bytes, size < sizeof(command) ? size : 0, &checked) != 0);
}

static void answer_check(const uint8_t *bytes, size_t size)
{
	struct ui_answer answer;

	if (size >= sizeof(answer) && ui_answer_check(bytes, sizeof(answer), &answer) == 0)
		must(!strpbrk(answer.file, "\"\r\n/"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	static struct ui_command command, checked;
	struct ui_wish wish;
	char why[PARAMETER_WHY_MAX];

	command_check(bytes, size);
	answer_check(bytes, size);
	if (wish_parse(text, size, &wish) == 0)
		must(wish.pid > 0 && wish.hz <= 5000 && wish.trace_count <= UI_TRACES_MAX);
	(void)!wish_parse_empty(text, size);
	ui_command_init(&command, UI_FLAME);
	if (size < 60000 &&
	    parameters_parse((struct http_text){ text, size }, ~0u, &command, why) == 0)
		must(ui_command_check(&command, sizeof(command), &checked) == 0);
	return 0;
}
