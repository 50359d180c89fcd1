/*
 * Cells on a terminal.  ncurses keeps what is on it, and writes the differences.
 *
 * limpet is static: only UTF-8 locales are supported, as others would need tables from the
 * machine's libc.  Terminals are found in the machine's terminfo folders.
 */
#define NCURSES_WIDECHAR 1
#include "host/top/render/terminal.h"

#include "host/top/view.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#define ESCAPE_WAIT_MS 25
#define COLUMNS_MAX    1024u
#define BLACK_OF_256   16 /* no theme changes this one */

struct terminal {
	SCREEN *screen;
	bool has_color, is_ascii;
};

/* With colours, and without them. */
static const struct look {
	short foreground, background; /* -1: the terminal's own */
	attr_t with_color, without;
} looks[STYLE_LANGUAGE] = {
	[STYLE_PLAIN] = { -1, -1, A_NORMAL, A_NORMAL },
	[STYLE_QUIET] = { COLOR_CYAN, -1, A_NORMAL, A_NORMAL },
	[STYLE_STRONG] = { -1, -1, A_BOLD, A_BOLD },
	[STYLE_TITLE] = { COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_UNDERLINE },
	[STYLE_FOCUS] = { COLOR_BLACK, COLOR_GREEN, A_NORMAL, A_REVERSE },
	[STYLE_CURSOR] = { COLOR_BLACK, COLOR_WHITE, A_NORMAL, A_REVERSE },
	[STYLE_ALERT] = { COLOR_WHITE, COLOR_RED, A_BOLD, A_REVERSE | A_BOLD },
	[STYLE_BOX] = { COLOR_BLACK, COLOR_WHITE, A_NORMAL, A_NORMAL },
	[STYLE_BOX_HOT] = { COLOR_BLACK, COLOR_WHITE, A_UNDERLINE, A_REVERSE },
	[STYLE_MATCH] = { COLOR_BLACK, COLOR_MAGENTA, A_NORMAL, A_BOLD | A_UNDERLINE },
};

static const struct {
	int code;
	uint32_t key;
} special_keys[] = {
	{ KEY_UP, VIEW_KEY_UP },
	{ KEY_DOWN, VIEW_KEY_DOWN },
	{ KEY_PPAGE, VIEW_KEY_PAGE_UP },
	{ KEY_NPAGE, VIEW_KEY_PAGE_DOWN },
	{ KEY_HOME, VIEW_KEY_HOME },
	{ KEY_BACKSPACE, VIEW_KEY_BACKSPACE },
	{ KEY_ENTER, '\n' },
};

/* As in setlocale(3): the first of them that is set. */
static bool wants_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && value[0])
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* Of a terminal with 8 colours, white can be read on these. */
static bool is_deep(short background)
{
	return background == COLOR_BLACK || background == COLOR_RED || background == COLOR_BLUE ||
	       background == COLOR_MAGENTA;
}

static struct look look_of(unsigned style)
{
	bool is_hot = style >= STYLE_LANGUAGE_HOT;
	const struct frame_style *frame;
	struct look look = { COLOR_BLACK, 0, is_hot ? A_UNDERLINE : A_NORMAL,
			     is_hot ? A_REVERSE : A_NORMAL };

	if (style < STYLE_LANGUAGE)
		return looks[style];
	frame = &frame_styles[style - (is_hot ? STYLE_LANGUAGE_HOT : STYLE_LANGUAGE)];
	look.background = COLORS >= 256 ? frame->of_256 : frame->of_8;
	if (COLORS < 256 && is_deep(look.background))
		look.foreground = COLOR_WHITE;
	else if (COLORS >= 256)
		look.foreground = BLACK_OF_256;
	return look;
}

static void begin_colors(struct terminal *self, bool no_color)
{
	const char *variable = getenv("NO_COLOR");

	if (no_color || (variable && variable[0]) || !has_colors())
		return;
	start_color();
	use_default_colors();
	self->has_color = true;
	for (unsigned style = 0; style < STYLES; style++) {
		struct look look = look_of(style);

		init_pair((short)(style + 1), look.foreground, look.background);
	}
}

