// Columns of time, one upon the other: a column is a second (or more), a cell a fiftieth of it. Dark cells had more work.
// Dragging from one cell to another selects the time between them.

import { tableGet } from "../../core/api";
import type { App } from "../../core/app";
import { Surface } from "../../core/canvas";
import { palette, rgbOf } from "../../core/colour";
import { h, textSet } from "../../core/dom";
import { Loader } from "../../core/loader";
import { duration, moment, percent, weight } from "../../core/text";
import { tipHide, tipShow } from "../../core/tip";
import type { Range } from "../../core/view";

const ROWS = 50, LEFT = 52, TOP = 6, BOTTOM = 20;
const PERIODS_S = [1, 2, 5, 10, 30, 60, 300];

export class Heatmap {
	readonly element: HTMLElement;
	private readonly surface: Surface;
	private readonly loader: Loader;
	private readonly message = h("p", { class: "message" });
	private values: ArrayLike<number> = [];
	private from = 0;
	private cellNs = 20e6;
	private most = 1;
	private unit = "ns";
	private picture: HTMLCanvasElement | null = null;
	private begin = -1;
	private dragged: Range | null = null;
	private isHeld = false;
	private cursor = -1;
	private mark = -1;

	constructor(private readonly app: App) {
		this.loader = new Loader(app);
		this.surface = new Surface("heatmap: arrow keys move, Enter begins and ends a range", () => this.draw());
		this.surface.canvas.tabIndex = 0;
		this.surface.canvas.setAttribute("role", "application");
		this.element = h("section", { class: "picture heatmap", "aria-label": "heatmap" }, this.surface.canvas, this.message);
		this.listen();
		app.on("view", () => this.refresh());
		app.on("session", () => this.refresh());
		app.on("live", () => this.follow());
		app.on("theme", () => this.paint());
	}

