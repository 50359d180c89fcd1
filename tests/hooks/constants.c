/*
 * Data that lies among code, as linkers put it that do not separate the two, and a plugin that
 * imports it without saying what it is, since it was not linked with its owner.
 */
#include <stdint.h>

#ifdef OWNER
extern const uint32_t constants_table[64];
const uint32_t constants_table[64] = { 0x12345678, 0x9abcdef0 };

uint32_t constants_call(void);
uint32_t constants_call(void)
{
	return 1;
}
#else
extern const uint32_t constants_table[64];
uint32_t constants_call(void);
uint32_t plugin_sum(void);

uint32_t plugin_sum(void)
{
	return constants_table[0] ^ constants_table[1] ^ constants_call();
}
#endif
