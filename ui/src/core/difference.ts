// Is a share really larger in one range than in the other, or is it chance? (Agresti and Caffo, 95 %.)

export interface Side {
	total: number;
	samples: number;
}

export interface Difference {
	a: number;
	b: number;
	points: number;
	error: number;
	isNoise: boolean;
}

export function differenceOf(weightA: number, weightB: number, sides: readonly [Side, Side]): Difference {
	const a = sides[0].total ? weightA / sides[0].total : 0, b = sides[1].total ? weightB / sides[1].total : 0;
	const spread = (part: number, samples: number): number => {
		const moved = (part * samples + 1) / (samples + 2);
		return moved * (1 - moved) / (samples + 2);
	};
	const points = 100 * (b - a), error = 196 * Math.sqrt(spread(a, sides[0].samples) + spread(b, sides[1].samples));
	return { a, b, points, error, isNoise: Math.abs(points) <= error };
}

/** "+6.2 points". */
export function pointsText(one: Difference): string {
	return `${one.points < 0 ? "−" : "+"}${Math.abs(one.points).toFixed(1)} points`;
}

/** "12.1 % → 18.3 % (+6.2 points, ± 1.4)". */
export function differenceText(one: Difference): string {
	const change = `${pointsText(one)}, ± ${one.error.toFixed(1)}`;
	return `${(100 * one.a).toFixed(1)} % → ${(100 * one.b).toFixed(1)} % (${one.isNoise ? `no more than chance: ${change}` : change})`;
}
