// A value over time: filled, with its peak marked.

import type { Scale } from "../../core/scale";

export interface Curve {
	times: number[];
	values: number[];
}

export function curvePeak(curve: Curve): { value: number; time: number } {
	let value = 0, time = 0;
	for (let i = 0; i < curve.values.length; i++) {
		if (curve.values[i] > value)
			[value, time] = [curve.values[i], curve.times[i]];
	}
	return { value, time };
}

/** Of points at equal distances, as those of a recording are. */
export function curveMean({ values }: Curve): number {
	return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;
}

/** The newest value that is not younger than `time`; NaN before the first. */
export function curveAt(curve: Curve, time: number): number {
	let low = 0, high = curve.times.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (curve.times[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? curve.values[low - 1] : NaN;
}

// The largest value of each pixel: a peak is never lost, however long the time.
function columnsOf(curve: Curve, scale: Scale): Map<number, number> {
	const columns = new Map<number, number>();
	for (let i = 0; i < curve.times.length; i++) {
		const x = Math.round(scale.x(curve.times[i])), value = curve.values[i];
		if (x >= scale.left && x <= scale.right && Number.isFinite(value))
			columns.set(x, Math.max(columns.get(x) ?? 0, value));
	}
	return columns;
}

export function curveDraw(pen: CanvasRenderingContext2D, curve: Curve, scale: Scale, top: number, height: number, most: number,
	colour: string): void {
	const columns = columnsOf(curve, scale);
	if (!columns.size)
		return;
	const points = [...columns].sort((a, b) => a[0] - b[0]);
	const y = (value: number): number => top + height - value / most * height;
	pen.beginPath();
	pen.moveTo(points[0][0], top + height);
	for (const [x, value] of points)
		pen.lineTo(x, y(value));
	pen.lineTo(points[points.length - 1][0], top + height);
	pen.globalAlpha = 0.22;
	pen.fillStyle = colour;
	pen.fill();
	pen.globalAlpha = 1;
	pen.beginPath();
	points.forEach(([x, value], i) => i ? pen.lineTo(x, y(value)) : pen.moveTo(x, y(value)));
	pen.strokeStyle = colour;
	pen.lineWidth = 1.25;
	pen.stroke();
	peakDraw(pen, curve, scale, y, colour);
}

function peakDraw(pen: CanvasRenderingContext2D, curve: Curve, scale: Scale, y: (value: number) => number, colour: string): void {
	const peak = curvePeak(curve);
	pen.fillStyle = colour;
	pen.beginPath();
	pen.arc(scale.x(peak.time), y(peak.value), 2.5, 0, 7);
	pen.fill();
}
