// Counters over time, on the clock of the lanes: one row for each, filled up to its value; where nothing was counted there
// is nothing.

import type { Palette } from "../../core/colour";
import type { Table } from "../../core/columns";
import type { Scale } from "../../core/scale";
import { clean } from "../../core/text";

export interface Metric {
	title: string;
	description: string;
	unit: string;
	/** Each value holds from its time on for `step`. */
	times: number[];
	values: number[];
	step: number;
	most: number;
}

export function metricsRead(table: Table): Metric[] {
	const list = Array.isArray(table.meta["metrics"]) ? table.meta["metrics"] as Record<string, unknown>[] : [];
	const step = table.number("step_ns");
	const metrics = list.map(one => ({
		title: clean(String(one["title"] ?? "")), description: clean(String(one["description"] ?? "")), unit: clean(String(one["unit"] ?? "")),
		times: [] as number[], values: [] as number[], step, most: 0,
	}));
	const numbers = table.numbers("metric"), times = table.numbers("time"), values = table.numbers("value");
	for (let i = 0; i < numbers.length; i++) {
		const metric = metrics[numbers[i]];
		metric?.times.push(times[i]);
		metric?.values.push(values[i]);
		if (metric)
			metric.most = Math.max(metric.most, values[i]);
	}
	return metrics;
}

/** The value at that moment; NaN where nothing was counted. */
export function metricAt(metric: Metric, time: number): number {
	let low = 0, high = metric.times.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (metric.times[middle] <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low && time < metric.times[low - 1] + metric.step ? metric.values[low - 1] : NaN;
}

const PREFIXES: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/** "1.24 G/s", "0.93 CPUs". */
export function metricText(metric: Metric, value: number): string {
	if (Number.isNaN(value))
		return "not counted";
	const [factor, prefix] = PREFIXES.find(([least]) => value >= least) ?? [1, ""];
	const number = value / factor, space = metric.unit.startsWith("/") || metric.unit === "%" ? "" : " ";
	return `${number === 0 ? "0" : number.toPrecision(3)}${prefix ? ` ${prefix}` : space}${metric.unit}`;
}

export function metricDraw(pen: CanvasRenderingContext2D, metric: Metric, scale: Scale, top: number, height: number, colours: Palette): void {
	const bottom = top + height, most = metric.most || 1;
	let end = NaN;
	pen.beginPath();
	for (let i = 0; i < metric.times.length; i++) {
		const time = metric.times[i], y = bottom - metric.values[i] / most * (height - 3);
		if (!i || time - end > metric.step / 2) {
			if (i)
				pen.lineTo(scale.x(end), bottom);
			pen.moveTo(scale.x(time), bottom);
		}
		end = time + metric.step;
		pen.lineTo(scale.x(time), y);
		pen.lineTo(scale.x(end), y);
	}
	pen.lineTo(scale.x(end), bottom);
	pen.fillStyle = pen.strokeStyle = colours.accent;
	pen.globalAlpha = 0.25;
	pen.fill();
	pen.globalAlpha = 1;
	pen.lineWidth = 1;
	pen.stroke();
}
