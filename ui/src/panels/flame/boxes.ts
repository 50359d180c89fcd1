// The boxes of one drawing, by colour: changing the pen's colour costs more than a box, so each colour is chosen once.

export const ROW = 19;
export const GAP = 1;
/** The narrowest box, in pixels. */
export const LEAST = 0.6;

/** A fill's number is twice that of its colour; one more: faint. */
export class Boxes {
	private readonly numbers = new Map<string, number>();
	private readonly colours: string[] = [];
	/** For each fill four numbers a box: node, left, width, top. */
	private readonly lists: number[][] = [];

	fillFind(colour: string): number {
		let number = this.numbers.get(colour);
		if (number === undefined) {
			this.numbers.set(colour, number = this.colours.push(colour) - 1);
			this.lists.push([], []);
		}
		return number;
	}

	/** Before the first box of a drawing. */
	fillsForget(): void {
		this.numbers.clear();
		this.colours.length = 0;
		this.lists.length = 0;
	}

	clear(): void {
		for (const list of this.lists)
			list.length = 0;
	}

	add(fill: number, node: number, left: number, width: number, top: number): void {
		this.lists[fill]!.push(node, left, width, top);
	}

	paint(pen: CanvasRenderingContext2D): void {
		this.lists.forEach((list, fill) => {
			if (!list.length)
				return;
			pen.fillStyle = this.colours[fill >> 1]!;
			pen.globalAlpha = fill & 1 ? 0.4 : 1;
			for (let i = 0; i < list.length; i += 4)
				pen.fillRect(list[i + 1]!, list[i + 3]!, Math.max(LEAST, list[i + 2]! - GAP), ROW - GAP);
		});
		pen.globalAlpha = 1;
	}

	each(visit: (node: number, left: number, width: number, top: number) => void): void {
		for (const list of this.lists) {
			for (let i = 0; i < list.length; i += 4)
				visit(list[i]!, list[i + 1]!, list[i + 2]!, list[i + 3]!);
		}
	}
}
