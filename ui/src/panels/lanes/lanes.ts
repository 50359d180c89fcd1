// The timeline: for each thread whether it ran, waited for a processor or was blocked; under it its traced calls; then
// the queues of devices, with arrows from the launching call to the work; and counters as curves.

import { isShared, jsonGet, tableGet } from "../../core/api";
import type { App } from "../../core/app";
import { Surface, textFit } from "../../core/canvas";
import { spanColour, palette } from "../../core/colour";
import { h, textSet } from "../../core/dom";
import { Loader } from "../../core/loader";
import { matcherOf } from "../../core/search";
import { dragListen, panned, rangeDraw, rulerDraw, Scale, zoomed } from "../../core/scale";
import { clean, count, duration, moment } from "../../core/text";
import { tipHide, tipShow } from "../../core/tip";
import type { SpanAnswer, StackAnswer } from "../../core/types";
import type { Range } from "../../core/view";
import type { Details } from "../details/details";
import { Metric, metricAt, metricDraw, metricsRead, metricText } from "./counters";
import { Flow, flowsRead, Lane, Spans, spansRead, States, statesRead } from "./data";
import { spansPaint, statesPaint, Strips } from "./paint";

const GUTTER = 168, RULER = 18, STATE = 18, LEVEL = 15, GAP = 4;
const LEAST = 3;
const MOST_ARROWS = 300;
/** With so few counters no scrolling is needed to see the threads. */
const METRIC = 36, FEW_METRICS = 8;
const KIND_WORDS: Record<string, string> = { cpu: "running", "off-cpu": "blocked", runnable: "waiting for a processor" };

interface Row {
	top: number;
	height: number;
	title: string;
	thread: number; // index into states, or -1
	number: number; // of the thread
	lane: Lane | null;
	metric: Metric | null;
}

interface Pointed {
	row: Row;
	time: number;
	span: number;
}

export class Lanes {
	readonly element: HTMLElement;
	private readonly scroll = h("div", { class: "graph" });
	private readonly space = h("div", { class: "graph-space" });
	private readonly surface: Surface;
	private readonly legend = h("p", { class: "legend" });
	private readonly missing = h("p", { class: "message small", role: "status" });
	private readonly message = h("p", { class: "message" });
	private readonly loader: Loader;
	private readonly stackLoader: Loader;
	private states: States | null = null;
	private spans: Spans | null = null;
	private flows: Flow[] = [];
	private metrics: Metric[] = [];
	private picture: HTMLCanvasElement | null = null;
	private strips: Strips | null = null;
	private rows: Row[] = [];
	private names = new Map<number, string>();
	private dragged: Range | null = null;
	private isHeld = false;
	private correlation = 0;
	private cursor: { row: number; time: number } | null = null;
	private timer = 0;

	constructor(private readonly app: App, private readonly details: Details) {
		this.loader = new Loader(app);
		this.stackLoader = new Loader(app);
		this.surface = new Surface("timeline: arrow keys move, Enter shows the stack, a and d pan, w and s zoom", () => this.draw());
		this.surface.canvas.tabIndex = 0;
		this.surface.canvas.setAttribute("role", "application");
		this.space.append(this.surface.canvas);
		this.scroll.append(this.space);
		this.element = h("section", { class: "picture lanes", "aria-label": "timeline" }, this.legend, this.missing, this.scroll, this.message);
		new ResizeObserver(() => {
			this.fit();
			this.refresh();
		}).observe(this.scroll);
		this.scroll.addEventListener("scroll", () => this.surface.ask());
		this.listen();
		this.legendMake();
		app.on("view", () => this.refresh());
		app.on("session", () => this.refresh());
		app.on("live", () => this.follow());
		app.on("theme", () => this.repaint());
	}

	private legendMake(): void {
		for (const [kind, text] of [["running", "running"], ["runnable", "waiting for a processor"], ["blocked", "blocked"]])
			this.legend.append(h("span", { class: `swatch ${kind}` }), text);
		this.legend.append(h("span", { class: "dim" }, "drag selects · Ctrl+wheel or w/s zooms · a/d pans · click shows the stack"));
	}

