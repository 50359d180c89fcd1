/*
 * The loop.  Signals are read from a descriptor, so that the terminal is restored on every exit.
 */
#include "host/top/render/show.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/top/render/render.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A new picture each second, or less often, so that pictures take less than a twentieth of a
 * processor. */
#define PICTURE_NS    1000000000u
#define PICTURE_SHARE 20u
#define FIRST_NS      250000000u

struct show {
	struct top *top;
	const struct show_options *options;
	struct terminal *terminal;
	int signals, interrupts;
	struct view view;
	struct picture *picture;
	uint64_t begin_ns, due_ns, paused_ns;
	bool is_over, is_dirty; /* to be drawn again */
};

static int watch_signals(struct err *err)
{
	static const int numbers[] = { SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGCONT };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_set(err, -errno, "signalfd: %s", strerror(errno)) : fd;
}

static int picture_renew(struct show *self, struct err *err)
{
	uint64_t begin_ns = now_ns();
	struct picture_wish wish = {
		.kinds = view_kinds(&self->view),
		.window_ns = view_window_ns(&self->view),
		.until_ns = self->view.is_paused ? self->paused_ns : UINT64_MAX,
		.only_tid = self->view.only_tid,
		.function = opened_name(&self->view.opened),
		.module = opened_module(&self->view.opened),
	};
	struct picture *picture;
	int r;

	if (wish.window_ns && !self->view.is_paused)
		wish.until_ns = begin_ns;
	r = top_snapshot(self->top, &wish, &picture, err);
	if (r)
		return r;
	picture_free(self->picture);
	self->picture = picture;
	self->due_ns = begin_ns + MAX(PICTURE_NS, (now_ns() - begin_ns) * PICTURE_SHARE);
	self->is_dirty = true;
	return 0;
}

static int show_draw(struct show *self, struct err *err)
{
	CLEANUP(screen_done) struct screen screen = { 0 };
	unsigned width, height;

	terminal_size(self->terminal, &width, &height);
	if (screen_init(&screen, width, height, terminal_is_ascii(self->terminal)))
		return err_set(err, -ENOMEM, "screen: no memory");
	render(&screen, self->picture, &self->view);
	terminal_draw(self->terminal, &screen);
	self->is_dirty = false;
	return 0;
}

/* A failure to write a picture does not end the loop. */
static void freeze_now(struct show *self)
{
	struct err err = { 0 };

	if (top_freeze(self->top, self->picture, self->options->output, self->view.message,
		       sizeof(self->view.message), &err))
		snprintf(self->view.message, sizeof(self->view.message), "not written: %s",
			 err.what);
}

static int keys_handle(struct show *self, struct err *err)
{
	bool was_paused = self->view.is_paused;
	unsigned orders = 0;
	uint32_t key;

	while (!(orders & VIEW_QUIT) && (key = terminal_key(self->terminal)) != VIEW_KEY_NONE) {
		orders |= view_key(&self->view, self->picture, key);
		self->is_dirty = true;
	}
	if (self->view.is_paused && !was_paused)
		self->paused_ns = now_ns();
	if (orders & VIEW_FREEZE)
		freeze_now(self);
	self->is_over |= (orders & VIEW_QUIT) != 0;
	return orders & VIEW_TAKE ? picture_renew(self, err) : 0;
}

static void signals_handle(struct show *self)
{
	struct signalfd_siginfo taken;

	while (read(self->signals, &taken, sizeof(taken)) == sizeof(taken)) {
		self->is_dirty = true;
		if (taken.ssi_signo == SIGTSTP)
			terminal_suspend(self->terminal);
		else if (taken.ssi_signo == SIGCONT)
			terminal_redraw(self->terminal);
		else if (taken.ssi_signo != SIGWINCH)
			self->is_over = true;
	}
}

static uint64_t end_ns(const struct show *self)
{
	uint64_t duration_ns = self->options->duration_ns;

	return duration_ns > UINT64_MAX - self->begin_ns ? UINT64_MAX
							 : self->begin_ns + duration_ns;
}

static int wait_ms(const struct show *self)
{
	uint64_t now = now_ns(), until = MIN(end_ns(self), self->due_ns);

	if (until <= now)
		return 0;
	return (int)MIN((until - now + 999999) / 1000000, 3600000u);
}

/* While paused, only the end of the process is shown. */
static int end_poll(struct show *self)
{
	bool *has_ended = &self->picture->source.has_ended;

	self->due_ns = now_ns() + PICTURE_NS;
	if (!*has_ended && top_has_ended(self->top))
		*has_ended = self->is_dirty = true;
	return 0;
}

static int show_step(struct show *self, struct err *err)
{
	struct pollfd wait[] = { { self->signals, POLLIN, 0 },
				 { STDIN_FILENO, POLLIN, 0 },
				 { self->interrupts, POLLIN, 0 } };
	int r = self->is_dirty ? show_draw(self, err) : 0;

	if (r)
		return r;
	poll(wait, ARRAY_SIZE(wait), wait_ms(self));
	signals_handle(self);
	self->is_over |= interrupt_consume(self->interrupts);
	/* The terminal was closed. */
	if (wait[1].revents & (POLLHUP | POLLERR | POLLNVAL))
		self->is_over = true;
	else if (wait[1].revents)
		r = keys_handle(self, err);
	if (now_ns() >= end_ns(self))
		self->is_over = true;
	if (!r && !self->is_over && now_ns() >= self->due_ns)
		r = self->view.is_paused ? end_poll(self) : picture_renew(self, err);
	return r;
}

int top_show(struct top *top, const struct show_options *options, struct err *err)
{
	struct show self = { .top = top, .options = options, .begin_ns = now_ns() };
	CLEANUP(close) int signals = watch_signals(err);
	CLEANUP(close) int interrupts = signals < 0 ? -1 : interrupt_watch(terminal_restore, err);
	int r;

	if (interrupts < 0)
		return err->code;
	self.signals = signals;
	self.interrupts = interrupts;
	view_init(&self.view);
	r = picture_renew(&self, err);
	if (!r)
		r = terminal_open(&self.terminal, &options->terminal, err);
	self.due_ns = self.begin_ns + FIRST_NS;
	while (!r && !self.is_over)
		r = show_step(&self, err);
	terminal_close(self.terminal);
	picture_free(self.picture);
	return r;
}
