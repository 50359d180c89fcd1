/*
 * Passwords and keys leave command lines; what only looks like one stays.
 */
#include "unit.h"

#include <string.h>

#include "host/core/text/secrets.h"

/* Words are separated by '|' here. */
static void expect(const char *given, const char *expected)
{
	char text[512];
	size_t size = strlen(given);

	memcpy(text, given, size + 1);
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] == '|' ? '\0' : text[i];
	size = secrets_hide(text, size);
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] ? text[i] : '|';
	text[size] = '\0';
	assert_string_equal(text, expected);
}

static void hides_the_user_of_an_address(void **state)
{
	(void)state;
	expect("psql|postgres://me:hunter2@db:5432/x", "psql|postgres://***@db:5432/x");
	expect("--a=http://t0ken@h/,http://x:y@z", "--a=http://***@h/,http://***@z");
	expect("http://h/a@b|git@host:x", "http://h/a@b|git@host:x");
}

static void hides_values_of_parameters(void **state)
{
	(void)state;
	expect("--password=hunter2|--user=me", "--password=***|--user=me");
	expect("AWS_SECRET_ACCESS_KEY=abcdef|x", "AWS_SECRET_ACCESS_KEY=***|x");
	expect("http://h/?a=1&Api_Key=abcdef&b=2", "http://h/?a=1&Api_Key=***&b=2");
	expect("host=h;password=hunter2;port=1", "host=h;password=***;port=1");
	expect("--password=a&b;c, d|x", "--password=***|x");
	expect("-Ddb.password=a,b|x", "-Ddb.password=***|x");
	expect("host=h password='a b' port=1", "host=h password=*** port=1");
	expect("PGPASSWORD=a;b|x", "PGPASSWORD=***|x");
}

static void hides_the_word_behind_an_option(void **state)
{
	(void)state;
	expect("--token|abcdef|-v", "--token|***|-v");
	expect("--password|--user|me", "--password|--user|me");
	expect("redis-server|--requirepass|abcdef", "redis-server|--requirepass|***");
	expect("--password|-abcdef|me", "--password|***|me");
	expect("--password|-token|abcdef", "--password|***|***");
	expect("sh|-c|x --token abcdef --v", "sh|-c|x --token *** --v");
	expect("sh|-c|x --token ", "sh|-c|x --token ");
}

static void hides_headers(void **state)
{
	(void)state;
	expect("-H|Authorization: Bearer abc|url", "-H|Authorization:***|url");
	expect("-H|X-Auth-Token: abc|url", "-H|X-Auth-Token:***|url");
	expect("-d|{\"user\":\"me\",\"password\":\"abc\"}", "-d|{\"user\":\"me\",\"password\":***");
}

static void leaves_the_rest_alone(void **state)
{
	(void)state;
	expect("", "");
	expect("python|train.py|--max-tokens=4096|--tokenizer=x",
	       "python|train.py|--max-tokens=4096|--tokenizer=x");
	expect("secret|token", "secret|token");
	expect("--password=", "--password=");
	expect("--token", "--token");
	expect("nginx: master process|redis-server *:6379",
	       "nginx: master process|redis-server *:6379");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hides_the_user_of_an_address),
		cmocka_unit_test(hides_values_of_parameters),
		cmocka_unit_test(hides_the_word_behind_an_option),
		cmocka_unit_test(hides_headers),
		cmocka_unit_test(leaves_the_rest_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
