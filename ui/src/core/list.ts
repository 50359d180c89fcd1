// A list of which only the rows in sight exist: a table of a hundred thousand rows would stop the browser for seconds.

export class VirtualList {
	readonly element = document.createElement("div");
	private readonly space = document.createElement("div");
	private readonly rows = new Map<number, HTMLElement>();
	private size = 0;

	/** render(i) makes the element of a row, which is removed when it is out of sight. */
	constructor(private readonly rowHeight: number, private readonly render: (index: number) => HTMLElement) {
		this.element.className = "list";
		this.space.className = "list-space";
		this.space.setAttribute("role", "presentation");
		this.element.append(this.space);
		this.element.addEventListener("scroll", () => this.fill());
		new ResizeObserver(() => this.fill()).observe(this.element);
	}

	/** New contents: all rows in sight are made anew. */
	show(size: number): void {
		this.size = size;
		this.space.style.height = `${size * this.rowHeight}px`;
		for (const row of this.rows.values())
			row.remove();
		this.rows.clear();
		this.fill();
	}

	reveal(index: number): void {
		const top = index * this.rowHeight, { scrollTop, clientHeight } = this.element;
		if (top < scrollTop)
			this.element.scrollTop = top;
		else if (top + this.rowHeight > scrollTop + clientHeight)
			this.element.scrollTop = top + this.rowHeight - clientHeight;
		this.fill();
	}

	private fill(): void {
		const first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - 4);
		const last = Math.min(this.size, Math.ceil((this.element.scrollTop + this.element.clientHeight) / this.rowHeight) + 4);
		for (const [index, row] of this.rows) {
			if (index < first || index >= last) {
				row.remove();
				this.rows.delete(index);
			}
		}
		for (let index = first; index < last; index++) {
			if (!this.rows.has(index))
				this.rowAdd(index, first);
		}
	}

	// Rows stand in order in the document too, for screen readers.
	private rowAdd(index: number, first: number): void {
		const row = this.render(index);
		row.style.transform = `translateY(${index * this.rowHeight}px)`;
		row.classList.add("list-row");
		let next: HTMLElement | undefined;
		for (let i = index + 1; !next && i < first + 400; i++)
			next = this.rows.get(i);
		this.space.insertBefore(row, next ?? null);
		this.rows.set(index, row);
	}
}