	private listen(): void {
		const { canvas } = this.surface;
		dragListen(canvas, {
			scale: () => this.scale(), isTime: x => x >= GUTTER,
			range: (range, isDone) => {
				this.dragged = isDone ? null : range;
				this.surface.ask();
				if (isDone)
					this.app.show({ range: { from: Math.round(range.from), to: Math.round(range.to) } });
			},
			click: (x, y) => this.clicked(x, y),
		});
		canvas.addEventListener("pointermove", event => this.pointed(event));
		canvas.addEventListener("pointerleave", () => {
			this.isHeld = false;
			clearTimeout(this.timer);
			tipHide();
		});
		canvas.addEventListener("keydown", event => this.key(event));
		this.scroll.addEventListener("wheel", event => this.wheel(event), { passive: false });
	}

	private get isWanted(): boolean {
		return this.app.view.tab === "lanes" && this.app.session !== null;
	}

	private scale(): Scale {
		return new Scale(this.app.stretch, GUTTER, this.surface.width - 4);
	}

	private follow(): void {
		if (!this.isWanted)
			return;
		if (!this.isHeld && !this.app.view.zoom && this.app.live?.changed && this.loader.isDue()) {
			this.loader.forget();
			this.refresh();
		}
		if (!this.isHeld)
			this.surface.ask();
	}

	private refresh(): void {
		// Just shown, it has no width yet: it is called again when it has.
		if (!this.isWanted || !this.scroll.clientWidth)
			return;
		const { from, to } = this.app.stretch, width = Math.max(200, Math.round(this.scroll.clientWidth - GUTTER));
		const selection = { session: this.app.view.session, from: Math.floor(from), to: Math.ceil(to), threads: this.app.view.threads.join(","), width };
		if (!this.states)
			textSet(this.message, "Reading samples and calls …");
		const key = JSON.stringify(this.app.isRecording && !this.app.view.zoom ? { ...selection, from: 0, to: 0 } : selection);
		void this.loader.load(key, signal => Promise.all([
			tableGet("/api/timeline", selection, signal), tableGet("/api/spans", selection, signal),
			tableGet("/api/flows", { ...selection, width: undefined, limit: 2000 }, signal),
			tableGet("/api/threads", { session: selection.session }, signal), tableGet("/api/counters", { ...selection, threads: undefined }, signal),
		]), ([timeline, spans, flows, threads, counters]) => {
			const range = { from: selection.from, to: selection.to };
			this.states = statesRead(timeline, range);
			this.spans = spansRead(spans, range);
			this.flows = flowsRead(flows);
			this.metrics = metricsRead(counters);
			const numbers = threads.numbers("number"), tids = threads.numbers("tid");
			this.names = new Map(threads.strings("name").map((name, i) => [numbers[i], `${clean(name) || "unnamed"} ${tids[i]}`]));
			textSet(this.message, this.states.threads.length || this.spans.size || this.metrics.length ? "" : timeline.text("empty") || "Nothing was seen in this stretch of time.");
			textSet(this.missing, [spans.text("limited"), this.app.session?.calls ? spans.text("empty") : "", this.states.threads.length && !this.states.hasOffCpu ? "waits were not sampled: running time is by samples, each of which stands for its whole period" : "", this.unseen()].filter(Boolean).join(" · "));
			this.repaint();
			if (spans.meta.is_behind === true && !this.app.isRecording && !isShared())
				window.setTimeout(() => this.again(), 1000);
		}, why => textSet(this.message, why));
		this.surface.ask();
	}

	// Calls are read after the session has ended, too.
	private again(): void {
		this.loader.forget();
		this.refresh();
	}

