// Writes tables as limpet's server does (docs/ui-api.md, "table").

const TYPES = { u8: [1, Uint8Array], u32: [2, Uint32Array], f64: [3, Float64Array] };

function stringsBytes(texts) {
	const parts = texts.map(text => Buffer.from(text, "utf8"));
	const ends = new Uint32Array(parts.length);
	let end = 0;
	parts.forEach((part, i) => { ends[i] = end += part.length; });
	return Buffer.concat([Buffer.from(ends.buffer), ...parts]);
}

/** columns: { name: ["u32", [numbers]] or ["strings", [texts]] }. */
export function tableWrite(meta, columns) {
	const entries = Object.entries(columns);
	const metaBytes = Buffer.from(JSON.stringify(meta), "utf8");
	const head = Buffer.alloc(16 + 32 * entries.length);
	const parts = [head, metaBytes];
	let at = head.length + metaBytes.length;
	const pad = () => {
		const bytes = (8 - at % 8) % 8;
		parts.push(Buffer.alloc(bytes));
		at += bytes;
	};
	entries.forEach(([name, [type, values]], i) => {
		pad();
		const bytes = type === "strings" ? stringsBytes(values) : Buffer.from(TYPES[type][1].from(values).buffer);
		const entry = 16 + 32 * i;
		head.write(name, entry, 16, "utf8");
		head.writeUInt32LE(type === "strings" ? 4 : TYPES[type][0], entry + 16);
		head.writeUInt32LE(values.length, entry + 20);
		head.writeUInt32LE(at, entry + 24);
		head.writeUInt32LE(bytes.length, entry + 28);
		parts.push(bytes);
		at += bytes.length;
	});
	head.write("LMPC", 0, 4, "latin1");
	head.writeUInt16LE(1, 4);
	head.writeUInt16LE(entries.length, 6);
	head.writeUInt32LE(metaBytes.length, 8);
	head.writeUInt32LE(at, 12);
	return Buffer.concat(parts);
}
