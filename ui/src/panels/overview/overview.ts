// Processor and memory over the whole time, with the chosen range and the stretch that the lanes show.

import { tableGet } from "../../core/api";
import type { App } from "../../core/app";
import { Surface } from "../../core/canvas";
import { palette } from "../../core/colour";
import { h, textSet } from "../../core/dom";
import { Loader } from "../../core/loader";
import { dragListen, rangeDraw, rulerDraw, Scale } from "../../core/scale";
import { bytes, moment } from "../../core/text";
import { tipHide, tipShow } from "../../core/tip";
import type { Range } from "../../core/view";
import { Curve, curveAt, curveDraw, curveMean, curvePeak } from "./curve";

const RULER = 16, GUTTER = 92, LANE = 40, GAP = 6;
const HEIGHT = RULER + 2 * LANE + GAP + 4;
const MOST_POINTS = 20_000;
/** Of a recording; always as many, so that its peak does not depend on the window. */
const POINTS = 1200;

export class Overview {
	readonly element: HTMLElement;
	private readonly surface: Surface;
	private readonly loader: Loader;
	private readonly message = h("p", { class: "message small" });
	private cpu: Curve = { times: [], values: [] };
	private memory: Curve = { times: [], values: [] };
	private dragged: Range | null = null;
	private session = 0;
	private hover = -1;

	constructor(private readonly app: App) {
		this.loader = new Loader(app);
		this.surface = new Surface("processor and memory over time: drag to select a range", () => this.draw());
		const canvas = this.surface.canvas;
		canvas.setAttribute("role", "img");
		canvas.style.height = `${HEIGHT}px`;
		this.element = h("section", { class: "overview", "aria-label": "processor and memory over time" }, canvas, this.message);
		dragListen(canvas, {
			scale: () => this.scale(), isTime: x => x >= GUTTER,
			range: (range, isDone) => this.rangeDragged(range, isDone),
			click: () => app.show({ range: null }),
		});
		canvas.addEventListener("pointermove", event => this.pointed(event));
		canvas.addEventListener("pointerleave", () => {
			this.hover = -1;
			tipHide();
			this.surface.ask();
		});
		app.on("view", () => this.surface.ask());
		app.on("theme", () => this.surface.ask());
		app.on("session", () => this.load());
		app.on("live", () => this.take());
	}

	private rangeDragged(range: Range, isDone: boolean): void {
		this.dragged = isDone ? null : range;
		this.surface.ask();
		if (isDone)
			this.app.show({ range: { from: Math.round(range.from), to: Math.round(range.to) } });
	}

	private scale(): Scale {
		return new Scale(this.app.extent, GUTTER, this.surface.width - 8);
	}

	private reset(): void {
		this.session = this.app.view.session;
		this.cpu = { times: [], values: [] };
		this.memory = { times: [], values: [] };
	}

	// Curves of a recording are requested at once; those of a live session come with each answer.
	private load(): void {
		const session = this.app.session;
		if (!session || session.kind === "live" && !this.app.about?.share)
			return this.surface.ask();
		const parameters = { session: session.id, width: POINTS };
		void this.loader.load(`${session.id}`, signal => tableGet("/api/curves", parameters, signal), table => {
			this.reset();
			const times = [...table.numbers("time")];
			this.cpu = { times, values: [...table.numbers("cpu_percent")] };
			this.memory = { times, values: [...table.numbers("rss_bytes")] };
			textSet(this.message, "");
			this.surface.ask();
		}, why => textSet(this.message, why));
	}

	private take(): void {
		const live = this.app.live;
		if (!live)
			return;
		if (this.session !== live.session.id)
			this.reset();
		const last = this.cpu.times[this.cpu.times.length - 1] ?? -1;
		live.curves.time_ns.forEach((time, i) => {
			if (time <= last)
				return;
			this.cpu.times.push(time);
			this.cpu.values.push(live.curves.cpu_percent[i]);
			this.memory.values.push(live.curves.rss_bytes[i] ?? NaN);
		});
		this.memory.times = this.cpu.times;
		const surplus = this.cpu.times.length - MOST_POINTS;
		if (surplus > 0) {
			for (const list of [this.cpu.times, this.cpu.values, this.memory.values])
				list.splice(0, surplus);
		}
		this.surface.ask();
	}

	/** A recording of calls alone does not show the processors' activity. */
	private get isSampled(): boolean {
		return this.app.session?.kind !== "file" || this.app.session.samples > 0;
	}

	private pointed(event: PointerEvent): void {
		this.hover = event.offsetX >= GUTTER ? event.offsetX : -1;
		this.surface.ask();
		if (this.hover < 0 || this.dragged)
			return tipHide();
		const time = this.scale().time(this.hover), memory = curveAt(this.memory, time);
		tipShow([moment(time, this.scale().nsPerPixel), this.isSampled ? `processor ${(curveAt(this.cpu, time) || 0).toFixed(1)} %` : "",
			Number.isFinite(memory) ? `memory ${bytes(memory)}` : ""], event);
	}

	private draw(): void {
		const { pen, width, height } = this.surface, colours = palette(), scale = this.scale();
		pen.fillStyle = colours.panel;
		pen.fillRect(0, 0, width, height);
		rulerDraw(pen, scale, 0, height, colours);
		const most = Math.max(5, curvePeak(this.cpu).value), mostMemory = Math.max(1, curvePeak(this.memory).value);
		const isLive = this.app.session?.kind === "live", latest = (curve: Curve): number => curve.values[curve.values.length - 1];
		if (this.isSampled) {
			this.label(isLive ? "Processor" : "CPU, mean", `${((isLive ? latest(this.cpu) : curveMean(this.cpu)) || 0).toFixed(0)} %`, `${curvePeak(this.cpu).value.toFixed(0)} %`, RULER);
			curveDraw(pen, this.cpu, scale, RULER, LANE, most * 1.08, colours.running);
		} else {
			this.label("Processor", "unknown", "", RULER);
		}
		const isKnown = this.memory.values.some(Number.isFinite), top = RULER + LANE + GAP;
		this.label("Memory", isKnown ? bytes(latest(this.memory)) : "unknown", isKnown ? bytes(mostMemory) : "", top);
		curveDraw(pen, this.memory, scale, top, LANE, mostMemory * 1.15, colours.memory);
		rangeDraw(pen, scale, this.dragged ?? this.app.view.range, height, colours);
		this.stretchDraw(scale);
		if (this.hover >= 0) {
			pen.fillStyle = colours.dim;
			pen.fillRect(this.hover, 0, 1, height);
		}
	}

	private stretchDraw(scale: Scale): void {
		if (this.app.view.tab !== "lanes" || !this.app.view.zoom)
			return;
		const { from, to } = this.app.stretch, { pen, height } = this.surface;
		pen.fillStyle = palette().ink;
		const left = scale.x(from), right = scale.x(to);
		pen.fillRect(left, height - 3, Math.max(2, right - left), 3);
	}

	private label(name: string, now: string, most: string, top: number): void {
		const { pen } = this.surface, colours = palette();
		pen.textBaseline = "alphabetic";
		pen.font = "11px system-ui, sans-serif";
		pen.fillStyle = colours.dim;
		pen.fillText(name, 8, top + 11);
		pen.font = "600 13px system-ui, sans-serif";
		pen.fillStyle = colours.ink;
		pen.fillText(now, 8, top + 27);
		pen.font = "10px system-ui, sans-serif";
		pen.fillStyle = colours.dim;
		if (most)
			pen.fillText(`peak ${most}`, 8, top + 39);
	}
}