	// A wait is seen when it ends: threads that sleep all the time have no lane yet.
	private unseen(): string {
		const seen = new Set(Array.from(this.states!.threads)), isAll = !this.app.view.threads.length && !this.app.view.zoom && !this.app.view.range;
		const missing = isAll && this.app.isRecording ? (this.app.live?.threads ?? []).filter(one => !seen.has(one.number)) : [];
		return missing.length ? `${missing.length === 1 ? "1 thread has" : `${missing.length} threads have`} slept all the time: not shown` : "";
	}

	private repaint(): void {
		this.picture = this.states && statesPaint(this.states);
		this.strips = this.spans && spansPaint(this.spans, this.surface.width - GUTTER, LEAST);
		this.rowsMake();
		this.fit();
	}

	private rowsMake(): void {
		this.rows = [];
		let top = RULER + GAP;
		const add = (height: number, title: string, thread: number, number: number, lane: Lane | null, metric: Metric | null = null): void => {
			this.rows.push({ top, height, title, thread, number, lane, metric });
			top += height + GAP;
		};
		const metricsAdd = (): void => this.metrics.forEach(one => add(METRIC, one.title, -1, -1, null, one));
		if (this.metrics.length <= FEW_METRICS)
			metricsAdd();
		const lanes = this.spans?.lanes ?? [], seen = new Set<Lane>();
		Array.from(this.states?.threads ?? []).forEach((number, i) => {
			add(STATE, this.names.get(number) ?? `thread ${number}`, i, number, null);
			for (const lane of lanes.filter(one => one.thread === number)) {
				seen.add(lane);
				add(lane.depth * LEVEL, lane.title, -1, number, lane);
			}
		});
		for (const lane of lanes) {
			if (!seen.has(lane))
				add(lane.depth * LEVEL, lane.title, -1, lane.thread, lane);
		}
		if (this.metrics.length > FEW_METRICS)
			metricsAdd();
	}

	private fit(): void {
		const last = this.rows[this.rows.length - 1], height = last ? last.top + last.height + GAP : 0;
		this.space.style.height = `${Math.max(height, this.scroll.clientHeight)}px`;
		this.surface.canvas.style.height = `${this.scroll.clientHeight}px`;
		this.surface.ask();
	}

	private draw(): void {
		const { pen, width, height } = this.surface, colours = palette(), scale = this.scale(), from = this.scroll.scrollTop;
		pen.fillStyle = colours.panel;
		pen.fillRect(0, 0, width, height);
		pen.save();
		pen.translate(0, -from);
		for (const row of this.rows) {
			if (row.top + row.height >= from && row.top <= from + height)
				this.rowDraw(row, scale);
		}
		this.flowsDraw(scale);
		pen.restore();
		pen.fillStyle = colours.panel;
		pen.fillRect(0, 0, width, RULER);
		rulerDraw(pen, scale, 0, RULER, colours);
		rangeDraw(pen, scale, this.dragged ?? this.app.view.range, height, colours);
		this.cursorDraw(scale);
	}

	private rowDraw(row: Row, scale: Scale): void {
		const { pen, width } = this.surface, colours = palette();
		pen.fillStyle = colours.faint;
		pen.fillRect(GUTTER, row.top, width - GUTTER, row.height);
		pen.save();
		pen.beginPath();
		pen.rect(GUTTER, row.top, width - GUTTER - 4, row.height);
		pen.clip();
		if (row.metric)
			metricDraw(pen, row.metric, scale, row.top, row.height, colours);
		else if (row.lane)
			this.spansDraw(row, row.lane, scale);
		else if (this.picture && this.states)
			this.stripDraw(this.picture, row.thread, 1, this.states.range, row, scale);
		pen.restore();
		pen.font = row.lane ? "11px system-ui, sans-serif" : "12px system-ui, sans-serif";
		pen.textBaseline = "middle";
		pen.fillStyle = row.lane ? colours.dim : colours.ink;
		pen.fillText(textFit(pen, row.title, GUTTER - (row.lane ? 36 : 20)), row.lane ? 16 : 8, row.top + Math.min(row.height, STATE) / 2);
		if (row.metric) {
			pen.fillStyle = colours.dim;
			pen.fillText(textFit(pen, `peak ${metricText(row.metric, row.metric.most)}`, GUTTER - 20), 8, row.top + row.height - 10);
		}
	}

