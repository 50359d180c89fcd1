// Time on a canvas: the position of a moment, the ruler's labels, and dragging a range.

import { moment } from "./text";
import type { Palette } from "./colour";
import type { Range } from "./view";

export class Scale {
	constructor(readonly range: Range, readonly left: number, readonly right: number) {}

	x(time: number): number {
		return this.left + (time - this.range.from) / (this.range.to - this.range.from) * (this.right - this.left);
	}

	time(x: number): number {
		const part = (x - this.left) / Math.max(1, this.right - this.left);
		return this.range.from + Math.min(1, Math.max(0, part)) * (this.range.to - this.range.from);
	}

	get nsPerPixel(): number {
		return (this.range.to - this.range.from) / Math.max(1, this.right - this.left);
	}
}

/** A round step of which about one fits into `pixels`. */
export function stepOf(scale: Scale, pixels: number): number {
	const least = scale.nsPerPixel * pixels;
	const power = 10 ** Math.floor(Math.log10(least));
	for (const factor of [1, 2, 5, 10]) {
		const step = power * factor;
		if (step >= least)
			return step >= 60e9 ? Math.ceil(step / 60e9) * 60e9 : step;
	}
	return power * 10;
}

export function rulerDraw(pen: CanvasRenderingContext2D, scale: Scale, top: number, bottom: number, colours: Palette): void {
	const step = stepOf(scale, 90);
	pen.font = "11px system-ui, sans-serif";
	pen.textBaseline = "alphabetic";
	for (let time = Math.ceil(scale.range.from / step) * step; time <= scale.range.to; time += step) {
		const x = Math.round(scale.x(time)) + 0.5;
		pen.fillStyle = colours.line;
		pen.fillRect(x, top, 1, bottom - top);
		pen.fillStyle = colours.dim;
		const text = moment(time, step);
		if (x + 4 + pen.measureText(text).width < scale.right)
			pen.fillText(text, x + 4, top + 11);
	}
}

/** Veils the time outside of the range, and draws its edges. */
export function rangeDraw(pen: CanvasRenderingContext2D, scale: Scale, range: Range | null, height: number, colours: Palette): void {
	if (!range)
		return;
	const left = Math.max(scale.left, scale.x(range.from)), right = Math.min(scale.right, scale.x(range.to));
	pen.fillStyle = colours.isDark ? "rgba(10,12,16,.55)" : "rgba(238,240,244,.66)";
	if (left > scale.left)
		pen.fillRect(scale.left, 0, Math.min(left, scale.right) - scale.left, height);
	if (right < scale.right)
		pen.fillRect(Math.max(right, scale.left), 0, scale.right - Math.max(right, scale.left), height);
	pen.fillStyle = colours.accent;
	for (const x of [scale.x(range.from), scale.x(range.to)]) {
		if (x >= scale.left - 1 && x <= scale.right + 1)
			pen.fillRect(Math.round(x) - 1, 0, 2, height);
	}
}

interface Drag {
	/** While and after dragging; `isDone` once, at the end. */
	range(range: Range, isDone: boolean): void;
	click(x: number, y: number): void;
	scale(): Scale;
	/** Where dragging begins a range; elsewhere the press is a click only. */
	isTime(x: number, y: number): boolean;
}

const CLICK = 4;

export function dragListen(canvas: HTMLCanvasElement, drag: Drag): void {
	let begin: { x: number; y: number; time: number } | null = null;
	let isDragging = false;
	const rangeAt = (x: number): Range => {
		const time = drag.scale().time(x);
		return { from: Math.min(begin!.time, time), to: Math.max(begin!.time, time) };
	};
	canvas.addEventListener("pointerdown", event => {
		if (event.button !== 0)
			return;
		begin = { x: event.offsetX, y: event.offsetY, time: drag.scale().time(event.offsetX) };
		isDragging = false;
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", event => {
		if (!begin || !drag.isTime(begin.x, begin.y))
			return;
		isDragging ||= Math.abs(event.offsetX - begin.x) >= CLICK;
		if (isDragging)
			drag.range(rangeAt(event.offsetX), false);
	});
	canvas.addEventListener("pointerup", event => {
		if (begin && isDragging)
			drag.range(rangeAt(event.offsetX), true);
		else if (begin)
			drag.click(event.offsetX, event.offsetY);
		begin = null;
	});
	canvas.addEventListener("pointercancel", () => { begin = null; });
}

/** A range around `center` that is `factor` times as long, kept within `all`. */
export function zoomed(range: Range, center: number, factor: number, all: Range): Range {
	const length = Math.max(1000, Math.min(all.to - all.from, (range.to - range.from) * factor));
	const part = (center - range.from) / (range.to - range.from);
	const from = Math.max(all.from, Math.min(center - part * length, all.to - length));
	return { from, to: from + length };
}

export function panned(range: Range, by: number, all: Range): Range {
	const length = range.to - range.from;
	const from = Math.max(all.from, Math.min(range.from + by, all.to - length));
	return { from, to: from + length };
}
