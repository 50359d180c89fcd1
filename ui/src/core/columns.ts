// Reads the binary tables of the server: a head, a list of columns, a JSON object, and the columns themselves. Anything
// out of bounds is an error, never a guess.

export type Meta = Record<string, unknown>;
type Numbers = Uint8Array | Uint32Array | Float64Array;

const MAGIC = 0x43504d4c; // "LMPC"
const HEAD = 16;
const ENTRY = 32;

export class Table {
	constructor(
		readonly meta: Meta,
		private readonly numeric: Map<string, Numbers>,
		private readonly textual: Map<string, string[]>,
	) {}

	/** The numbers of a column; none when the answer does not have it. */
	numbers(name: string): Numbers {
		return this.numeric.get(name) ?? new Float64Array(0);
	}

	strings(name: string): string[] {
		return this.textual.get(name) ?? [];
	}

	/** A number of the meta object, 0 where there is none. */
	number(name: string): number {
		const value = this.meta[name];
		return typeof value === "number" && Number.isFinite(value) ? value : 0;
	}

	text(name: string): string {
		const value = this.meta[name];
		return typeof value === "string" ? value : "";
	}
}

function stringsRead(buffer: ArrayBuffer, offset: number, count: number, bytes: number): string[] {
	if (count * 4 > bytes)
		throw new Error("damaged table: strings");
	const ends = new Uint32Array(buffer, offset, count);
	const area = new Uint8Array(buffer, offset + count * 4, bytes - count * 4);
	const decoder = new TextDecoder();
	const texts: string[] = new Array<string>(count);
	let begin = 0;
	for (let i = 0; i < count; i++) {
		const end = ends[i];
		if (end < begin || end > area.length)
			throw new Error("damaged table: ends of strings");
		texts[i] = decoder.decode(area.subarray(begin, end));
		begin = end;
	}
	return texts;
}

function numbersRead(buffer: ArrayBuffer, type: number, offset: number, count: number): Numbers {
	if (type === 1)
		return new Uint8Array(buffer, offset, count);
	if (type === 2)
		return new Uint32Array(buffer, offset, count);
	if (type === 3)
		return new Float64Array(buffer, offset, count);
	throw new Error("damaged table: type of a column");
}

function nameRead(buffer: ArrayBuffer, at: number): string {
	const bytes = new Uint8Array(buffer, at, 16);
	const end = bytes.indexOf(0);
	return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

export function tableRead(buffer: ArrayBuffer): Table {
	const view = new DataView(buffer);
	if (buffer.byteLength < HEAD || view.getUint32(0, true) !== MAGIC || view.getUint16(4, true) !== 1)
		throw new Error("not a table of this limpet");
	const columns = view.getUint16(6, true);
	const metaBytes = view.getUint32(8, true);
	const metaBegin = HEAD + ENTRY * columns;
	const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, metaBegin, metaBytes))) as Meta;
	const numeric = new Map<string, Numbers>();
	const textual = new Map<string, string[]>();
	for (let i = 0; i < columns; i++) {
		const at = HEAD + ENTRY * i;
		const name = nameRead(buffer, at);
		const type = view.getUint32(at + 16, true), count = view.getUint32(at + 20, true);
		const offset = view.getUint32(at + 24, true), bytes = view.getUint32(at + 28, true);
		if (type === 4)
			textual.set(name, stringsRead(buffer, offset, count, bytes));
		else
			numeric.set(name, numbersRead(buffer, type, offset, count));
	}
	return new Table(meta, numeric, textual);
}