	// Stretched to the present position of its time: a live picture moves without a new request.
	private stripDraw(picture: HTMLCanvasElement, from: number, rows: number, range: Range, row: Row, scale: Scale): void {
		const { pen } = this.surface, left = scale.x(range.from), right = scale.x(range.to);
		pen.imageSmoothingEnabled = false;
		pen.drawImage(picture, 0, from, picture.width, rows, left, row.top, right - left, row.height);
	}

	private spansDraw(row: Row, lane: Lane, scale: Scale): void {
		const spans = this.spans!, { pen } = this.surface, colours = palette();
		const strip = this.strips?.rows.get(lane.number);
		if (this.strips && strip !== undefined)
			this.stripDraw(this.strips.canvas, strip, lane.depth, spans.range, row, scale);
		pen.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
		pen.textBaseline = "middle";
		const matcher = matcherOf(this.app.view.query);
		for (const i of lane.spans) {
			const left = Math.max(GUTTER, scale.x(spans.begin[i])), right = Math.min(scale.right, scale.x(spans.end[i]));
			if (right - left < LEAST)
				continue;
			const name = spans.names[spans.name[i]] ?? "", top = row.top + spans.level[i] * LEVEL;
			pen.globalAlpha = matcher && !matcher(name) ? 0.25 : 1;
			pen.fillStyle = spanColour(name, lane.type, colours.isDark);
			pen.fillRect(left, top, right - left - 0.5, LEVEL - 1);
			if (this.correlation && spans.correlation[i] === this.correlation) {
				pen.strokeStyle = colours.accent;
				pen.lineWidth = 2;
				pen.strokeRect(left + 1, top + 1, right - left - 2, LEVEL - 3);
			}
			if (right - left > 24) {
				pen.fillStyle = colours.frameInk;
				pen.fillText(textFit(pen, name, right - left - 6), left + 3, top + LEVEL / 2);
			}
		}
		pen.globalAlpha = 1;
	}

	private flowsDraw(scale: Scale): void {
		const tops = new Map(this.rows.filter(row => row.lane).map(row => [row.lane!.number, row.top]));
		const isFew = this.flows.length <= MOST_ARROWS;
		for (const flow of this.flows) {
			const isChosen = this.correlation !== 0 && flow.correlation === this.correlation;
			const from = tops.get(flow.fromLane), to = tops.get(flow.toLane);
			if (from !== undefined && to !== undefined && (isFew || isChosen))
				this.arrowDraw(scale.x(flow.fromTime), from + flow.fromLevel * LEVEL + LEVEL / 2, scale.x(flow.toTime), to + flow.toLevel * LEVEL + LEVEL / 2, isChosen);
		}
	}

	private arrowDraw(x1: number, y1: number, x2: number, y2: number, isChosen: boolean): void {
		const { pen } = this.surface, colours = palette();
		if (x1 < GUTTER || x2 < GUTTER)
			return;
		pen.strokeStyle = pen.fillStyle = isChosen ? colours.accent : colours.dim;
		pen.globalAlpha = isChosen ? 1 : 0.45;
		pen.lineWidth = isChosen ? 2 : 1;
		const bend = Math.max(12, Math.abs(x2 - x1) / 2);
		pen.beginPath();
		pen.moveTo(x1, y1);
		pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
		pen.stroke();
		pen.beginPath();
		pen.moveTo(x2, y2);
		pen.lineTo(x2 - 5, y2 - 3);
		pen.lineTo(x2 - 5, y2 + 3);
		pen.fill();
		pen.globalAlpha = 1;
	}

