// A canvas as sharp as the screen, with a callback to draw when its size changes, once for each frame.

export class Surface {
	readonly canvas: HTMLCanvasElement;
	readonly pen: CanvasRenderingContext2D;
	width = 0;
	height = 0;
	private isAsked = false;
	/** The duration of the last drawing, in milliseconds. */
	drawMs = 0;

	constructor(label: string, private readonly draw: () => void) {
		this.canvas = document.createElement("canvas");
		this.canvas.setAttribute("aria-label", label);
		const pen = this.canvas.getContext("2d", { alpha: false });
		if (!pen)
			throw new Error("this browser has no canvas");
		this.pen = pen;
		new ResizeObserver(() => this.fit()).observe(this.canvas);
	}

	private fit(): void {
		const scale = devicePixelRatio || 1;
		const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
		if (width === this.width && height === this.height && this.canvas.width === Math.round(width * scale))
			return;
		this.width = width;
		this.height = height;
		this.canvas.width = Math.round(width * scale);
		this.canvas.height = Math.round(height * scale);
		this.paint();
	}

	/** Draws with the next frame. */
	ask(): void {
		if (this.isAsked)
			return;
		this.isAsked = true;
		requestAnimationFrame(() => {
			this.isAsked = false;
			this.paint();
		});
	}

	private paint(): void {
		if (!this.width || !this.height)
			return;
		const begin = performance.now();
		const scale = this.canvas.width / this.width;
		this.pen.setTransform(scale, 0, 0, scale, 0, 0);
		this.draw();
		this.drawMs = performance.now() - begin;
		this.canvas.dataset["drawMs"] = this.drawMs.toFixed(2);
	}
}

const widths = new Map<string, number>();

function letterWidth(pen: CanvasRenderingContext2D): number {
	let width = widths.get(pen.font);
	if (width === undefined)
		widths.set(pen.font, width = pen.measureText("abcdefghijklmnopqrstuvwxyz_:0123").width / 32);
	return width;
}

/** Cuts a text to a width, by an estimate first: measuring is expensive. */
export function textFit(pen: CanvasRenderingContext2D, text: string, width: number): string {
	const letters = Math.floor(width / letterWidth(pen));
	if (text.length <= letters)
		return text;
	return letters < 3 ? "" : `${text.slice(0, letters - 1)}…`;
}
