// A flame graph on a canvas: draws what is visible, finds what is under the pointer, moves by keys. It knows no panel:
// its owner's callbacks get what was pointed at, chosen and zoomed into.

import { Surface, textFit } from "../../core/canvas";
import { changeColour, greyColour, hash, languageFill, palette } from "../../core/colour";
import { differenceOf, Side } from "../../core/difference";
import { Found, FUNCTION, nodeLanguage, nodeName, TRIMMED } from "../../core/tree";
import { Boxes, GAP, LEAST, ROW } from "./boxes";
import { Layout, layoutFind, rowVisit } from "./layout";

/** As long as most systems allow between the two clicks: details that open earlier would cover the frame. */
const DOUBLE_CLICK_MS = 500;

export interface GraphEvents {
	point(node: number, event: PointerEvent): void;
	leave(): void;
	/** It is marked; details of it follow by choose(), unless a second click does. */
	mark?(node: number): void;
	choose(node: number): void;
	zoom(node: number): void;
}

export class Graph {
	readonly element: HTMLElement;
	private readonly surface: Surface;
	private readonly spacer = document.createElement("div");
	private layout: Layout | null = null;
	private sides: readonly [Side, Side] | null = null;
	private found: Found | null = null;
	private isUpwards = false;
	private pointed = -1;
	private timer = 0;
	private isFirst = true;
	private readonly boxes = new Boxes();
	/** Of each frame of the layout; -1: not asked for yet. */
	private fills = new Int32Array(0);
	/** Where the picture stands, read once for a drawing: asking the document for each frame would cost more than drawing. */
	private scrolled = 0;
	private full = 0;
	zoomed = 0;
	chosen = -1;
	/** The first level that is shown: 1 leaves the root out where it says nothing. */
	firstLevel = 0;

	constructor(label: string, private readonly events: GraphEvents) {
		this.surface = new Surface(label, () => this.draw());
		this.surface.canvas.tabIndex = 0;
		this.surface.canvas.setAttribute("role", "application");
		this.surface.canvas.setAttribute("aria-roledescription", "flame graph");
		this.element = document.createElement("div");
		this.element.className = "graph";
		this.spacer.append(this.surface.canvas);
		this.element.append(this.spacer);
		this.spacer.className = "graph-space";
		this.element.addEventListener("scroll", () => this.surface.ask());
		new ResizeObserver(() => this.fit()).observe(this.element);
		this.listen();
	}

	private listen(): void {
		const canvas = this.surface.canvas;
		canvas.addEventListener("pointermove", event => this.pointerMoved(event));
		canvas.addEventListener("pointerleave", () => {
			this.pointed = -1;
			this.surface.ask();
			this.events.leave();
		});
		canvas.addEventListener("click", event => this.clicked(this.nodeAt(event.offsetX, event.offsetY), DOUBLE_CLICK_MS));
		canvas.addEventListener("dblclick", event => {
			clearTimeout(this.timer);
			this.zoom(this.nodeAt(event.offsetX, event.offsetY));
		});
		canvas.addEventListener("keydown", event => this.key(event));
	}

	show(layout: Layout, sides: readonly [Side, Side] | null, isUpwards: boolean): void {
		this.layout = layout;
		this.sides = sides;
		this.isUpwards = isUpwards;
		this.zoomed = this.zoomed < layout.tree.size ? this.zoomed : 0;
		this.chosen = this.chosen < layout.tree.size ? this.chosen : -1;
		this.pointed = -1;
		this.coloursForget();
		this.fit();
	}

	mark(found: Found | null): void {
		this.found = found;
		this.surface.ask();
	}

	choose(node: number): void {
		this.chosen = node;
		this.surface.ask();
	}

	/** In the colours of another theme. */
	redraw(): void {
		this.coloursForget();
		this.surface.ask();
	}

	private coloursForget(): void {
		this.fills = new Int32Array(this.layout?.tree.size ?? 0).fill(-1);
		this.boxes.fillsForget();
	}

	/** The part of the whole that the zoomed frame is. */
	get share(): number {
		return this.layout ? this.layout.width[this.zoomed] / this.layout.width[0] : 1;
	}

