// Dense lanes as pixels: one row of an image for each lane, made once for an answer and stretched when it is drawn. A
// hundred thousand rectangles would take ten times as long.

import { spanColour, palette, rgbOf } from "../../core/colour";
import type { Lane, Spans, States } from "./data";

type Rgb = [number, number, number];

/** Browsers have no higher canvases; of lanes below it only wide spans are drawn. */
const MOST_ROWS = 16384;

/** One row for each thread: running, runnable and blocked mixed by their shares of the bin. */
export function statesPaint(states: States): HTMLCanvasElement {
	const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
	canvas.width = Math.max(1, states.bins);
	canvas.height = Math.max(1, Math.min(MOST_ROWS, states.threads.length));
	if (!pen || !states.bins)
		return canvas;
	const colours = palette();
	const base = rgbOf(colours.panel), parts: [ArrayLike<number>, Rgb][] = [[states.blocked, rgbOf(colours.blocked)],
		[states.runnable, rgbOf(colours.runnable)], [states.running, rgbOf(colours.running)]];
	const image = pen.createImageData(canvas.width, canvas.height);
	for (let i = 0; i < states.bins * canvas.height; i++)
		pixelMix(image.data, i, base, parts);
	pen.putImageData(image, 0, 0);
	return canvas;
}

// The strongest state keeps its colour: a thread that ran for a twentieth of a bin must be seen.
function pixelMix(data: Uint8ClampedArray, at: number, base: Rgb, parts: [ArrayLike<number>, Rgb][]): void {
	for (let part = 0; part < 3; part++) {
		let value = base[part];
		for (const [shares, colour] of parts) {
			const share = shares[at] / 255;
			value += (colour[part] - value) * (share > 0 ? 0.25 + 0.75 * share : 0);
		}
		data[at * 4 + part] = value;
	}
	data[at * 4 + 3] = 255;
}

/** Spans that are narrower than `least` pixels, of all lanes in one image: one row for each level of each lane. */
export interface Strips {
	canvas: HTMLCanvasElement;
	/** The first row of a lane, by its number. */
	rows: Map<number, number>;
}

export function spansPaint(spans: Spans, width: number, least: number): Strips {
	const canvas = document.createElement("canvas"), pen = canvas.getContext("2d"), rows = new Map<number, number>();
	let height = 0;
	for (const lane of spans.lanes) {
		if (height + lane.depth > MOST_ROWS)
			break;
		rows.set(lane.number, height);
		height += lane.depth;
	}
	canvas.width = Math.max(1, Math.round(width));
	canvas.height = Math.max(1, height);
	if (pen) {
		const image = pen.createImageData(canvas.width, canvas.height);
		for (const lane of spans.lanes.slice(0, rows.size))
			lanePaint(image, rows.get(lane.number) ?? 0, spans, lane, least);
		pen.putImageData(image, 0, 0);
	}
	return { canvas, rows };
}

function lanePaint(image: ImageData, row: number, spans: Spans, lane: Lane, least: number): void {
	const scale = image.width / (spans.range.to - spans.range.from), known = new Map<number, Rgb>();
	for (const i of lane.spans) {
		const left = (spans.begin[i] - spans.range.from) * scale, right = (spans.end[i] - spans.range.from) * scale;
		if (right - left >= least || spans.level[i] >= lane.depth)
			continue;
		let colour = known.get(spans.name[i]);
		if (!colour)
			known.set(spans.name[i], colour = rgbOf(spanColour(spans.names[spans.name[i]] ?? "", lane.type, palette().isDark)));
		rowFill(image, row + spans.level[i], left, right, colour);
	}
}

function rowFill(image: ImageData, row: number, left: number, right: number, colour: Rgb): void {
	const last = Math.min(image.width - 1, Math.max(Math.floor(left), Math.ceil(right) - 1));
	for (let x = Math.max(0, Math.floor(left)); x <= last; x++) {
		const at = (row * image.width + x) * 4;
		[image.data[at], image.data[at + 1], image.data[at + 2]] = colour;
		image.data[at + 3] = 255;
	}
}