	private listen(): void {
		const { canvas } = this.surface;
		canvas.addEventListener("pointerdown", event => {
			this.begin = this.cellAt(event);
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", event => this.pointed(event));
		canvas.addEventListener("pointerup", event => this.released(event));
		canvas.addEventListener("pointerleave", () => {
			this.isHeld = false;
			tipHide();
		});
		canvas.addEventListener("keydown", event => this.key(event));
	}

	private get isWanted(): boolean {
		return this.app.view.tab === "heatmap" && this.app.session !== null;
	}

	private get all(): Range {
		return this.app.view.zoom ?? this.app.extent;
	}

	private periodNs(): number {
		const seconds = (this.all.to - this.all.from) / 1e9, columns = Math.max(60, (this.surface.width - LEFT) / 6);
		return 1e9 * (PERIODS_S.find(period => seconds / period <= columns) ?? 600);
	}

	private follow(): void {
		if (!this.isWanted || this.isHeld || this.app.view.zoom || !this.loader.isDue() || !this.app.live?.changed)
			return;
		this.loader.forget();
		this.refresh();
	}

	private refresh(): void {
		if (!this.isWanted)
			return;
		const period = this.periodNs(), from = Math.floor(this.all.from / period) * period;
		const parameters = { ...this.app.selection, from, to: Math.round(this.all.to), cell_ms: period / ROWS / 1e6 };
		const key = JSON.stringify({ ...parameters, to: this.app.view.zoom ? parameters.to : 0 });
		void this.loader.load(key, signal => tableGet("/api/heatmap", parameters, signal), table => {
			this.values = table.numbers("value");
			this.from = from;
			this.cellNs = table.number("cell_ns") || period / ROWS;
			this.most = table.number("max") || Math.max(1, ...this.values as Float64Array);
			this.unit = table.text("unit") || "ns";
			textSet(this.message, this.values.length ? "" : table.text("empty") || "There are no samples in this selection.");
			this.paint();
		}, why => textSet(this.message, why));
		this.surface.ask();
	}

	private get columns(): number {
		return Math.max(1, Math.ceil(this.values.length / ROWS));
	}

	// One pixel for each cell, made once; drawing stretches it.
	private paint(): void {
		const { columns } = this, canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
		canvas.width = columns;
		canvas.height = ROWS;
		if (!pen)
			return;
		const image = pen.createImageData(columns, ROWS), hot = rgbOf(palette().isDark ? "#ffb057" : "#c2410c");
		const cold = rgbOf(palette().isDark ? "#242a33" : "#f1f3f6");
		for (let i = 0; i < this.values.length; i++) {
			const at = ((ROWS - 1 - i % ROWS) * columns + Math.floor(i / ROWS)) * 4;
			const strength = Math.sqrt(Math.min(1, this.values[i] / this.most));
			for (let part = 0; part < 3; part++)
				image.data[at + part] = cold[part] + (hot[part] - cold[part]) * strength;
			image.data[at + 3] = 255;
		}
		pen.putImageData(image, 0, 0);
		this.picture = canvas;
		this.surface.ask();
	}

	private get columnWidth(): number {
		return Math.min(26, (this.surface.width - LEFT - 8) / this.columns);
	}

	private get cellHeight(): number {
		return Math.min(14, (this.surface.height - TOP - BOTTOM) / ROWS);
	}

	private cellAt(event: PointerEvent): number {
		const column = Math.floor((event.offsetX - LEFT) / this.columnWidth);
		const row = ROWS - 1 - Math.floor((event.offsetY - TOP) / this.cellHeight);
		if (column < 0 || column >= this.columns)
			return -1;
		return column * ROWS + Math.max(0, Math.min(ROWS - 1, row));
	}

	private rangeOf(a: number, b: number): Range {
		return { from: Math.round(this.from + Math.min(a, b) * this.cellNs), to: Math.round(this.from + (Math.max(a, b) + 1) * this.cellNs) };
	}

	private pointed(event: PointerEvent): void {
		this.isHeld = true;
		const cell = this.cellAt(event);
		if (cell < 0 || cell >= this.values.length)
			return tipHide();
		if (this.begin >= 0 && event.buttons & 1) {
			this.dragged = this.rangeOf(this.begin, cell);
			this.surface.ask();
		}
		const range = this.dragged ?? this.rangeOf(cell, cell);
		tipShow([`${moment(range.from, 1e7)} to ${moment(range.to, 1e7)}`, `${duration(range.to - range.from)} selected`,
			`${weight(this.values[cell], this.unit)}, ${percent(this.values[cell], this.most)} of the hottest cell`]
			.filter((_, i) => i !== 1 || this.dragged), event);
	}

	private released(event: PointerEvent): void {
		const cell = this.cellAt(event);
		if (this.begin >= 0 && cell >= 0)
			this.app.show({ range: this.rangeOf(this.begin, cell) });
		this.begin = -1;
		this.dragged = null;
	}

	private key(event: KeyboardEvent): void {
		const steps: Record<string, number> = { ArrowUp: 1, ArrowDown: -1, ArrowRight: ROWS, ArrowLeft: -ROWS };
		if (steps[event.key]) {
			event.preventDefault();
			this.cursor = Math.max(0, Math.min(this.values.length - 1, this.cursor + steps[event.key]));
			this.app.announce(`${moment(this.from + this.cursor * this.cellNs, 1e7)}, ${weight(this.values[this.cursor] ?? 0, this.unit)}`);
		} else if (event.key === "Enter" && this.mark < 0) {
			this.mark = this.cursor;
			this.app.announce("range begins");
		} else if (event.key === "Enter") {
			this.app.show({ range: this.rangeOf(this.mark, this.cursor) });
			this.mark = -1;
		}
		this.surface.ask();
	}

	private draw(): void {
		const { pen, width, height } = this.surface, colours = palette();
		pen.fillStyle = colours.panel;
		pen.fillRect(0, 0, width, height);
		if (!this.picture || !this.values.length)
			return;
		pen.imageSmoothingEnabled = false;
		const wide = this.columnWidth * this.columns, high = this.cellHeight * ROWS;
		pen.drawImage(this.picture, LEFT, TOP, wide, high);
		this.axesDraw(wide, high);
		const range = this.dragged ?? this.app.view.range;
		if (range)
			this.rangeDraw(range);
		if (this.cursor >= 0 && document.activeElement === this.surface.canvas)
			this.cellDraw(this.cursor, colours.accent);
		if (this.mark >= 0)
			this.cellDraw(this.mark, colours.ink);
	}

	private axesDraw(wide: number, high: number): void {
		const { pen } = this.surface, period = this.cellNs * ROWS;
		pen.font = "11px system-ui, sans-serif";
		pen.textBaseline = "alphabetic";
		pen.fillStyle = palette().dim;
		const every = Math.max(1, Math.ceil(64 / this.columnWidth));
		for (let column = 0; column < this.columns; column += every)
			pen.fillText(moment(this.from + column * period, 1e9), LEFT + column * this.columnWidth, TOP + high + 14);
		pen.textAlign = "right";
		for (const part of [0, 0.5, 1])
			pen.fillText(duration(part * period), LEFT - 6, TOP + high - part * (high - 8));
		pen.textAlign = "left";
		pen.strokeStyle = palette().line;
		pen.strokeRect(LEFT - 0.5, TOP - 0.5, wide + 1, high + 1);
	}

	private cellDraw(cell: number, colour: string): void {
		const { pen } = this.surface, column = Math.floor(cell / ROWS), row = ROWS - 1 - cell % ROWS;
		pen.strokeStyle = colour;
		pen.lineWidth = 2;
		pen.strokeRect(LEFT + column * this.columnWidth, TOP + row * this.cellHeight, this.columnWidth, this.cellHeight);
	}

	private rangeDraw(range: Range): void {
		const { pen } = this.surface, period = this.cellNs * ROWS;
		const first = Math.floor((range.from - this.from) / period), last = Math.floor((range.to - 1 - this.from) / period);
		pen.strokeStyle = palette().accent;
		pen.lineWidth = 2;
		for (let column = Math.max(0, first); column <= Math.min(this.columns - 1, last); column++) {
			const low = Math.max(0, (range.from - this.from - column * period) / this.cellNs);
			const high = Math.min(ROWS, (range.to - this.from - column * period) / this.cellNs);
			pen.strokeRect(LEFT + column * this.columnWidth + 1, TOP + (ROWS - high) * this.cellHeight, Math.max(2, this.columnWidth - 2),
				(high - low) * this.cellHeight);
		}
	}
}