	private fit(): void {
		const rows = (this.layout?.deepest ?? 0) + 1 - this.firstLevel;
		const isAtEnd = this.element.scrollTop + this.element.clientHeight >= this.spacer.offsetHeight - 2;
		this.spacer.style.height = `${Math.max(rows * ROW + 4, this.element.clientHeight)}px`;
		this.surface.canvas.style.height = `${this.element.clientHeight}px`;
		if (this.isUpwards && (this.isFirst || isAtEnd))
			this.element.scrollTop = this.spacer.offsetHeight;
		this.isFirst = !this.layout;
		this.surface.ask();
	}

	/** The top of a row on the canvas. */
	private rowTop(depth: number): number {
		const row = depth - this.firstLevel;
		return this.isUpwards ? this.full - (row + 1) * ROW - this.scrolled : row * ROW - this.scrolled;
	}

	private nodeAt(x: number, y: number): number {
		const layout = this.layout;
		if (!layout || !layout.width[this.zoomed])
			return -1;
		const below = this.element.scrollTop + y;
		const depth = this.firstLevel + Math.floor((this.isUpwards ? this.spacer.offsetHeight - below : below) / ROW);
		if (depth < this.firstLevel || depth > layout.deepest)
			return -1;
		const at = layout.left[this.zoomed] + x / this.surface.width * layout.width[this.zoomed];
		return layoutFind(layout, depth, at);
	}

	private pointerMoved(event: PointerEvent): void {
		const node = this.nodeAt(event.offsetX, event.offsetY);
		if (node !== this.pointed) {
			this.pointed = node;
			this.surface.ask();
		}
		if (node >= 0)
			this.events.point(node, event);
		else
			this.events.leave();
	}

	private clicked(node: number, delay: number): void {
		clearTimeout(this.timer);
		if (node < 0)
			return;
		this.choose(node);
		this.events.mark?.(node);
		// Another picture may come meanwhile, in which the frame has another number.
		if (delay)
			this.timer = setTimeout(() => { if (this.chosen >= 0) this.events.choose(this.chosen); }, delay);
		else
			this.events.choose(node);
	}

	zoom(node: number): void {
		if (node < 0)
			return;
		this.zoomed = node;
		this.surface.ask();
		this.events.zoom(node);
	}

	private draw(): void {
		const { pen, width, height } = this.surface, layout = this.layout, colours = palette();
		this.scrolled = this.element.scrollTop;
		this.full = this.spacer.offsetHeight;
		pen.fillStyle = colours.panel;
		pen.fillRect(0, 0, width, height);
		if (!layout || !layout.width[this.zoomed])
			return;
		pen.font = "12px ui-monospace, 'DejaVu Sans Mono', monospace";
		pen.textBaseline = "middle";
		const boxes = this.boxes;
		boxes.clear();
		for (let depth = this.firstLevel; depth <= layout.deepest; depth++) {
			const top = this.rowTop(depth);
			if (top <= height && top + ROW >= 0)
				rowVisit(layout, depth, this.zoomed, width, (node, left, right) => boxes.add(this.fillOf(node), node, left, right - left, top));
		}
		boxes.paint(pen);
		boxes.each((node, left, boxWidth, top) => this.frameDraw(node, left, boxWidth, top));
		pen.globalAlpha = 1;
	}

	private isFaint(node: number): boolean {
		return this.found !== null && !this.found.nodes[node] || node !== this.zoomed && this.isAbove(node);
	}

	/** The number of a fill: the colour of a frame, faint or not. Asked for once for each frame of a layout. */
	private fillOf(node: number): number {
		const isFaint = Number(this.isFaint(node));
		let known = this.fills[node]!;
		if (known < 0)
			known = this.fills[node] = this.boxes.fillFind(palette().isForced ? palette().panel : this.colourOf(node));
		return 2 * known + isFaint;
	}

	/** What a frame has besides its fill. */
	private frameDraw(node: number, left: number, width: number, top: number): void {
		const isMarked = node === this.chosen || node === this.pointed, isFound = this.found?.nodes[node];
		if (width <= 3 && !isMarked && !isFound)
			return;
		const { pen } = this.surface, colours = palette(), isFaint = this.isFaint(node);
		pen.globalAlpha = isFaint ? 0.4 : 1;
		if (colours.isForced && width > 3)
			pen.strokeRect(left + 0.5, top + 0.5, width - GAP, ROW - GAP - 1);
		if (isFound) {
			pen.fillStyle = colours.found;
			pen.fillRect(left, top + ROW - 4, Math.max(LEAST, width - GAP), 3);
		}
		pen.globalAlpha = isFaint ? 0.6 : 1;
		if (width > 26)
			this.labelDraw(node, left, width, top);
		pen.globalAlpha = 1;
		if (isMarked)
			this.edgeDraw(node, left, width, top);
		if (this.layout!.tree.type[node] === TRIMMED && width > 3)
			this.hatchDraw(left, width, top);
	}

