/*
 * The names of domains: the host requests domains by them, the tracer finds them.
 */
#include "shared/wire/domains.h"

enum form { CALL, ACTIVITY };

static const struct {
	const char *key;
	enum form form;
} domains[DOMAINS] = {
/* clang-format off */
#define DOMAIN(number, name, key, title, form, ...) [number] = { key, form },
#include "shared/wire/domains.def"
	/* clang-format on */
};

const char *domain_key(unsigned domain)
{
	return domain < DOMAINS ? domains[domain].key : NULL;
}

bool domain_is_activity(unsigned domain)
{
	return domain < DOMAINS && domains[domain].form == ACTIVITY;
}
