/*
 * A tool that asks which counters there are, what they are, and puts some together.
 */
#include "sdk_tool.h"

#include <stdio.h>
#include <string.h>

typedef struct {
	handle_t id;
	const char *name, *description, *block, *expression;
	uint8_t is_constant : 1, is_derived : 1;
} info_0_t;

typedef struct {
	const char *name;
	size_t size;
	uint64_t id;
} dimension_t;

typedef struct {
	uint64_t size;
	const char *name;
	size_t index;
} place_t;

typedef struct {
	uint64_t size, id, counter, place_count;
	const place_t **places;
} instance_t;

typedef struct {
	uint64_t size;
	handle_t id;
	const char *name, *description, *block, *expression;
	uint8_t is_constant : 1, is_derived : 1;
	uint64_t dimension_count;
	const dimension_t **dimensions;
	uint64_t instance_count;
	const instance_t **instances;
} info_1_t;

typedef int counters_t(handle_t agent, handle_t *counters, size_t count, void *data);
typedef int dimensions_t(handle_t counter, const dimension_t *dimensions, size_t count, void *data);

int rocprofiler_iterate_agent_supported_counters(handle_t agent, counters_t *callback, void *data);
int rocprofiler_query_counter_info(handle_t counter, int version, void *ret);
int rocprofiler_iterate_counter_dimensions(handle_t counter, dimensions_t *callback, void *data);
int rocprofiler_query_counter_instance_count(handle_t agent, handle_t counter, size_t *ret);
int rocprofiler_query_record_counter_id(uint64_t id, handle_t *ret);
int rocprofiler_query_record_dimension_position(uint64_t id, uint64_t dimension, size_t *ret);
int rocprofiler_create_counter_config(handle_t agent, handle_t *counters, size_t count,
				      handle_t *ret);
int rocprofiler_destroy_counter_config(handle_t config);
int rocprofiler_create_counter(const char *name, size_t name_length, const char *expression,
			       size_t expression_length, const char *description,
			       size_t description_length, handle_t agent, handle_t *ret);

#define LISTED_MAX 64

static handle_t agent, listed[LISTED_MAX];
static size_t listed_count;

static void show_places(const instance_t *instance)
{
	handle_t counter = { 0 };
	char text[128] = "";
	size_t at = 0, position;

	MUST(rocprofiler_query_record_counter_id(instance->id, &counter));
	for (uint64_t i = 0; i < instance->place_count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %s=%zu",
				       instance->places[i]->name, instance->places[i]->index);
	MUST(rocprofiler_query_record_dimension_position(instance->id, 1, &position));
	log_line("instance %lu %lu xcc %zu%s", (unsigned long)counter.handle,
		 (unsigned long)instance->counter, position, text);
}

static int show_dimensions(handle_t counter, const dimension_t *dimensions, size_t count,
			   void *data)
{
	(void)data;
	for (size_t i = 0; i < count; i++)
		log_line("dimension %lu %s %zu %lu", (unsigned long)counter.handle,
			 dimensions[i].name, dimensions[i].size, (unsigned long)dimensions[i].id);
	return 0;
}

static void show_counter(handle_t counter)
{
	info_0_t info;
	info_1_t more;
	size_t instances = 99;

	MUST(rocprofiler_query_counter_info(counter, 1, &info));
	MUST(rocprofiler_query_counter_info(counter, 2, &more));
	MUST(rocprofiler_query_counter_instance_count(agent, counter, &instances));
	log_line("counter %lu %s block=%s derived=%d expression=%s instances %zu %lu same %d",
		 (unsigned long)counter.handle, info.name, info.block, info.is_derived,
		 info.expression, instances, (unsigned long)more.instance_count,
		 more.size == sizeof(more) && !strcmp(info.name, more.name) &&
			 !strcmp(info.description, more.description));
	if (!more.dimensions || !more.instances)
		log_line("wrong lists of %s", info.name);
	for (uint64_t i = 0; i < more.instance_count; i++)
		show_places(more.instances[i]);
	log_line("asked %d",
		 rocprofiler_iterate_counter_dimensions(counter, show_dimensions, NULL));
}

static int show_counters(handle_t of, handle_t *counters, size_t count, void *data)
{
	(void)data;
	log_line("counters %lu %zu first %lu", (unsigned long)of.handle, count,
		 (unsigned long)counters[0].handle);
	for (size_t i = 0; !listed_count && i < count && i < LISTED_MAX; i++)
		listed[i] = counters[i];
	listed_count = listed_count ? listed_count : count;
	/* It is ours to write into. */
	memset(counters, 0xee, count * sizeof(counters[0]));
	return 0;
}

static int show_agents(int version, const void **agents, size_t count, void *data)
{
	(void)version, (void)data;
	for (size_t i = 0; i < count; i++) {
		handle_t one = { *(const uint64_t *)((const char *)agents[i] + 8) };
		int r = rocprofiler_iterate_agent_supported_counters(one, show_counters, NULL);

		if (r)
			log_line("none %lu %d", (unsigned long)one.handle, r);
		else if (!agent.handle)
			agent = one;
	}
	return 0;
}

static handle_t named(const char *name)
{
	for (size_t i = 0; i < listed_count; i++) {
		info_0_t info;

		MUST(rocprofiler_query_counter_info(listed[i], 1, &info));
		if (!strcmp(info.name, name))
			return listed[i];
	}
	return (handle_t){ 0 };
}

