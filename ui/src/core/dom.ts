// Elements without markup: everything that is shown is text, so a name can never become an element.

type Attributes = Record<string, string | number | boolean | EventListener | undefined>;
type Child = Node | string | null | undefined | false;

/** h("button", { class: "plain", onclick: f, disabled: true }, "Stop"). */
export function h<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	attributes: Attributes = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function")
			element.addEventListener(name.slice(2), value);
		else if (value === true)
			element.setAttribute(name, "");
		else if (value !== undefined && value !== false)
			element.setAttribute(name, String(value));
	}
	element.append(...children.filter((child): child is Node | string => Boolean(child)));
	return element;
}

/** Changes a text only when it differs, so that a selection of it stays. */
export function textSet(element: Element, text: string): void {
	if (element.textContent !== text)
		element.textContent = text;
}

export function attributeSet(element: Element, name: string, value: string | null): void {
	if (value === null)
		element.removeAttribute(name);
	else if (element.getAttribute(name) !== value)
		element.setAttribute(name, value);
}

/** A row of buttons of which one is pressed. */
export class Choice<T extends string> {
	readonly element: HTMLElement;
	private readonly buttons = new Map<T, HTMLButtonElement>();

	constructor(label: string, entries: readonly (readonly [T, string, string])[], chosen: (value: T) => void) {
		this.element = h("div", { class: "choice", role: "group", "aria-label": label });
		for (const [value, text, title] of entries) {
			const button = h("button", { type: "button", title, "aria-pressed": "false" }, text);
			button.addEventListener("click", () => chosen(value));
			this.buttons.set(value, button);
			this.element.append(button);
		}
	}

	set(value: T): void {
		for (const [key, button] of this.buttons)
			attributeSet(button, "aria-pressed", String(key === value));
	}

	/** Enables a value's button; the title of a disabled one has the reason. */
	enable(value: T, isEnabled: boolean, title: string): void {
		const button = this.buttons.get(value);
		if (!button)
			return;
		button.disabled = !isEnabled;
		button.title = title;
	}
}

/** A button that copies a text, and confirms it for a moment. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
	const button = h("button", { type: "button", class: "copy" }, label);
	button.addEventListener("click", event => {
		event.stopPropagation();
		void copyText(text()).then(done => {
			button.textContent = done ? "copied" : "not allowed";
			setTimeout(() => { button.textContent = label; }, 1200);
		});
	});
	return button;
}

export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return copyBySelection(text);
	}
}

// Where the clipboard is not to be had (a file, an old browser).
function copyBySelection(text: string): boolean {
	const area = h("textarea", { class: "off-screen", "aria-hidden": "true" });
	area.value = text;
	document.body.append(area);
	area.select();
	const done = document.execCommand("copy");
	area.remove();
	return done;
}