	private labelDraw(node: number, left: number, width: number, top: number): void {
		const { pen } = this.surface, colours = palette();
		pen.fillStyle = colours.isForced ? colours.ink : colours.frameInk;
		const text = textFit(pen, nodeName(this.layout!.tree, node), width - 8);
		if (text)
			pen.fillText(text, left + 4, top + ROW / 2);
	}

	private edgeDraw(node: number, left: number, width: number, top: number): void {
		const { pen } = this.surface, colours = palette();
		pen.strokeStyle = node === this.chosen ? colours.accent : colours.ink;
		pen.lineWidth = node === this.chosen ? 2 : 1;
		pen.strokeRect(left + 0.5, top + 0.5, Math.max(1, width - GAP - 1), ROW - GAP - 1);
	}

	private hatchDraw(left: number, width: number, top: number): void {
		const { pen } = this.surface;
		pen.save();
		pen.beginPath();
		pen.rect(left, top, width - GAP, ROW - GAP);
		pen.clip();
		pen.strokeStyle = palette().line;
		pen.lineWidth = 1;
		for (let x = left - ROW; x < left + width; x += 6) {
			pen.beginPath();
			pen.moveTo(x, top + ROW);
			pen.lineTo(x + ROW, top);
			pen.stroke();
		}
		pen.restore();
	}

	private isAbove(node: number): boolean {
		return this.zoomed > 0 && this.layout!.tree.depth[node] < this.layout!.tree.depth[this.zoomed];
	}

	private colourOf(node: number): string {
		const tree = this.layout!.tree, isDark = palette().isDark;
		if (tree.totalB && this.sides) {
			const { a, b, isNoise } = differenceOf(tree.total[node], tree.totalB[node], this.sides);
			return changeColour(a, b, isNoise, isDark);
		}
		if (tree.type[node] < FUNCTION || tree.type[node] === TRIMMED)
			return greyColour(isDark);
		const language = nodeLanguage(tree, node);
		return language ? languageFill(language, hash(nodeName(tree, node)), isDark) : greyColour(isDark);
	}

	private key(event: KeyboardEvent): void {
		const moves: Record<string, () => number> = {
			ArrowUp: () => this.step(this.isUpwards ? "in" : "out"),
			ArrowDown: () => this.step(this.isUpwards ? "out" : "in"),
			ArrowLeft: () => this.beside(-1),
			ArrowRight: () => this.beside(1),
			Home: () => 0,
		};
		const move = moves[event.key];
		if (move && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			this.keyMoved(move());
		} else if (event.key === "Enter" && this.chosen >= 0) {
			event.preventDefault();
			this.zoom(this.chosen);
		} else if ((event.key === "Escape" || event.key === "Backspace") && this.zoomed > 0) {
			event.stopPropagation();
			event.preventDefault();
			this.zoom(event.key === "Escape" ? 0 : this.layout!.tree.parent[this.zoomed]);
		}
	}

	private keyMoved(to: number): void {
		const { tree, children } = this.layout!, node = tree.depth[to] < this.firstLevel ? children.list[children.first[to]] ?? to : to;
		this.clicked(node, 0);
		const top = this.rowTop(tree.depth[node]);
		if (top < 0)
			this.element.scrollTop += top;
		else if (top + ROW > this.element.clientHeight)
			this.element.scrollTop += top + ROW - this.element.clientHeight;
	}

	private step(direction: "in" | "out"): number {
		const { tree, children } = this.layout!;
		if (this.chosen < 0)
			return this.zoomed;
		if (direction === "out")
			return tree.parent[this.chosen];
		const first = children.first[this.chosen];
		return first < children.first[this.chosen + 1] ? children.list[first] : this.chosen;
	}

	private beside(by: number): number {
		const { tree, children } = this.layout!;
		if (this.chosen <= 0)
			return Math.max(0, this.chosen);
		const parent = tree.parent[this.chosen];
		const at = children.list.indexOf(this.chosen, children.first[parent]) + by;
		return at >= children.first[parent] && at < children.first[parent + 1] ? children.list[at] : this.chosen;
	}
}
