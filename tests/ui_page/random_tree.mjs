// Random trees of calls whose order by name, by weight and by number all differ, for tests of what is drawn.

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function randomFrom(seed) {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ state >>> 15, state | 1);
		mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
		return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
	};
}

/** Weights over five decades; names are unique. parent[0] is the root's, which has no weight of its own. */
export function randomTree(random, size) {
	const parent = [0], self = [0], depth = [0];
	for (let i = 1; i < size; i++) {
		const near = Math.max(0, i - 1 - Math.floor(random() * 12)), above = random() < 0.2 ? 0 : near;
		parent.push(depth[above] < 25 ? above : 0);
		depth.push(depth[parent[i]] + 1);
		self.push(10 ** (2 + 5 * random()));
	}
	const names = parent.map((_, i) => `f${Math.floor(random() * 1e6)}_${i}`);
	return { parent, self, names, depth };
}
