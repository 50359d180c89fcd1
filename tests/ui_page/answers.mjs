// Answers of a made-up process, for tests of the page alone: every shape the page knows, hostile names among them.

import { readFileSync } from "node:fs";
import { tableWrite } from "./columns.mjs";
import { randomFrom, randomTree } from "./random_tree.mjs";

export const HOSTILE = ["<img src=x onerror=document.title='hurt'>", "\u202egnp.exe", "evil\u0007\u200bname"];
const SECOND = 1e9;
const END = 42 * SECOND;

export function process(pid, name, more = {}) {
	return {
		pid, start: pid * 10, name, command: `/usr/bin/${name} --serve`, executable: `/usr/bin/${name}`, user: "www-data", uid: 33, state: "S", threads: 4,
		cpu_ns: pid * 1e7, cpu_permille: 5, parent: 1, runtimes: [], traces: [], language: "", attachable: true, error: "", why: "", fix: "", sampled: false, ...more,
	};
}

export function processes(time) {
	const busy = (share, base) => base + share * time;
	return [
		process(1, "systemd", { parent: 0, user: "root", attachable: false, why: "it belongs to root", fix: "sudo limpet ui 1\nlimpet doctor --setup" }),
		process(812, "nginx", { threads: 1 }), process(813, "nginx", { parent: 812, cpu_ns: busy(0.31, 5e9) }),
		process(4711, "redis-server", { user: "redis", cpu_ns: busy(0.87, 8e9), threads: 5 }),
		process(5120, "python3", { language: "python", runtimes: ["hip", "hsa"], traces: [["hip", "HIP"]], cpu_ns: busy(0.42, 9e9), user: "ada", threads: 12 }),
		process(5200, "random"), process(5210, "narrow"),
		process(5300, "java", { language: "java", threads: 61, cpu_ns: busy(0.12, 99e9), user: "ada" }),
		process(6000, HOSTILE[0], { command: HOSTILE[1], user: "mallory" }), process(6001, HOSTILE[1]), process(6002, HOSTILE[2]),
		...Array.from({ length: 60 }, (_, i) => process(7000 + i, `worker-${i}`, { parent: 812, cpu_ns: busy(i % 7 / 100, 1e8) })),
	];
}

/** The table that limpet answers from, as the server writes it. */
const table = readFileSync(new URL("../../src/host/model/samples/frame_languages.def", import.meta.url), "utf8");
const shades = ([hue, saturation, lightness], step) => [0, 1, 2].map(i => `hsl(${hue} ${saturation}% ${lightness + i * step}%)`);
export const LANGUAGES = [...table.matchAll(/^FRAME_LANGUAGE\(\w+, "(\w+)", "([^"]+)", \(([^)]+)\), \(([^)]+)\)/gm)].map(([, name, title, light, dark], number) => ({
	number, name, title, light: shades(light.split(", ").map(Number), 2), dark: shades(dark.split(", ").map(Number), -2),
}));

const FUNCTIONS = [
	["main", "redis-server", [1]], ["aeMain", "redis-server", [2]], ["aeProcessEvents", "redis-server", [3, 12, 10]],
	["readQueryFromClient", "redis-server", [4]], ["processInputBuffer", "redis-server", [5]], ["processCommand", "redis-server", [6, 16]],
	["call", "redis-server", [7, 8, 9]], ["setCommand", "redis-server", [14, 15]], ["getCommand", "redis-server", [15]],
	["hgetallCommand", "redis-server", [14]], ["epoll_wait", "libc.so.6", [11]], ["do_epoll_wait", "[kernel]", []],
	["writeToClient", "redis-server", [13]], ["write", "libc.so.6", [17]], ["malloc", "libjemalloc.so.2", []], ["dictFind", "redis-server", []],
	["lookupCommand", "redis-server", []], ["tcp_sendmsg", "[kernel]", [18]], ["ip_queue_xmit", "[kernel]", []],
];