static void make_configs(void)
{
	handle_t waves = named("SQ_WAVES"), share = named("HIT_SHARE"), itself = named("ITSELF");
	handle_t three[] = { named("GRBM_COUNT"), named("GRBM_GUI_ACTIVE"),
			     named("GRBM_SPI_BUSY") };
	handle_t two[] = { waves, share }, unknown = { 60000 };
	handle_t config = { 0 }, none = { 0 }, second = { 0 };
	int r = rocprofiler_create_counter_config(agent, two, 2, &config);

	second = config;
	log_line("config %d %d", r, config.handle > 0);
	r = rocprofiler_create_counter_config(agent, three, 2, &second);
	log_line("second %d %d", r, second.handle != config.handle);
	log_line("refused %d %d %d %d %d",
		 rocprofiler_create_counter_config(agent, three, 3, &none),
		 rocprofiler_create_counter_config(agent, &unknown, 1, &none),
		 rocprofiler_create_counter_config((handle_t){ 7 }, two, 2, &none),
		 rocprofiler_create_counter_config(agent, &itself, 1, &none),
		 rocprofiler_create_counter_config(agent, two, 2, NULL));
	r = rocprofiler_destroy_counter_config(config);
	log_line("destroyed %d %d %d", r, rocprofiler_destroy_counter_config(config),
		 rocprofiler_destroy_counter_config(second));
}

static int create(const char *name, const char *expression, handle_t *ret)
{
	return rocprofiler_create_counter(name, strlen(name), expression, strlen(expression),
					  "of ours", 7, agent, ret);
}

/* Its dimension is gone; of several it stays. */
static void select_one(void)
{
	handle_t one = { 0 }, two = { 0 };

	MUST(create("ONE_XCC", "select(TCC_HIT,[DIMENSION_XCC=[1]])", &one));
	MUST(create("TWO_XCCS", "select(TCC_HIT,[DIMENSION_XCC=[0:1]])", &two));
	show_counter(one);
	show_counter(two);
}

/* What a tool makes of other counters; and what is none. */
static void create_counters(void)
{
	static const char *const wrong[] = {
		"NO_SUCH",
		"",
		"2*",
		"(SQ_WAVES",
		"SQ_WAVES)",
		"reduce(SQ_WAVES,median)",
		"select(SQ_WAVES,[DIMENSION_XCC=[64]])",
		"select(SQ_WAVES,[DIMENSION_XCC=[3:1]])",
		"accumulate(TCC_HIT_sum,HIGH_RES)",
		"accumulate(TCC_HIT,HIGH_RES)",
		"ITSELF+1",
	};
	static char deep[4096], wide[16384];
	handle_t made = { 0 }, again = { 0 }, none = { 0 }, config = { 0 };
	unsigned refused = 0, many = 0;
	int r = create("TWICE", "2*reduce( TCC_HIT ,sum)", &made);
	int same = create("TWICE", "2*reduce( TCC_HIT ,sum)", &again);

	log_line("created %d same %d %d other %d", r, same, made.handle == again.handle,
		 create("TWICE", "3", &none));
	show_counter(made);
	/* With its zero, and what stands behind it. */
	again.handle = 0;
	r = rocprofiler_create_counter("TWICE\0X", 7, "2*reduce( TCC_HIT ,sum)\0", 24, "of ours", 8,
				       agent, &again);
	log_line("zero %d %d", r, made.handle == again.handle);
	select_one();
	r = create("FOUR", "TWICE*2+0.5-1/2", &again);
	log_line("of created %d %d", r,
		 rocprofiler_create_counter_config(agent, &again, 1, &config));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		refused += create("WRONG", wrong[i], &none) != 0;
	memset(deep, '(', sizeof(deep) - 1);
	memset(wide, '+', sizeof(wide) - 1);
	for (size_t i = 0; i < sizeof(wide) - 1; i += 2)
		wide[i] = '1';
	wide[sizeof(wide) - 2] = '\0';
	log_line("nonsense %u deep %d wide %d agent %d null %d", refused,
		 create("DEEP", deep, &none), create("WIDE", wide, &none),
		 rocprofiler_create_counter("A", 1, "1", 1, NULL, 0, (handle_t){ 7 }, &none),
		 create("NULL", "1", NULL));
	memset(wide, 'x', sizeof(wide) - 1);
	while (!rocprofiler_create_counter("LONG_0123456789" + many, 15 - many, "1", 1, wide, 16000,
					   agent, &none))
		many++;
	log_line("long %u same %d", many, create("LONG_0123456789", "1", &again));
	show_counter(again);
	for (many = 0; many < 100; many++) {
		char name[16];

		snprintf(name, sizeof(name), "MANY_%u", many);
		if (create(name, "SQ_WAVES+1", &none))
			break;
	}
	log_line("room for %u", many);
}

static int initialize(void (*finalize)(client_t), void *data)
{
	info_0_t info;

	(void)finalize, (void)data;
	MUST(rocprofiler_query_available_agents(1, show_agents, 312, NULL));
	log_line(
		"unknown %d %d %d", rocprofiler_query_counter_info((handle_t){ 60000 }, 1, &info),
		rocprofiler_query_counter_info(listed[0], 9, &info),
		rocprofiler_iterate_agent_supported_counters((handle_t){ 7 }, show_counters, NULL));
	for (size_t i = 0; i < listed_count && i < LISTED_MAX; i++)
		show_counter(listed[i]);
	make_configs();
	if (agent.handle)
		create_counters();
	log_line("end");
	return 0;
}

static void finalize_tool(void *data)
{
	(void)data;
}

tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
			      client_t *client)
{
	static tool_t tool = { sizeof(tool), initialize, finalize_tool, NULL };

	(void)version, (void)text, (void)priority;
	client->name = "counters";
	return &tool;
}
