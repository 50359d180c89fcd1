/*
 * The table of handlers.
 */
#include "host/ui/answers/handlers.h"

ui_handler *const ui_handlers[UI_VERBS] = {
	[UI_ABOUT] = answer_about,         [UI_PROCESSES] = answer_processes,
	[UI_DOCTOR] = answer_doctor,       [UI_SESSIONS] = answer_sessions,
	[UI_OPEN] = answer_open,           [UI_STOP] = answer_stop,
	[UI_START] = answer_start,         [UI_DETACH] = answer_detach,
	[UI_CLOSE] = answer_close,         [UI_LIVE] = answer_live,
	[UI_THREADS] = answer_threads,     [UI_FLAME] = answer_flame,
	[UI_FUNCTIONS] = answer_functions, [UI_SANDWICH] = answer_sandwich,
	[UI_HEATMAP] = answer_heatmap,     [UI_TIMELINE] = answer_timeline,
	[UI_STACK] = answer_stack,         [UI_CURVES] = answer_curves,
	[UI_FORMATS] = answer_formats,     [UI_SHARE] = answer_share,
	[UI_EXPORT] = answer_export,       [UI_COMPARE] = answer_compare,
	[UI_SPANS] = answer_spans,         [UI_FLOWS] = answer_flows,
	[UI_SPAN] = answer_span,           [UI_COUNTERS] = answer_counters,
};
