/*
 * The table of domains as the host shows it.
 */
#include "host/model/domains.h"

/* clang-format off */
static const char *const titles[DOMAINS] = {
#define DOMAIN(number, name, key, title, ...) [number] = title,
#include "shared/wire/domains.def"
};
/* clang-format on */

/* Constant texts: names are kept by tables that outlive every buffer. */
#define OTHER(number) "calls: other " #number
#define TENS(tens)                                                                      \
	OTHER(tens##0), OTHER(tens##1), OTHER(tens##2), OTHER(tens##3), OTHER(tens##4), \
		OTHER(tens##5), OTHER(tens##6), OTHER(tens##7), OTHER(tens##8), OTHER(tens##9)

static const char *const others[] = {
	OTHER(0), OTHER(1), OTHER(2), OTHER(3), OTHER(4), OTHER(5), OTHER(6), OTHER(7), OTHER(8),
	OTHER(9), TENS(1),  TENS(2),  TENS(3),  TENS(4),  TENS(5),  TENS(6),  TENS(7),  TENS(8),
	TENS(9),  TENS(10), TENS(11), TENS(12), TENS(13), TENS(14), TENS(15), TENS(16), TENS(17),
	TENS(18), TENS(19), TENS(20), TENS(21), TENS(22), TENS(23), TENS(24), TENS(25),
};
_Static_assert(ARRAY_SIZE(others) >= DOMAIN_NUMBERS, "a name for each number");

const char *domain_name(unsigned domain)
{
	const char *key = domain_key(domain);

	return key ? key : others[domain % DOMAIN_NUMBERS] + sizeof("calls: ") - 1;
}

const char *domain_title(unsigned domain)
{
	return domain < DOMAINS && titles[domain] ? titles[domain]
						  : others[domain % DOMAIN_NUMBERS];
}
