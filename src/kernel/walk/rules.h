/*
 * Finds the rule of an address in the host's tables; caches found rules.
 */
#pragma once

#include "kernel/walk/state.h"

#define RANGE_STEPS 13 /* binary search in up to KERNEL_RANGES_MAX */
#define ROW_STEPS   9  /* binary search in a page's rows: at most one for each byte */
#define MET_BITS    14 /* log2 of the number of rules cached for all processors */

/* A cache shared by all processors: large programs return to more addresses than fit into a walk,
 * and a search reads a dozen uncached lines of memory. If two processors write an entry at once,
 * its two words do not match, and it counts for no address. */
struct met_rule {
	__u64 key;  /* the address, xored with a hash of the other word */
	__u64 rule; /* generation, cfa, fp, kind */
};

MAP(met_rules, BPF_MAP_TYPE_ARRAY, 1 << MET_BITS, struct met_rule);

ALWAYS_INLINE int range_find(struct walk *walk, __u64 address)
{
	__u32 low = walk->first_range, high = low + walk->range_count, end = high;
	struct kernel_range *range;

	if (address >= walk->range.start && address < walk->range.end)
		return 1;
	for (int i = 0; i < RANGE_STEPS && low < high; i++) {
		__u32 middle = low + (high - low) / 2;

		range = bpf_map_lookup_elem(&ranges, &middle);
		if (range && range->end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	range = low < end ? bpf_map_lookup_elem(&ranges, &low) : 0;
	if (!range || range->start > address || range->end <= address)
		return 0;
	walk->range = *range;
	return 1;
}

/* The rule of an address in walk->range; UNWIND_NONE if there is none. */
ALWAYS_INLINE struct unwind_row row_find(const struct walk *walk, __u64 address)
{
	__u64 offset = address - walk->range.base, number = offset >> UNWIND_PAGE_BITS;
	struct unwind_row none = { .kind = walk->range.is_made ? UNWIND_NEWER : UNWIND_NONE }, *row;
	__u32 key = walk->range.page + (__u32)number, low, high;
	struct kernel_page *page;

	if (number >= walk->range.page_count)
		return none;
	page = bpf_map_lookup_elem(&pages, &key);
	if (!page)
		return none;
	low = page->first;
	high = page->last;
	for (int i = 0; i < ROW_STEPS && low < high; i++) {
		__u32 middle = low + (high - low + 1) / 2;

		row = bpf_map_lookup_elem(&rows, &middle);
		if (row && row->pc <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	row = bpf_map_lookup_elem(&rows, &low);
	return row && row->pc <= offset ? *row : none;
}

/* The cache entry of this address, which other addresses share. */
ALWAYS_INLINE struct known_rule *known_slot(struct walk *walk, __u64 address)
{
	__u64 at = (__u32)address * 0x9e3779b1u >> (32 - KNOWN_BITS);

	BOUND(at, (1 << KNOWN_BITS) - 1);
	return &walk->known[at];
}

ALWAYS_INLINE int is_known(const struct walk *walk, const struct known_rule *rule, __u64 address)
{
	return rule->address == address && rule->generation == walk->generation;
}

ALWAYS_INLINE struct met_rule *met_slot(__u64 address)
{
	__u32 at = (__u32)address * 0x9e3779b1u >> (32 - MET_BITS);

	return bpf_map_lookup_elem(&met_rules, &at);
}

ALWAYS_INLINE __u64 met_key(__u64 address, __u64 rule)
{
	return address ^ rule * 0x9e3779b97f4a7c15u;
}

/* The rule of an address cached by any processor; false: none. */
ALWAYS_INLINE int met_find(const struct walk *walk, __u64 address, struct known_rule *ret)
{
	const volatile struct met_rule *met = met_slot(address);
	__u64 key, rule;

	if (!met)
		return 0;
	key = met->key;
	rule = met->rule;
	if (key != met_key(address, rule) || rule >> 32 != walk->generation)
		return 0;
	*ret = (struct known_rule){ address, walk->generation, rule >> 16, rule >> 8, rule };
	return 1;
}

ALWAYS_INLINE void met_keep(const struct known_rule *known)
{
	volatile struct met_rule *met = met_slot(known->address);
	__u64 rule = (__u64)known->generation << 32 | (__u64)known->cfa << 16 |
		     (__u64)(__u8)known->fp << 8 | known->kind;

	if (!met)
		return;
	met->rule = rule;
	met->key = met_key(known->address, rule);
}

/* Rules of these two kinds are incomplete without their range. */
ALWAYS_INLINE int is_whole(struct unwind_row row)
{
	__u8 kind = row.kind & UNWIND_KIND_MASK;

	return kind != UNWIND_NONE && kind != UNWIND_SPECIAL;
}
