/*
 * The shown part of a picture, its order, and the opened function.
 */
#include "host/top/view.h"

#include "host/model/samples/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned kind_sets[] = { KINDS_ON_CPU, KINDS_OFF_CPU, KIND_BIT(SAMPLE_RUNNABLE),
				      KINDS_ALL };
static const uint64_t windows_ns[] = { 10000000000u, 60000000000u, 0, 2000000000u };

void view_init(struct view *view)
{
	*view = (struct view){ .focus = PANE_FUNCTIONS };
}

unsigned view_kinds(const struct view *view)
{
	return kind_sets[view->kinds % ARRAY_SIZE(kind_sets)];
}

uint64_t view_window_ns(const struct view *view)
{
	return windows_ns[view->window % ARRAY_SIZE(windows_ns)];
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static const struct picture_thread *thread_of(const void *row)
{
	return *(const struct picture_thread *const *)row;
}

static const struct picture_function *function_of(const void *row)
{
	return *(const struct picture_function *const *)row;
}

static int thread_by_number(const void *left, const void *right)
{
	const struct picture_thread *a = thread_of(left), *b = thread_of(right);

	return compare_numbers((uint64_t)b->tid, (uint64_t)a->tid);
}

static int thread_by_cpu(const void *left, const void *right)
{
	const struct picture_thread *a = thread_of(left), *b = thread_of(right);

	if ((int)a->percent != (int)b->percent)
		return a->percent > b->percent ? -1 : 1;
	if (a->samples != b->samples)
		return compare_numbers(a->samples, b->samples);
	return thread_by_number(left, right);
}

static int thread_by_samples(const void *left, const void *right)
{
	const struct picture_thread *a = thread_of(left), *b = thread_of(right);
	int r = compare_numbers(a->samples, b->samples);

	return r ? r : thread_by_number(left, right);
}

static int thread_by_name(const void *left, const void *right)
{
	const struct picture_thread *a = thread_of(left), *b = thread_of(right);
	int r = strcmp(a->name, b->name);

	return r ? r : thread_by_number(left, right);
}

static int function_by_name(const void *left, const void *right)
{
	const struct picture_function *a = function_of(left), *b = function_of(right);
	int r = strcmp(a->name, b->name);

	return r ? r : strcmp(a->module, b->module);
}

static int function_by_self(const void *left, const void *right)
{
	const struct picture_function *a = function_of(left), *b = function_of(right);
	int r = compare_numbers(a->self_ns, b->self_ns);

	if (!r)
		r = compare_numbers(a->total_ns, b->total_ns);
	return r ? r : function_by_name(left, right);
}

static int function_by_total(const void *left, const void *right)
{
	const struct picture_function *a = function_of(left), *b = function_of(right);
	int r = compare_numbers(a->total_ns, b->total_ns);

	return r ? r : function_by_self(left, right);
}

static const struct {
	const struct pane_sort *items;
	size_t count;
} sorts[PANES] = {
	[PANE_THREADS] = { (const struct pane_sort[]){ { "cpu", thread_by_cpu },
						       { "samples", thread_by_samples },
						       { "name", thread_by_name },
						       { "number", thread_by_number } },
			   4 },
	[PANE_FUNCTIONS] = { (const struct pane_sort[]){ { "self", function_by_self },
							 { "total", function_by_total },
							 { "name", function_by_name } },
			     3 },
};

const struct pane_sort *view_sort(const struct view *view, enum pane pane)
{
	return sorts[pane].count ? &sorts[pane].items[view->sort[pane] % sorts[pane].count] : NULL;
}

bool view_finds(const struct view *view, const char *text)
{
	return view->filter[0] && strcasestr(text, view->filter);
}

const struct picture_thread **view_threads(const struct view *view, const struct picture *picture)
{
	const struct picture_thread **rows =
		calloc(picture->thread_count + 1, sizeof(struct picture_thread *));

	if (!rows)
		return NULL;
	for (size_t i = 0; i < picture->thread_count; i++)
		rows[i] = &picture->threads[i];
	qsort(rows, picture->thread_count, sizeof(struct picture_thread *),
	      view_sort(view, PANE_THREADS)->compare);
	return rows;
}

size_t view_cursor(const struct view *view, const struct picture_function **rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (function_id_is(&view->cursor_function, rows[i]->name, rows[i]->module))
			return i;
	return 0;
}

const struct picture_function **view_functions(const struct view *view,
					       const struct picture *picture, size_t *ret_count)
{
	const struct picture_function **rows =
		calloc(picture->function_count + 1, sizeof(struct picture_function *));

	*ret_count = 0;
	if (!rows)
		return NULL;
	for (size_t i = 0; i < picture->function_count; i++) {
		const struct picture_function *row = &picture->functions[i];

		if (!view->filter[0] || view_finds(view, row->name) ||
		    view_finds(view, row->module))
			rows[(*ret_count)++] = row;
	}
	qsort(rows, *ret_count, sizeof(struct picture_function *),
	      view_sort(view, PANE_FUNCTIONS)->compare);
	return rows;
}

/* Names that are too long are compared as far as they are kept. */
bool function_id_is(const struct function_id *id, const char *name, const char *module)
{
	return !strncmp(id->name, name, sizeof(id->name) - 1) &&
	       !strncmp(id->module, module, sizeof(id->module) - 1);
}

void function_id_set(struct function_id *id, const char *name, const char *module)
{
	snprintf(id->name, sizeof(id->name), "%s", name);
	snprintf(id->module, sizeof(id->module), "%s", module);
}

const char *opened_name(const struct opened *opened)
{
	return opened->depth ? opened->path[opened->depth - 1].name : "";
}

const char *opened_module(const struct opened *opened)
{
	return opened->depth ? opened->path[opened->depth - 1].module : "";
}

/* The oldest is forgotten where there are too many. */
void opened_push(struct opened *opened, const char *name, const char *module)
{
	if (opened->depth == OPENED_DEPTH)
		memmove(&opened->path[0], &opened->path[1],
			--opened->depth * sizeof(opened->path[0]));
	function_id_set(&opened->path[opened->depth++], name, module);
	opened->cursor = 0;
}

const struct picture_neighbour *opened_row(const struct picture *picture, size_t row)
{
	const struct picture_opened *opened = &picture->opened;

	if (row < opened->caller_count)
		return &opened->callers[row];
	row -= opened->caller_count;
	return row < opened->callee_count ? &opened->callees[row] : NULL;
}

void opened_move(struct opened *opened, const struct picture *picture, long rows_down)
{
	size_t count = picture->opened.caller_count + picture->opened.callee_count;

	if (rows_down < 0)
		opened->cursor -= MIN(opened->cursor, (size_t)-rows_down);
	else
		opened->cursor += (size_t)rows_down;
	opened->cursor = MIN(opened->cursor, count ? count - 1 : 0);
}
