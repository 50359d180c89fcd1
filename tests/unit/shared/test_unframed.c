/*
 * Whether the frame is there, by the instructions that follow: of both machines, on each.
 */
#include "unit.h"

#include "shared/unwind/unframed.h"

#include <stdio.h>
#include <string.h>

#define NOP      0xd503201fu
#define PUSH     0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define FP_IS_SP 0x910003fdu /* mov x29, sp */
#define POP      0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define RET      0xd65f03c0u
#define CALL     0x94000010u /* bl */
#define JUMP     0xd61f0220u /* br x17 */
#define SUB_32   0xd10083ffu /* sub sp, sp, #32 */

static struct unframed at_words(const uint32_t *words, size_t count)
{
	uint32_t all[UNFRAMED_WORDS];

	for (size_t i = 0; i < UNFRAMED_WORDS; i++)
		all[i] = i < count ? words[i] : NOP;
	return unframed_aarch64(all);
}

#define AT(...) \
	at_words((const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)

static void check(struct unframed found, enum unframed_kind kind, int distance)
{
	assert_int_equal(found.kind, kind);
	assert_int_equal(found.distance, distance);
}

static void reads_on_until_lr_is_needed(void **state)
{
	(void)state;
	check(AT(PUSH, FP_IS_SP, CALL), UNFRAMED_BARE, 0);
	check(AT(NOP, SUB_32, 0xa9017bfd /* stp x29, x30, [sp, #16] */), UNFRAMED_BARE, 0);
	check(AT(0xf81f0ffe /* str x30, [sp, #-16]! */), UNFRAMED_BARE, 0);
	check(AT(0x54000041 /* b.ne */, RET), UNFRAMED_BARE, 0);
	check(AT(0xd65f0bff /* retaa */), UNFRAMED_BARE, 0);
	check(AT(POP, RET), UNFRAMED_NOT, 0);
	check(AT(0xf94007fe /* ldr x30, [sp, #8] */, RET), UNFRAMED_NOT, 0);
	check(AT(NOP, CALL, RET), UNFRAMED_NOT, 0);
	check(AT(0xd63f0200 /* blr x16 */, RET), UNFRAMED_NOT, 0);
	check(AT(JUMP, RET), UNFRAMED_NOT, 0);
	check(AT(0xd65f0220 /* ret x17 */, RET), UNFRAMED_NOT, 0);
	check(AT(NOP), UNFRAMED_NOT, 0);
}

static void finds_what_was_pushed(void **state)
{
	(void)state;
	check(AT(FP_IS_SP, CALL), UNFRAMED_PUSHED, 0);
	check(AT(0x910043fd /* add x29, sp, #16 */, RET), UNFRAMED_PUSHED, 16);
	check(AT(0xa9bf07fb /* stp x27, x1, [sp, #-16]! */, 0x910043fd), UNFRAMED_PUSHED, 0);
	check(AT(0xf81f0fe1 /* str x1, [sp, #-16]! */, 0x910043fd), UNFRAMED_PUSHED, 0);
	check(AT(SUB_32, 0x910083fd /* add x29, sp, #32 */), UNFRAMED_PUSHED, 0);
}

static struct unframed at_bytes(const char *hex)
{
	unsigned char all[UNFRAMED_BYTES];
	size_t size = 0;
	unsigned byte;

	memset(all, 0x90, sizeof(all));
	for (int used = 0; sscanf(hex, " %2x%n", &byte, &used) == 1; hex += used)
		all[size++] = (unsigned char)byte;
	return unframed_x86_64(all);
}

static void knows_begins_and_ends_on_x86_64(void **state)
{
	(void)state;
	check(at_bytes("55 48 89 e5"), UNFRAMED_BARE, 0);
	check(at_bytes("55 48 8b ec"), UNFRAMED_BARE, 0);
	check(at_bytes("f3 0f 1e fa 55 48 89 e5"), UNFRAMED_BARE, 0);
	check(at_bytes("c3"), UNFRAMED_BARE, 0);
	check(at_bytes("c2 08 00"), UNFRAMED_BARE, 0);
	check(at_bytes("f3 c3"), UNFRAMED_BARE, 0);
	check(at_bytes("48 89 e5 53"), UNFRAMED_PUSHED, 0);
	check(at_bytes("48 8b ec"), UNFRAMED_PUSHED, 0);
	check(at_bytes("5d c3"), UNFRAMED_PUSHED, 0);
	check(at_bytes("5d c5 f8 77 c3"), UNFRAMED_PUSHED, 0);
	check(at_bytes("5d 41 5c c3"), UNFRAMED_NOT, 0);
	check(at_bytes("c9 c3"), UNFRAMED_NOT, 0);
	check(at_bytes("55 53"), UNFRAMED_NOT, 0);
	check(at_bytes("48 89 d8"), UNFRAMED_NOT, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_on_until_lr_is_needed),
		cmocka_unit_test(finds_what_was_pushed),
		cmocka_unit_test(knows_begins_and_ends_on_x86_64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
