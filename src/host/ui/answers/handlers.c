/*
 * The table of handlers.
 */
#include "host/ui/answers/handlers.h"

ui_handler *const ui_handlers[UI_VERBS] = {
#define ROUTE(VERB, handler, ...) [UI_##VERB] = answer_##handler,
#include "host/ui/request/routes.def"
};