/** A tree with given weights, hostile frames, an incomplete stack and a trimmed node. */
export function flame(scale, kind = "cpu", isDiff = false) {
	const names = ["", ...FUNCTIONS.map(one => one[0]), "redis-server", "libc.so.6", "[kernel]", "libjemalloc.so.2", ...HOSTILE, "t_string.c"];
	const moduleAt = new Map(["redis-server", "libc.so.6", "[kernel]", "libjemalloc.so.2"].map(name => [name, names.indexOf(name)]));
	const rows = [];
	const add = (parent, name, module, type, self, line = 0) => rows.push({ parent, name, module, type, self, line }) - 1;
	add(0, 0, 0, 0, 0);
	const grow = (parent, which, weight, depth) => {
		const [, module, below] = FUNCTIONS[which];
		const own = below.length ? weight * 0.12 : weight;
		const node = add(parent, which + 1, moduleAt.get(module), 3, own, 100 + which);
		below.forEach((next, i) => depth < 30 && grow(node, next, (weight - own) * [0.55, 0.3, 0.15][i] / [1, 0.85, 1][below.length - 1], depth + 1));
	};
	grow(0, 0, 30e9 * scale, 0);
	const odd = add(0, 0, 0, 2, 0);
	HOSTILE.forEach((name, i) => add(odd, names.indexOf(name), moduleAt.get("libc.so.6"), 3, (i + 1) * 1e9 * scale));
	add(0, 0, 0, 4, 0.4e9 * scale);
	const total = rows.reduce((sum, row) => sum + row.self, 0);
	const columns = {
		up: ["u32", rows.map((row, i) => i - row.parent)], name: ["u32", rows.map(row => row.name)], module: ["u32", rows.map(row => row.module)],
		type: ["u8", rows.map(row => row.type)], language: ["u8", rows.map(row => Number(row.module === moduleAt.get("[kernel]")))], self: ["f64", rows.map(row => row.self)], count: ["f64", rows.map(row => Math.round(row.self / 1e7))],
		line: ["u32", rows.map(row => row.line)], file: ["u32", rows.map(row => row.line ? names.indexOf("t_string.c") : 0)], names: ["strings", names],
	};
	const meta = { unit: kind === "alloc" ? "bytes" : "ns", total, samples: Math.round(total / 1e7), incomplete: 600, trimmed: 0.4e9 * scale, trimmed_nodes: 37, kind, empty: "", from: 0, to: END, languages: LANGUAGES };
	if (isDiff) {
		delete meta.languages;
		const other = rows.map((row, i) => row.self * (1 + 0.9 * Math.sin(i * 1.7)));
		Object.assign(columns, { self_b: ["f64", other], count_b: ["f64", other.map(one => Math.round(one / 1e7))] });
		const totalB = other.reduce((sum, one) => sum + one, 0);
		Object.assign(meta, { total_b: totalB, samples_b: Math.round(totalB / 1e7) });
	}
	return tableWrite(meta, columns);
}

/** A tree of which each frame has a name of its own; flame.mjs makes the same one. */
export function flameRandom(seed) {
	const { parent, self, names } = randomTree(randomFrom(seed), 700), total = self.reduce((sum, one) => sum + one, 0);
	const zeros = ["u32", parent.map(() => 0)];
	return tableWrite({ unit: "ns", total, samples: 700, incomplete: 0, trimmed: 0, trimmed_nodes: 0, kind: "cpu", empty: "", from: 0, to: END, languages: LANGUAGES }, {
		language: ["u8", parent.map((_, i) => i % 5)], up: ["u32", parent.map((one, i) => i - one)], name: ["u32", parent.map((_, i) => i)], module: zeros, type: ["u8", parent.map((_, i) => i ? 3 : 0)],
		self: ["f64", self], count: ["f64", self.map(() => 1)], line: zeros, file: zeros, names: ["strings", names],
	});
}

const THREADS = ["redis-server", "bio_close_file", "bio_aof", "bio_lazy_free", HOSTILE[0]];

export function threads() {
	const f = value => ["f64", THREADS.map((_, i) => value / (i + 1))];
	return tableWrite({ empty: "" }, {
		number: ["u32", THREADS.map((_, i) => i)], pid: ["u32", THREADS.map(() => 4711)], tid: ["u32", THREADS.map((_, i) => 4711 + i)], name: ["strings", THREADS],
		process: ["strings", THREADS.map(() => "redis-server")], samples: f(3000), on_cpu_ns: f(30e9), waited_ns: f(11e9), runnable_ns: f(1e9), disk_ns: f(1e8), incomplete: f(30),
	});
}

