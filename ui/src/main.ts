// The page of `limpet ui`: shows what the server says about the processes of this machine.

async function show(): Promise<void> {
	const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
	const answer = await fetch("/api/processes", { headers: { Authorization: `Bearer ${token}` } });
	const place = document.getElementById("app");
	if (place) {
		place.textContent = await answer.text();
	}
}

void show();