static int terminal_refuse(const char *name, struct err *err)
{
	if (name)
		err_set(err, -ENOTTY, "the terminal '%.64s' cannot be drawn on", name);
	else
		err_set(err, -ENOTTY, "TERM does not say which terminal this is");
	err_why(err, "%s",
		name ? "there is no entry of that name in the terminfo folders, or it cannot move a cursor"
		     : "the variable is not set");
	return err_fix(err, "limpet top --batch prints once, as text\nTERM=vt100 limpet top ..., "
			    "which most terminals understand");
}

int terminal_open(struct terminal **ret, const struct terminal_options *options, struct err *err)
{
	const char *name = getenv("TERM");
	struct terminal *self = calloc(1, sizeof(*self));

	if (!self)
		return err_set(err, -ENOMEM, "terminal: no memory");
	self->is_ascii = options->is_ascii || !wants_utf8() ||
			 (!setlocale(LC_CTYPE, "C.UTF-8") && !setlocale(LC_CTYPE, "en_US.UTF-8"));
	self->screen = name && name[0] ? newterm(name, stdout, stdin) : NULL;
	if (!self->screen || !cursor_address || !clear_screen) {
		terminal_close(self);
		return terminal_refuse(name && name[0] ? name : NULL, err);
	}
	set_escdelay(ESCAPE_WAIT_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	begin_colors(self, options->no_color);
	*ret = self;
	return 0;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	if (terminal->screen) {
		curs_set(1);
		endwin();
		delscreen(terminal->screen);
	}
	free(terminal);
}

void terminal_size(struct terminal *terminal, unsigned *ret_width, unsigned *ret_height)
{
	struct winsize size;

	(void)terminal;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	*ret_width = MIN((unsigned)MAX(COLS, 1), COLUMNS_MAX);
	*ret_height = (unsigned)MAX(LINES, 1);
}

bool terminal_is_ascii(const struct terminal *terminal)
{
	return terminal->is_ascii;
}

static void choose_style(const struct terminal *self, unsigned style)
{
	struct look look = look_of(style);

	attr_set(self->has_color ? look.with_color : look.without,
		 (short)(self->has_color ? style + 1 : 0), NULL);
}

/* A row in pieces of one style. */
static void draw_row(const struct terminal *self, const struct cell *cells, unsigned width, int y)
{
	wchar_t text[COLUMNS_MAX + 1];

	for (unsigned x = 0; x < width;) {
		unsigned style = cells[x].style, begin = x;
		int length = 0;

		for (; x < width && cells[x].style == style; x++)
			if (cells[x].rune)
				text[length++] = (wchar_t)cells[x].rune;
		choose_style(self, style);
		mvaddnwstr(y, (int)begin, text, length);
	}
}

void terminal_restore(void)
{
	if (!stdscr || isendwin())
		return;
	curs_set(1);
	endwin();
}

void terminal_draw(struct terminal *terminal, const struct screen *screen)
{
	erase();
	for (unsigned y = 0; y < screen->height; y++)
		draw_row(terminal, &screen->cells[(size_t)y * screen->width],
			 MIN(screen->width, COLUMNS_MAX), (int)y);
	refresh();
}

void terminal_redraw(struct terminal *terminal)
{
	(void)terminal;
	clearok(stdscr, TRUE);
}

/* The signal is blocked elsewhere; here it has its default effect. */
void terminal_suspend(struct terminal *terminal)
{
	struct sigaction usual = { .sa_handler = SIG_DFL }, before;
	sigset_t stop, mask;

	curs_set(1);
	endwin();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigaction(SIGTSTP, &usual, &before);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &before, NULL);
	curs_set(0);
	terminal_redraw(terminal);
}

static uint32_t special_key(int code)
{
	for (size_t i = 0; i < ARRAY_SIZE(special_keys); i++)
		if (special_keys[i].code == code)
			return special_keys[i].key;
	return '\0';
}

uint32_t terminal_key(struct terminal *terminal)
{
	wint_t key;
	int r = get_wch(&key);

	(void)terminal;
	if (r == KEY_CODE_YES)
		return special_key((int)key);
	if (r != OK)
		return VIEW_KEY_NONE;
	return key == 0x7f || key == '\b' ? VIEW_KEY_BACKSPACE : (uint32_t)key;
}