export function session(id, state, end, more = {}) {
	return {
		id, kind: state === "file" ? "file" : "live", state, name: "redis-server", pid: 4711, file: state === "file" ? "redis.limpet" : "", start_unix_ms: 1, begin_ns: 0, end_ns: end,
		oldest_ns: 0, hz: 99, off_cpu: true, sampler: "bpf", sampler_why: "eBPF: allowed", samples: Math.round(end / 1e7), lost: 0, forgotten: 0, incomplete: 120,
		stack_ends: { complete: 4000, "no-table": 120 }, unnamed: 3, guessed: 0, traces: [], calls: 0, dropped: 0, kinds: ["cpu", "off-cpu", "wall", "gpu"], overhead_percent: 0.8,
		error: "", is_damaged: "", ...more,
	};
}

const load = time => 60 + 35 * Math.sin(time / 2.2e9) + 18 * Math.sin(time / 0.31e9);
const memory = time => 64e6 + 8e6 * Math.sin(time / 9e9) + time / 1e3;

export function live(id, state, since, end, changed, more) {
	const times = [];
	for (let time = since ? Math.floor(since / 1e8) * 1e8 + 1e8 : 0; time <= end; time += 1e8)
		times.push(time);
	return {
		session: session(id, state, end, more), now_ns: end, since: end, changed, cpu_percent: load(end), rss_bytes: memory(end),
		threads: THREADS.map((name, number) => ({ number, tid: 4711 + number, name, state: number ? "S" : "R", percent: number ? 3 / number : load(end), samples: Math.round(end / 1e7), on_cpu_ns: end / 2 })),
		curves: { time_ns: times, cpu_percent: times.map(load), rss_bytes: times.map(memory), threads: times.map(() => 5) },
		top: FUNCTIONS.slice(3, 16).map(([name, module], i) => ({ name, module, self_ns: 4e9 / (i + 1), total_ns: 6e9 / (i + 1) })),
	};
}

export function functions() {
	const rows = FUNCTIONS.map(([name, module], i) => [name, module, 12e9 / (i + 1)]).concat(HOSTILE.map(name => [name, "libc.so.6", 1e8]));
	return tableWrite({ total: 42e9, samples: 4200, more: 0, unit: "ns", empty: "" }, {
		name: ["strings", rows.map(row => row[0])], module: ["strings", rows.map(row => row[1])], named: ["u8", rows.map(() => 1)], self: ["f64", rows.map(row => row[2])],
		total: ["f64", rows.map(row => row[2] * 1.6)], self_count: ["f64", rows.map(row => row[2] / 1e7)], total_count: ["f64", rows.map(row => row[2] / 1e7)], self_error: ["f64", rows.map(() => 0.7)],
	});
}

export function sandwich() {
	return tableWrite({ self: 2e9, total: 6e9 }, { role: ["u8", [2, 2]], name: ["strings", ["t_string.c", "t_string.c"]], module: ["strings", ["", ""]], line: ["u32", [92, 117]], self: ["f64", [2e9, 1e9]], total: ["f64", [4e9, 2e9]] });
}

export function heatmap(from, to, cellMs) {
	const cell = cellMs * 1e6, cells = Math.max(0, Math.ceil((to - from) / cell));
	const value = Array.from({ length: cells }, (_, i) => Math.max(0, cell * load(from + i * cell) / 100 * (i % 50 < 34 ? 1 : 0.25)));
	return tableWrite({ cell_ns: cell, cells, max: Math.max(1, ...value), unit: "ns", empty: "" }, { value: ["f64", value] });
}

export function timeline(from, to, width) {
	const bin = (to - from) / width, running = [], runnable = [], blocked = [];
	THREADS.forEach((_, thread) => {
		for (let i = 0; i < width; i++) {
			const time = from + i * bin, share = thread ? (Math.sin(time / (0.4e9 + thread * 1e8)) > 0.8 ? 0.8 : 0) : Math.min(1, load(time) / 100);
			running.push(255 * Math.max(0, share));
			runnable.push(thread === 1 && i % 97 < 9 ? 255 : 0);
			blocked.push(255 * (1 - Math.max(0, share)));
		}
	});
	return tableWrite({ bin_ns: bin, has_off_cpu: true, empty: "" }, { thread: ["u32", THREADS.map((_, i) => i)], running: ["u8", running], runnable: ["u8", runnable], blocked: ["u8", blocked] });
}

