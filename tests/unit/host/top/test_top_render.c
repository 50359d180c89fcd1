/*
 * The screen of `limpet top`, without a terminal: what is drawn at which size, what keys do, and
 * that no foreign byte gets through.
 */
#include "unit.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "host/model/samples/profile.h"
#include "host/top/render/render.h"

static struct picture_function functions[] = {
	{ "spin_leaf", "spinner", true, 700, 700, 70 },
	{ "spin_cold", "spinner", true, 250, 250, 25 },
	{ "spin_hot", "spinner", true, 50, 750, 5 },
	{ "libodd.so+0x1234", "libodd.so", false, 0, 1000, 0 },
};

static struct picture_thread threads[] = {
	{ 100, "spinner", 'S', 0, 0, 0 },
	{ 101, "spinning", 'R', 99.4, 100, 1000 },
	{ 102, "do\x1b[31mzing\x07", 'S', -1, 0, 0 },
};

static struct sample_function names[] = { { "start_thread", 0 },
					  { "spin", 1 },
					  { "spin_hot", 2 },
					  { "spin_cold", 3 },
					  { "spin_leaf", 4 } };
static struct sample_code codes[] = { { CODE_FILE, .path = "" },
				      { CODE_FILE, .path = "" },
				      { CODE_FILE, .path = "" },
				      { CODE_FILE, .path = "" },
				      { CODE_FILE, .path = "" } };
static struct samples samples = { .functions = names, .codes = codes };
static struct model model = { .samples = &samples };

static struct tree_node nodes[] = {
	{ TREE_ALL, 0, TREE_NONE, 1, TREE_NONE },
	{ TREE_FUNCTION, 0, 0, 2, TREE_NONE },
	{ TREE_FUNCTION, 1, 1, 3, TREE_NONE },
	{ TREE_FUNCTION, 2, 2, 5, 4 },
	{ TREE_FUNCTION, 3, 2, TREE_NONE, TREE_NONE },
	{ TREE_FUNCTION, 4, 3, TREE_NONE, TREE_NONE },
};
static struct tree_metrics metrics[] = { { 0, 1000 }, { 0, 1000 },  { 0, 1000 },
					 { 50, 750 }, { 250, 250 }, { 700, 700 } };

static struct picture picture;
static struct view view;
static char lines[100][1024];