	private cursorDraw(scale: Scale): void {
		if (!this.cursor || document.activeElement !== this.surface.canvas)
			return;
		const row = this.rows[this.cursor.row], { pen } = this.surface;
		if (!row)
			return;
		pen.strokeStyle = palette().accent;
		pen.lineWidth = 2;
		pen.strokeRect(scale.x(this.cursor.time) - 3, row.top - this.scroll.scrollTop, 6, row.height);
	}

	private at(x: number, y: number): Pointed | null {
		const below = y + this.scroll.scrollTop;
		const row = this.rows.find(one => below >= one.top && below < one.top + one.height + GAP);
		if (!row || x < GUTTER || y < RULER)
			return null;
		const scale = this.scale(), time = scale.time(x);
		return { row, time, span: row.lane ? this.spanAt(row, row.lane, time, below, scale.nsPerPixel) : -1 };
	}

	private spanAt(row: Row, lane: Lane, time: number, below: number, slack: number): number {
		const spans = this.spans!, level = Math.floor((below - row.top) / LEVEL);
		let best = -1;
		for (const i of lane.spans) {
			if (spans.level[i] === level && time >= spans.begin[i] - slack && time <= spans.end[i] + slack)
				best = i;
		}
		return best;
	}

	private pointed(event: PointerEvent): void {
		this.isHeld = true;
		clearTimeout(this.timer);
		const found = this.dragged ? null : this.at(event.offsetX, event.offsetY);
		if (!found)
			return tipHide();
		const where = moment(found.time, this.scale().nsPerPixel);
		if (found.row.metric)
			return tipShow([found.row.title, metricText(found.row.metric, metricAt(found.row.metric, found.time)), where, found.row.metric.description], event);
		if (found.row.lane)
			return this.spanTip(found, where, event);
		tipShow([found.row.title, where], event);
		const place = { clientX: event.clientX, clientY: event.clientY };
		this.timer = window.setTimeout(() => this.stackAsk(found, answer => this.stackTip(found, where, answer, place)), 80);
	}

	private spanTip({ row, span }: Pointed, where: string, event: PointerEvent): void {
		const spans = this.spans!;
		if (span < 0)
			return tipShow([row.title, where, row.lane!.type === "queue" ? "idle: a click selects the gap, to see what the processors did" : ""], event);
		const many = spans.count[span] > 1 ? `${count(spans.count[span])} spans, too short to draw one by one` : "";
		tipShow([spans.names[spans.name[span]] ?? "", duration(spans.end[span] - spans.begin[span]), where, many, row.title], event);
	}

	private stackAsk(found: Pointed, done: (answer: StackAnswer) => void): void {
		const parameters = { session: this.app.view.session, thread: found.row.number, time: Math.round(found.time) };
		void this.stackLoader.load(JSON.stringify(parameters), signal => jsonGet<StackAnswer>("/api/stack", parameters, signal), done, () => undefined);
	}

	private stackTip(found: Pointed, where: string, answer: StackAnswer, place: { clientX: number; clientY: number }): void {
		if (!this.isHeld)
			return;
		const inner = [...answer.frames].reverse().slice(0, 9).map(frame => clean(frame.name));
		tipShow([`${found.row.title}: ${answer.found ? KIND_WORDS[answer.kind] ?? answer.kind : "no sample here"}`, where, ...inner,
			answer.frames.length > 9 ? `… ${answer.frames.length - 9} more` : ""], place);
	}

	private clicked(x: number, y: number): void {
		const found = this.at(x, y);
		if (!found) {
			if (y < RULER)
				this.app.show({ range: null });
			return;
		}
		this.open(found);
	}

	private open(found: Pointed): void {
		if (found.row.metric)
			return this.app.announce(`${found.row.title}: ${metricText(found.row.metric, metricAt(found.row.metric, found.time))}`);
		if (!found.row.lane) {
			this.stackLoader.forget();
			return this.stackAsk(found, answer => this.stackDetail(found, answer));
		}
		if (found.span >= 0)
			return void this.spanDetail(found.span);
		if (found.row.lane.type === "queue")
			this.gapSelect(found.row.lane, found.time);
	}

