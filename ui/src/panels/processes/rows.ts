// The processes as a tree of rows: filtered ones stay below their parents.

import { matcherOf } from "../../core/search";
import type { Process } from "../../core/types";

export interface Row {
	process: Process;
	level: number;
	/** Processor time between the last two answers, in percent of one processor; -1 while there is one answer only. */
	percent: number;
	hasChildren: boolean;
	/** False: shown only for a descendant. */
	isMatch: boolean;
}

function searched(process: Process): string {
	return [process.pid, process.name, process.command, process.user, process.language, ...process.runtimes].join(" ");
}

/** Processes that match, and the ones above them where `isTree`. */
export function rowsMake(processes: readonly Process[], filter: string, isTree: boolean, percents: Map<number, number>): Row[] {
	const matcher = matcherOf(filter), byPid = new Map(processes.map(one => [one.pid, one]));
	const kept = new Set<number>(), matches = new Set<number>();
	for (const one of processes) {
		if (matcher && !matcher(searched(one)))
			continue;
		matches.add(one.pid);
		for (let at: Process | undefined = one; at && !kept.has(at.pid); at = isTree ? byPid.get(at.parent) : undefined)
			kept.add(at.pid);
	}
	const shown = processes.filter(one => kept.has(one.pid));
	const rows = isTree ? treeRows(shown, percents) : flatRows(shown, percents);
	return rows.map(row => ({ ...row, isMatch: matches.has(row.process.pid) }));
}

function rowOf(process: Process, level: number, percents: Map<number, number>, hasChildren: boolean): Row {
	return { process, level, percent: percents.get(process.pid) ?? -1, hasChildren, isMatch: true };
}

function flatRows(shown: readonly Process[], percents: Map<number, number>): Row[] {
	const busy = (one: Process): number => percents.get(one.pid) ?? 0;
	return [...shown].sort((a, b) => Math.round(busy(b)) - Math.round(busy(a)) || b.cpu_ns - a.cpu_ns)
		.map(one => rowOf(one, 1, percents, false));
}

function treeRows(shown: readonly Process[], percents: Map<number, number>): Row[] {
	const byParent = new Map<number, Process[]>(), pids = new Set(shown.map(one => one.pid));
	for (const one of shown) {
		const parent = pids.has(one.parent) && one.parent !== one.pid ? one.parent : 0;
		byParent.set(parent, [...byParent.get(parent) ?? [], one]);
	}
	const rows: Row[] = [];
	const add = (parent: number, level: number): void => {
		for (const one of (byParent.get(parent) ?? []).sort((a, b) => a.pid - b.pid)) {
			rows.push(rowOf(one, level, percents, byParent.has(one.pid)));
			add(one.pid, level + 1);
		}
	};
	add(0, 1);
	return rows;
}

/** Percent of one processor since the answer before. */
export function percentsMake(before: { time_ns: number; processes: readonly Process[] } | null,
	now: { time_ns: number; processes: readonly Process[] }): Map<number, number> {
	const percents = new Map<number, number>();
	const passed = before ? now.time_ns - before.time_ns : 0;
	if (!before || passed <= 0)
		return percents;
	const old = new Map(before.processes.map(one => [one.pid, one]));
	for (const one of now.processes) {
		const then = old.get(one.pid);
		if (then && then.start === one.start)
			percents.set(one.pid, Math.max(0, 100 * (one.cpu_ns - then.cpu_ns) / passed));
	}
	return percents;
}
