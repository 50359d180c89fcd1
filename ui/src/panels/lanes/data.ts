// The data of the lanes: states of threads in bins of time, spans of calls and of GPU work, and their causes.

import type { Table } from "../../core/columns";
import { clean } from "../../core/text";
import type { Range } from "../../core/view";

export interface States {
	range: Range;
	bins: number;
	threads: ArrayLike<number>;
	running: ArrayLike<number>;
	runnable: ArrayLike<number>;
	blocked: ArrayLike<number>;
	hasOffCpu: boolean;
}

export interface Lane {
	number: number;
	title: string;
	type: string;
	thread: number;
	depth: number;
	/** Spans of the lane: from first to last, by beginning. */
	spans: number[];
}

export interface Spans {
	range: Range;
	lanes: Lane[];
	level: ArrayLike<number>;
	begin: ArrayLike<number>;
	end: ArrayLike<number>;
	name: ArrayLike<number>;
	names: string[];
	correlation: ArrayLike<number>;
	count: ArrayLike<number>;
	size: number;
}

export interface Flow {
	fromLane: number;
	fromLevel: number;
	fromTime: number;
	toLane: number;
	toLevel: number;
	toTime: number;
	correlation: number;
}

export function statesRead(table: Table, range: Range): States {
	const threads = table.numbers("thread");
	return {
		range, threads, bins: threads.length ? Math.floor(table.numbers("running").length / threads.length) : 0,
		running: table.numbers("running"), runnable: table.numbers("runnable"), blocked: table.numbers("blocked"),
		hasOffCpu: table.meta["has_off_cpu"] === true || table.meta["has_off_cpu"] === 1,
	};
}

function lanesRead(table: Table): Lane[] {
	const list = Array.isArray(table.meta["lanes"]) ? table.meta["lanes"] as Record<string, unknown>[] : [];
	return list.map(one => ({
		number: Number(one["number"]), title: clean(String(one["title"] ?? "")), type: String(one["type"] ?? "calls"),
		thread: Number(one["thread"] ?? -1), depth: Math.max(1, Math.min(64, Number(one["depth"] ?? 1))), spans: [],
	}));
}

export function spansRead(table: Table, range: Range): Spans {
	const lanes = lanesRead(table), byNumber = new Map(lanes.map(lane => [lane.number, lane]));
	const lane = table.numbers("lane");
	for (let i = 0; i < lane.length; i++)
		byNumber.get(lane[i])?.spans.push(i);
	return {
		range, lanes, size: lane.length, level: table.numbers("level"), begin: table.numbers("begin"), end: table.numbers("end"),
		name: table.numbers("name"), names: table.strings("names").map(clean), correlation: table.numbers("correlation"),
		count: table.numbers("count"),
	};
}

export function flowsRead(table: Table): Flow[] {
	const columns = ["from_lane", "from_level", "from_time", "to_lane", "to_level", "to_time", "correlation"].map(name => table.numbers(name));
	return Array.from(columns[0], (_, i) => {
		const [fromLane, fromLevel, fromTime, toLane, toLevel, toTime, correlation] = columns.map(column => column[i]);
		return { fromLane, fromLevel, fromTime, toLane, toLevel, toTime, correlation };
	});
}