	private stackDetail({ row, time }: Pointed, answer: StackAnswer): void {
		const inner = answer.frames[answer.frames.length - 1];
		this.details.show({
			name: inner ? clean(inner.name) : "no sample here", module: clean(inner?.module ?? ""), source: "", isFunction: Boolean(inner),
			figures: [row.title, `at ${moment(time, 1e6)}`, `${KIND_WORDS[answer.kind] ?? answer.kind} for ${duration(time - answer.begin_ns)}`,
				answer.complete ? "" : "outer callers are missing"].filter(Boolean),
			stack: answer.frames,
		});
	}

	private async spanDetail(span: number): Promise<void> {
		const spans = this.spans!;
		this.correlation = spans.correlation[span];
		this.surface.ask();
		const name = spans.names[spans.name[span]] ?? "";
		const figures = [duration(spans.end[span] - spans.begin[span]), `from ${moment(spans.begin[span], 1e3)}`];
		let stack: StackAnswer["frames"] = [];
		if (this.correlation) {
			try {
				const answer = await jsonGet<SpanAnswer>("/api/span", { session: this.app.view.session, correlation: this.correlation });
				stack = answer.call?.frames ?? [];
				if (answer.call)
					figures.push(`launched by ${clean(answer.call.name)}`);
				for (const [key, value] of Object.entries(answer.work?.[0]?.values ?? answer.call?.values ?? {}))
					figures.push(`${clean(key)} ${clean(String(value))}`);
			} catch (error) {
				figures.push(clean(this.app.failure(error)));
			}
		}
		this.details.show({ name, module: "", source: "", figures, stack, isFunction: false });
	}

	// Between two pieces of work of a queue: every panel then shows the processors' activity meanwhile.
	private gapSelect(lane: Lane, time: number): void {
		const spans = this.spans!;
		let { from, to } = spans.range;
		for (const i of lane.spans) {
			if (spans.end[i] <= time)
				from = Math.max(from, spans.end[i]);
			if (spans.begin[i] >= time)
				to = Math.min(to, spans.begin[i]);
		}
		this.app.show({ range: { from: Math.round(from), to: Math.round(to) } });
	}

	private wheel(event: WheelEvent): void {
		const scale = this.scale(), { extent, stretch } = this.app;
		if (event.ctrlKey || event.metaKey) {
			event.preventDefault();
			this.app.show({ zoom: zoomed(stretch, scale.time(event.offsetX), Math.exp(event.deltaY / 300), extent) });
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			this.app.show({ zoom: panned(stretch, (event.deltaX || event.deltaY) * scale.nsPerPixel, extent) });
		}
	}

	private key(event: KeyboardEvent): void {
		if (!this.rows.length || event.ctrlKey || event.metaKey)
			return;
		const step = this.scale().nsPerPixel * (event.shiftKey ? 50 : 8), { from, to } = this.app.stretch;
		const cursor = this.cursor ?? { row: 0, time: (from + to) / 2 };
		const moves: Record<string, Partial<typeof cursor>> = {
			ArrowLeft: { time: Math.max(from, cursor.time - step) }, ArrowRight: { time: Math.min(to, cursor.time + step) },
			ArrowUp: { row: Math.max(0, cursor.row - 1) }, ArrowDown: { row: Math.min(this.rows.length - 1, cursor.row + 1) },
		};
		if (moves[event.key]) {
			event.preventDefault();
			this.cursor = { ...cursor, ...moves[event.key] };
			this.app.announce(`${this.rows[this.cursor.row].title}, ${moment(this.cursor.time, 1e6)}`);
			this.surface.ask();
		} else if (event.key === "Enter" && this.cursor) {
			const row = this.rows[this.cursor.row];
			const span = row.lane ? this.spanAt(row, row.lane, this.cursor.time, row.top, this.scale().nsPerPixel) : -1;
			this.open({ row, time: this.cursor.time, span });
		}
	}
}