static int setup(void **state)
{
	(void)state;
	picture = (struct picture){
		.pid = 100,
		.process = "spinner",
		.percent = 99.4,
		.hz = 99,
		.kinds = KINDS_ON_CPU,
		.window_ns = 10000000000u,
		.source = { .sampler = "bpf", .summary = "in the kernel", .reasons = "" },
		.seen = 200,
		.complete = 199,
		.samples = 100,
		.weight_ns = 1000,
		.functions = functions,
		.function_count = ARRAY_SIZE(functions),
		.threads = threads,
		.thread_count = ARRAY_SIZE(threads),
		.tree = { &model, 1, nodes, metrics, ARRAY_SIZE(nodes) },
	};
	view_init(&view);
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

static void draw(unsigned width, unsigned height, bool is_ascii)
{
	struct screen screen;

	assert_int_equal(screen_init(&screen, width, height, is_ascii), 0);
	render(&screen, &picture, &view);
	memset(lines, 0, sizeof(lines));
	for (unsigned y = 0; y < height && y < ARRAY_SIZE(lines); y++)
		screen_line(&screen, y, lines[y], sizeof(lines[y]));
	for (size_t i = 0; i < (size_t)width * height; i++) {
		uint32_t rune = screen.cells[i].rune;

		assert_true(!rune || rune >= 0x20);
		assert_false(rune >= 0x7f && (is_ascii || rune < 0xa0));
		assert_true(screen.cells[i].style < STYLES);
	}
	screen_done(&screen);
}

/* The line that has this text; -1: none has. */
static int find(const char *text)
{
	for (int y = 0; y < (int)ARRAY_SIZE(lines); y++)
		if (strstr(lines[y], text))
			return y;
	return -1;
}

static bool holds(const char *text)
{
	return find(text) >= 0;
}

static unsigned press(uint32_t key)
{
	return view_key(&view, &picture, key);
}

static void press_all(const char *keys)
{
	for (; *keys; keys++)
		press((unsigned char)*keys);
}

/* The styles of the cells that a text takes. */
static bool is_drawn_as(const struct screen *screen, const char *text, unsigned style)
{
	char line[1024];

	for (unsigned y = 0; y < screen->height; y++) {
		const char *found;

		screen_line(screen, y, line, sizeof(line));
		found = strstr(line, text);
		/* Cells are letters up to the first box's edge, which is three bytes. */
		for (unsigned x = 0; found && x < screen->width; x++)
			if (screen->cells[y * screen->width + x].style == style)
				return true;
	}
	return false;
}

static void boxes_and_legend_have_the_colours_of_languages(void **state)
{
	struct screen screen;

	(void)state;
	codes[2] = (struct sample_code){ CODE_JIT, .path = "[python]" };
	codes[4].kind = CODE_KERNEL;
	assert_int_equal(screen_init(&screen, 120, 40, false), 0);
	render(&screen, &picture, &view);
	assert_true(is_drawn_as(&screen, "start_thread", STYLE_LANGUAGE_HOT + FRAME_NATIVE));
	assert_true(is_drawn_as(&screen, "spin_hot", STYLE_LANGUAGE_HOT + FRAME_PYTHON));
	assert_true(is_drawn_as(&screen, "spin_leaf", STYLE_LANGUAGE_HOT + FRAME_KERNEL));
	for (unsigned i = 0; i < FRAME_LANGUAGES; i++)
		assert_int_equal(is_drawn_as(&screen, "FLAME VIEW", STYLE_LANGUAGE + i),
				 i == FRAME_NATIVE || i == FRAME_KERNEL || i == FRAME_PYTHON);
	screen_done(&screen);
	draw(120, 40, false);
	assert_true(
		holds("FLAME VIEW  call tree; marked: the hottest path  native   kernel   python"));
	draw(60, 40, false);
	assert_true(holds("FLAME VIEW  native   kernel   python"));
	codes[2].kind = codes[4].kind = CODE_FILE;
	draw(120, 40, false);
	assert_false(holds("python"));
}

static void shares_are_rounded_down(void **state)
{
	(void)state;
	picture.weight_ns = 100000;
	functions[0].total_ns = 99999;
	draw(80, 24, false);
	functions[0].total_ns = 700;
	assert_true(holds("99.9  spin_leaf"));
	assert_false(holds("100.0  spin_leaf"));
}

static void wide_screens_show_more_of_modules(void **state)
{
	const char *module = functions[0].module;

	(void)state;
	functions[0].module = "libboost_program_options.so.1.74.0";
	draw(80, 24, false);
	assert_false(holds("libboost_program_options.so.1.74.0"));
	draw(200, 50, false);
	assert_true(holds("libboost_program_options.so.1.74.0"));
	functions[0].module = module;
}

static void shows_everything_on_80_by_24(void **state)
{
	(void)state;
	draw(80, 24, false);
	assert_string_equal(
		lines[0],
		"limpet top  spinner (100)                sampler bpf, 99 Hz · on-cpu · last 10 s");
	assert_true(holds("200 samples, 99.50 % complete, 0 lost · CPU 99 %, 3 threads"));
	picture.pid = 0;
	picture.others = 17;
	draw(80, 24, false);
	assert_string_equal(
		lines[0],
		"limpet top  every process (17)           sampler bpf, 99 Hz · on-cpu · last 10 s");
	picture.pid = 100;
	picture.others = 0;
	picture.source.throttled = 5;
	draw(80, 24, false);
	assert_true(holds("200 samples, 1 in 5 taken, 99.50 % complete, 0 lost · CPU 99 %"));
	picture.source.throttled = 1;
	draw(80, 24, false);
	assert_true(holds("     101  running      99       100  spinning"));
	assert_true(holds("     100  sleeping      0         0  spinner"));
	assert_true(find("spinning") < find("sleeping      0"));
	assert_true(holds("   70.0     70.0  spin_leaf"));
	assert_true(holds("    5.0     75.0  spin_hot"));
	assert_true(holds("│start_thread › spin"));
	assert_true(holds("│spin_hot"));
	assert_true(holds("│spin_leaf"));
	assert_true(strncmp(lines[23], "q quit  ? help  / filter", 24) == 0);
}

static void boxes_are_as_wide_as_their_shares(void **state)
{
	int y;

	(void)state;
	draw(80, 24, true);
	y = find("|spin_hot");
	assert_true(y > 0);
	assert_int_equal(strstr(lines[y], "|spin_cold") - lines[y], 60);
	assert_true(strncmp(lines[y], "|spin_hot", 9) == 0);
	assert_true(strncmp(lines[y + 1], "|spin_leaf", 10) == 0);
}

static void a_small_screen_shows_functions(void **state)
{
	(void)state;
	draw(40, 10, false);
	assert_true(holds("spinner (100)"));
	assert_true(holds("bpf 99 Hz"));
	assert_true(holds("200 samples, 99.50 % complete"));
	assert_true(holds("spin_leaf"));
	assert_false(holds("start_thread"));
	press('\t');
	draw(40, 10, false);
	assert_true(holds("│spin_hot"));
	press('\t');
	draw(40, 10, false);
	assert_true(holds("running"));
}

static void every_size_is_survived(void **state)
{
	(void)state;
	for (unsigned pane = 0; pane < 2 * PANES; pane++) {
		for (unsigned width = 1; width < 130; width += 3)
			for (unsigned height = 1; height < 40; height++)
				draw(width, height, width % 2);
		press('\t');
		if (pane == PANES - 1)
			press('z');
	}
	press('?');
	for (unsigned height = 1; height < 40; height++)
		draw(height * 3, height, false);
}

static void control_characters_do_not_come_through(void **state)
{
	(void)state;
	functions[0].name = "evil\x1b]0;title\x07\xc2\x9bname\xe2\x80\xae\xff";
	draw(80, 24, false);
	assert_true(holds("evil?]0;title??name??"));
	assert_true(holds("do?[31mzing?"));
	functions[0].name = "spin_leaf";
}

static void long_names_are_cut_and_wide_ones_fit(void **state)
{
	(void)state;
	functions[0].name =
		"a_very_long_name_that_goes_on_and_on_and_on_until_no_screen_can_hold_it";
	draw(60, 24, false);
	assert_true(holds("…"));
	draw(60, 24, true);
	assert_true(holds("~"));
	functions[0].name = "\xe6\xbc\xa2\xe5\xad\x97";
	draw(60, 24, false);
	assert_true(holds("70.0  \xe6\xbc\xa2\xe5\xad\x97"));
	draw(60, 24, true);
	assert_true(holds("70.0  ??"));
	functions[0].name = "spin_leaf";
}

static void a_filter_leaves_what_it_finds(void **state)
{
	(void)state;
	press_all("/COLX");
	press(VIEW_KEY_BACKSPACE);
	draw(80, 24, false);
	assert_true(holds("filter: COL_"));
	press('\n');
	draw(80, 24, false);
	assert_true(holds("spin_cold             "));
	assert_false(holds("70.0     70.0"));
	press_all("/nothing\n");
	draw(80, 24, false);
	assert_true(holds("no function has 'nothing' in its name"));
	press(0x1b);
	draw(80, 24, false);
	assert_true(holds("70.0     70.0"));
}

static void keys_sort_the_marked_table(void **state)
{
	(void)state;
	press('s');
	draw(80, 24, false);
	assert_true(holds("sorted by total"));
	assert_true(find("libodd.so+0x1234") < find("  spin_hot"));
	press('s');
	draw(80, 24, false);
	assert_true(holds("by name"));
	assert_true(find("  spin_cold  ") < find("  spin_leaf  "));
	press_all("\t\ts");
	draw(80, 24, false);
	assert_true(holds("by samples"));
}

static void keys_order(void **state)
{
	(void)state;
	assert_int_equal(press('q'), VIEW_QUIT);
	assert_int_equal(press('f'), VIEW_FREEZE);
	assert_int_equal(press(' '), 0);
	draw(80, 24, false);
	assert_true(holds("paused"));
	assert_int_equal(press(' '), VIEW_TAKE);
	assert_int_equal(press('v'), 0);
	draw(80, 24, false);
	assert_true(holds("--off-cpu"));
	picture.has_off_cpu = true;
	assert_int_equal(press('v'), VIEW_TAKE);
	assert_int_equal(view_kinds(&view), KINDS_OFF_CPU);
	assert_int_equal(press('w'), VIEW_TAKE);
	assert_int_equal(view_window_ns(&view) / 1000000000u, 60);
	assert_int_equal(press('x'), 0);
}

static void a_thread_can_be_chosen(void **state)
{
	(void)state;
	press('\t');
	assert_int_equal(press('\n'), 0);
	assert_true(strstr(view.message, "Enter then opens"));
	press('\t');
	press(VIEW_KEY_DOWN);
	assert_int_equal(press('\r'), VIEW_TAKE);
	assert_int_equal(view.only_tid, 100);
	assert_int_equal(press('\r'), VIEW_TAKE);
	assert_int_equal(view.only_tid, 0);
	press(VIEW_KEY_PAGE_DOWN);
	press(VIEW_KEY_PAGE_UP);
	press(VIEW_KEY_HOME);
	assert_int_equal(view.cursor_tid, 101);
}

static void scrolling_ends_where_rows_end(void **state)
{
	(void)state;
	press('z');
	for (int i = 0; i < 50; i++)
		press(VIEW_KEY_DOWN);
	draw(80, 6, false);
	assert_int_equal(view.scroll[PANE_FUNCTIONS], 1);
	assert_true(holds("2-4 of 4"));
	press(VIEW_KEY_PAGE_UP);
	draw(80, 6, false);
	assert_true(holds("1-3 of 4"));
}

static struct picture_neighbour callers[] = { { "spin", "spinner", true, 750 } };
static struct picture_neighbour callees[] = { { "spin_leaf", "spinner", true, 700 },
					      { "odd\x1b[31m", "libodd.so", true, 1 } };
static struct hot_line source_lines[] = { { "/src/spinner.c", 31, 0, 700 }, { "", 0, 50, 50 } };

static void open_spin_hot(void)
{
	press_all("s"); /* by total */
	press(VIEW_KEY_DOWN);
	assert_int_equal(press('\n'), VIEW_TAKE);
	picture.opened =
		(struct picture_opened){ 50, 750, callers, callees, source_lines, 1, 2, 2 };
}

static void a_function_opens_with_its_callers_callees_and_lines(void **state)
{
	(void)state;
	open_spin_hot();
	assert_string_equal(opened_name(&view.opened), "spin_hot");
	assert_string_equal(opened_module(&view.opened), "spinner");
	draw(80, 24, false);
	assert_true(holds(" spin_hot (spinner): self 5.0 %, total 75.0 %"));
	assert_true(holds("75.0  spin  "));
	assert_true(holds("70.0  spin_leaf"));
	assert_true(holds("0.0     70.0  spinner.c:31"));
	assert_true(holds("5.0      5.0  line not known"));
	assert_true(find("CALLED BY") < find("CALLS"));
	assert_true(find("CALLS") < find("LINES"));
	assert_true(holds("Esc or Backspace back"));
	assert_false(holds("FLAME VIEW"));
	for (unsigned width = 1; width < 100; width += 9)
		for (unsigned height = 1; height < 30; height++)
			draw(width, height, height % 2);
}

static void neighbours_open_and_are_gone_back_from(void **state)
{
	(void)state;
	open_spin_hot();
	press(VIEW_KEY_DOWN);
	assert_int_equal(press('\r'), VIEW_TAKE);
	assert_string_equal(opened_name(&view.opened), "spin_leaf");
	for (int i = 0; i < 100; i++)
		press('\r'); /* round and round */
	assert_int_equal(view.opened.depth, OPENED_DEPTH);
	press_all("s\tz/x"); /* of tables that are not shown */
	assert_false(view.is_typing || view.is_zoomed);
	assert_int_equal(view.focus, PANE_FUNCTIONS);
	for (unsigned i = 0; i < OPENED_DEPTH; i++)
		assert_int_equal(press(i % 2 ? 0x1b : VIEW_KEY_BACKSPACE), VIEW_TAKE);
	draw(80, 24, false);
	assert_true(holds("FLAME VIEW"));
	assert_int_equal(press(VIEW_KEY_BACKSPACE), 0);
}

static void a_function_that_is_not_seen_any_more_says_so(void **state)
{
	(void)state;
	open_spin_hot();
	picture.opened = (struct picture_opened){ 0 };
	draw(80, 24, false);
	assert_true(holds("it was not seen in this time"));
	assert_int_equal(press('\r'), 0);
}

static void help_names_every_key_and_the_reasons(void **state)
{
	(void)state;
	strcpy(picture.source.reasons, "bpf: not allowed; sudo\n");
	press('?');
	draw(80, 30, false);
	for (const struct key_binding *key = key_bindings; key->name; key++)
		assert_true(holds(key->help));
	assert_true(holds("sampler bpf: in the kernel"));
	assert_true(holds("bpf: not allowed; sudo"));
	press('?');
	draw(80, 24, false);
	assert_true(holds("note (? shows all): bpf: not allowed; sudo"));
}

static void says_when_there_is_nothing_or_it_is_over(void **state)
{
	(void)state;
	picture.function_count = picture.tree.count = 0;
	picture.samples = picture.weight_ns = 0;
	picture.source.has_ended = true;
	draw(80, 24, false);
	assert_true(holds("no thread was seen running"));
	assert_true(holds("the process has ended"));
	picture.samples = 3;
	picture.source.sampler = "state";
	draw(80, 24, false);
	assert_true(holds("sampler state sees no stacks"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(shares_are_rounded_down, setup),
		cmocka_unit_test_setup(wide_screens_show_more_of_modules, setup),
		cmocka_unit_test_setup(shows_everything_on_80_by_24, setup),
		cmocka_unit_test_setup(boxes_are_as_wide_as_their_shares, setup),
		cmocka_unit_test_setup(a_small_screen_shows_functions, setup),
		cmocka_unit_test_setup(every_size_is_survived, setup),
		cmocka_unit_test_setup(boxes_and_legend_have_the_colours_of_languages, setup),
		cmocka_unit_test_setup(control_characters_do_not_come_through, setup),
		cmocka_unit_test_setup(long_names_are_cut_and_wide_ones_fit, setup),
		cmocka_unit_test_setup(a_filter_leaves_what_it_finds, setup),
		cmocka_unit_test_setup(keys_sort_the_marked_table, setup),
		cmocka_unit_test_setup(keys_order, setup),
		cmocka_unit_test_setup(a_thread_can_be_chosen, setup),
		cmocka_unit_test_setup(scrolling_ends_where_rows_end, setup),
		cmocka_unit_test_setup(a_function_opens_with_its_callers_callees_and_lines, setup),
		cmocka_unit_test_setup(neighbours_open_and_are_gone_back_from, setup),
		cmocka_unit_test_setup(a_function_that_is_not_seen_any_more_says_so, setup),
		cmocka_unit_test_setup(help_names_every_key_and_the_reasons, setup),
		cmocka_unit_test_setup(says_when_there_is_nothing_or_it_is_over, setup),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		printf("skipped: this machine has no locale C.UTF-8\n");
		return 77;
	}
	return cmocka_run_group_tests_name("top_render", tests, NULL, NULL);
}
