/*
 * Layouts by version, from the headers of CRuby on 64-bit machines; they do not change within a
 * version.  Fields behind a lock are not used: its size varies.
 */
#include "host/interpreter/ruby/layout.h"

#include "shared/base/macros.h"

#include <stddef.h>

#define FRAME_FINISH 0x20 /* the loop ends with this frame: C code called it */

#define MAIN_THREAD 40 /* in the virtual machine */
#define FRAME                                                                                      \
	.holder_frame = 16, .holder_stack = 0, .holder_words = 8, .frame_size = 40, .frame_at = 0, \
	.frame_code = 16, .frame_mark = 32, .is_mark_behind = 1, .mark_bits = FRAME_FINISH,        \
	.code_name = KERNEL_NO_STEP, .line = KERNEL_NO_STEP

static const struct ruby_layout layouts[] = {
	{ .version = 301,
	  .walk = { .start = MAIN_THREAD,
		    .thread_next = 0,
		    .thread_native = KERNEL_NO_STEP,
		    .thread_id = 88,
		    .thread_holder = 40,
		    .frame_stride = 64,
		    FRAME },
	  .line_table = 120,
	  .line_positions = 128,
	  .line_count = 136,
	  .line_index = 144,
	  .text = 16 },
	{ .version = 303,
	  .walk = { .start = MAIN_THREAD,
		    .thread_next = 0,
		    .thread_native = 40,
		    .thread_id = 24,
		    .thread_holder = 48,
		    .frame_stride = 56,
		    FRAME },
	  .line_table = 112,
	  .line_positions = 120,
	  .line_count = 128,
	  .line_index = 136,
	  .text = 24,
	  .is_sized = 1 },
};

const struct ruby_layout *ruby_layout_find(unsigned version)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].version == version)
			return &layouts[i];
	return NULL;
}
