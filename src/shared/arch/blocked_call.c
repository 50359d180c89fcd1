/*
 * Parses the kernel's line about a waiting thread: "nr arg1 ... arg6 sp ip", "running" or "-1 sp
 * ip".
 */
#include "shared/arch/blocked_call.h"

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool parse_number(const char **text, unsigned base, uint64_t *ret)
{
	const char *at = *text;
	uint64_t value = 0;
	int digit;

	while (*at == ' ')
		at++;
	if (base == 16 && at[0] == '0' && at[1] == 'x')
		at += 2;
	else if (base == 16)
		return false;
	*text = at;
	for (; (digit = digit_of(*at)) >= 0 && (unsigned)digit < base; at++)
		value = value * base + (unsigned)digit;
	if (at == *text)
		return false;
	*text = at;
	*ret = value;
	return true;
}

void blocked_call_parse(const char *text, struct blocked_call *ret)
{
	uint64_t values[9] = { 0 };

	*ret = (struct blocked_call){ 0 };
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		if (!parse_number(&text, i ? 16 : 10, &values[i]))
			return;
	ret->is_known = true;
	ret->nr = (long)values[0];
	for (unsigned i = 0; i < ARRAY_SIZE(ret->args); i++)
		ret->args[i] = values[i + 1];
	ret->stack = values[7];
	ret->ip = values[8];
}