const STEP = 0.9e9;

function launches(from, to) {
	const made = [];
	for (let i = Math.ceil(from / STEP); i * STEP < to; i++)
		made.push({ correlation: i + 1, call: i * STEP, kernel: i * STEP + 0.2e9, end: i * STEP + 0.75e9 });
	return made;
}

export function spans(from, to) {
	const rows = [], names = ["hipLaunchKernel", "gemm_f16_kernel", "copy H2D", "launch_batch", "step"];
	for (const one of launches(from, to)) {
		rows.push([0, 0, one.call, one.call + 0.12e9, 3, one.correlation, 1], [0, 1, one.call + 0.02e9, one.call + 0.1e9, 0, one.correlation, 1]);
		rows.push([1, 0, one.kernel, one.end, 1, one.correlation, 1], [2, 0, one.call - 0.05e9, one.call + 0.3e9, 2, 0, 1]);
		for (let i = 0; i < 80; i++)
			rows.push([0, 2, one.call + i * 2e6, one.call + i * 2e6 + 4e5, 0, 0, 3]);
	}
	const lanes = [["HIP calls", "calls", 0, 3], ["GPU 0 queue 1", "queue", -1, 1], ["GPU 0 copies", "copies", -1, 1]].map(([title, type, thread, depth], number) => ({ number, title, type, thread, depth, spans: 1 }));
	const column = (type, at) => [type, rows.map(row => row[at])];
	return tableWrite({ lanes, domains: ["hip"], empty: "" }, { lane: column("u32", 0), level: column("u8", 1), begin: column("f64", 2), end: column("f64", 3), name: column("u32", 4), correlation: column("f64", 5), count: column("u32", 6), names: ["strings", names] });
}

export function flows(from, to) {
	const rows = launches(from, to).map(one => [0, 1, one.call + 0.1e9, 1, 0, one.kernel, one.correlation]);
	const names = [["from_lane", "u32"], ["from_level", "u8"], ["from_time", "f64"], ["to_lane", "u32"], ["to_level", "u8"], ["to_time", "f64"], ["correlation", "f64"]];
	return tableWrite({}, Object.fromEntries(names.map(([name, type], at) => [name, [type, rows.map(row => row[at])]])));
}

/** One counter, of which the middle third was not counted. */
export function counters(from, to, width) {
	const step = (to - from) / width, times = Array.from({ length: width }, (_, i) => from + i * step).filter((_, i) => i < width / 3 || i > width * 2 / 3);
	const metrics = [{ number: 0, title: "instructions <b>", name: "instructions", source: "perf", subject: "", description: "retired", form: "count", unit: "/s", pid: 4711 }];
	return tableWrite({ metrics, step_ns: step, left_out: 0 }, { metric: ["u32", times.map(() => 0)], time: ["f64", times], value: ["f64", times.map(time => 2.5e9 * load(time) / 100)] });
}

export function curves(end) {
	const times = Array.from({ length: 420 }, (_, i) => i * end / 420);
	return tableWrite({ empty_rss: "" }, { time: ["f64", times], cpu_percent: ["f64", times.map(load)], rss_bytes: ["f64", times.map(memory)], threads: ["f64", times.map(() => 5)] });
}

export function stack(time) {
	const frames = [0, 1, 2, 3, 4, 5, 6, 7].map(i => ({ name: FUNCTIONS[i][0], module: FUNCTIONS[i][1], file: "server.c", line: 100 + i, inlined: i === 4 }));
	return { found: true, time_ns: time, begin_ns: time - 1e7, kind: "cpu", state: "R", frames, complete: true };
}

