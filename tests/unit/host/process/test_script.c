/*
 * The script of an interpreter, from command lines.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "host/process/inspect/script.h"

static void finds_scripts(void **state)
{
	static const struct {
		const char *command, *script; /* NULL: none */
	} cases[] = {
		{ "python3 shop.py", "shop.py" },
		{ "/usr/bin/python3.11 -u -X utf8 /srv/shop.py --port 80", "shop.py" },
		{ "python3 -m http.server 8000", "http.server" },
		{ "python3 -c import time shop.py", NULL },
		{ "python3", NULL },
		{ "python3 -X", NULL },
		{ "python3-config shop.py", NULL },
		{ "node --require ./hook.js server.js", "server.js" },
		{ "node -e code server.js", NULL },
		{ "java -Xmx1g -cp /a:/b -jar /opt/shop.jar", "shop.jar" },
		{ "java -cp /a com.example.Shop", "com.example.Shop" },
		{ "/bin/sh /etc/rc.local start", "rc.local" },
		{ "sh -c run shop.sh", NULL },
		{ "perl -w /usr/bin/shop.pl", "shop.pl" },
		{ "redis-server *:6379", NULL },
		{ "", NULL },
		{ "   ", NULL },
		{ "sh /folder/", "folder/" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct process process = { 0 };
		char script[sizeof(process.command)] = "";

		snprintf(process.command, sizeof(process.command), "%s", cases[i].command);
		assert_int_equal(process_script(&process, script, sizeof(script)),
				 cases[i].script != NULL);
		if (cases[i].script)
			assert_string_equal(script, cases[i].script);
	}
}

static void keeps_to_its_room(void **state)
{
	struct process process = { 0 };
	char script[8];

	(void)state;
	memset(process.command, 'x', sizeof(process.command) - 1);
	memcpy(process.command, "python3 ", 8);
	assert_true(process_script(&process, script, sizeof(script)));
	assert_string_equal(script, "xxxxxxx");
	memset(process.command, '-', sizeof(process.command) - 1);
	memcpy(process.command, "python3 ", 8);
	assert_false(process_script(&process, script, sizeof(script)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_scripts),
		cmocka_unit_test(keeps_to_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