export function span(correlation) {
	return {
		found: true, call: { name: "hipLaunchKernel", thread: 0, begin_ns: correlation * STEP, end_ns: correlation * STEP + 1e8, values: {}, frames: stack(0).frames },
		work: [{ name: "gemm_f16_kernel", lane: 1, begin_ns: 1, end_ns: 2, values: { grid: "128,1,1", block: "256,1,1" } }],
	};
}

/** A tree of so many frames: each has up to four children, deep and wide. */
export function flameLarge(size) {
	const names = ["", "large.so", ...Array.from({ length: 3000 }, (_, i) => `function_${i}`)];
	const parent = new Uint32Array(size), self = new Float64Array(size);
	const order = [];
	const visit = node => {
		for (let child = node * 3 + 1; child <= node * 3 + 3 && child < size; child++) {
			order.push([child, node]);
			visit(child);
		}
	};
	visit(0);
	const index = new Map([[0, 0]]);
	order.forEach(([child, above], i) => {
		index.set(child, i + 1);
		parent[i + 1] = index.get(above);
		self[i + 1] = 1e6 * (1 + child % 13);
	});
	const all = Array.from({ length: size }, (_, i) => i), total = self.reduce((sum, one) => sum + one, 0);
	return tableWrite({ unit: "ns", total, samples: size, trimmed: 0, trimmed_nodes: 0, empty: "" }, {
		up: ["u32", all.map(i => i - parent[i])], name: ["u32", all.map(i => 2 + i * 7 % 3000)], module: ["u32", all.map(() => 1)], type: ["u8", all.map(i => i ? 3 : 0)],
		self: ["f64", self], count: ["f64", all.map(() => 1)], line: ["u32", all.map(() => 0)], file: ["u32", all.map(() => 0)], names: ["strings", names],
	});
}

/** So many chains of calls that no frame is wider than three pixels: 8,182 frames on a page of 1,360 pixels. */
export function flameNarrow(turn) {
	const chains = 584, depth = 14, parent = [0], self = [0], names = ["", "narrow.so"], name = [0];
	for (let chain = 0; chain < chains; chain++) {
		for (let level = 0; level < depth; level++) {
			parent.push(level ? parent.length - 1 : 0);
			self.push(level === depth - 1 || level % 5 === 4 ? 1e6 * (1 + (chain + turn) % 3) : 0);
			name.push(names.push(`frame_${chain}_of_level_${level}`) - 1);
		}
	}
	const all = parent.map((_, i) => i), total = self.reduce((sum, one) => sum + one, 0);
	return tableWrite({ unit: "ns", total, samples: total / 1e7, incomplete: 0, trimmed: 0, trimmed_nodes: 0, kind: "cpu", empty: "", languages: LANGUAGES }, {
		up: ["u32", all.map(i => i - parent[i])], name: ["u32", name], module: ["u32", all.map(i => i ? 1 : 0)], type: ["u8", all.map(i => i ? 3 : 0)],
		language: ["u8", all.map(i => i % 3)], self: ["f64", self], count: ["f64", all.map(() => 1)], line: ["u32", all.map(() => 0)], file: ["u32", all.map(() => 0)],
		names: ["strings", names],
	});
}

/** What a server makes of a million spans in 40 lanes: one for each pixel of each lane. */
export function spansLarge(from, to, width) {
	const count = 40, step = (to - from) / width, rows = { lane: [], level: [], begin: [], end: [], name: [], correlation: [], count: [] };
	for (let lane = 0; lane < count; lane++) {
		for (let i = 0; i < width; i++) {
			rows.lane.push(lane);
			rows.begin.push(from + i * step);
			rows.end.push(from + (i + 0.7) * step);
			rows.name.push(i * 31 % 50);
		}
	}
	const zero = rows.lane.map(() => 0), lanes = Array.from({ length: count }, (_, number) => ({ number, title: `queue ${number}`, type: "queue", thread: -1, depth: 1, spans: 25_000 }));
	return tableWrite({ lanes, domains: [], empty: "" }, {
		lane: ["u32", rows.lane], level: ["u8", zero], begin: ["f64", rows.begin], end: ["f64", rows.end], name: ["u32", rows.name], correlation: ["f64", zero],
		count: ["u32", rows.lane.map(() => 25)], names: ["strings", Array.from({ length: 50 }, (_, i) => `kernel_${i}`)],
	});
}
