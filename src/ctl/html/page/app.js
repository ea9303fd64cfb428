// SPDX-License-Identifier: GPL-2.0-only
// The time line and the tables of `lttctl report -o`. The numbers and their order: html.h.
"use strict";
(() => {
const $ = id => document.getElementById(id);
const CPU = 0, PROCESS = 1, THREAD = 2, VALUES = 3; // kinds of rows
const PAIR = 0, RUNNING = 1, RUNNABLE = 2; // states of spans; else a thread sleeps in a call
const LABELS = 210, AXIS = 24, LANE = 15, MARKS = 16, STATE = 5, PLOT = 34, GAP = 6, FRAME = 18, DEPTH = 8, LEVELS = 8;
const HUES = [210, 28, 150, 275, 340, 95, 186, 48, 245, 8];

/* --- numbers and words ---------------------------------------------------------------------- */

const count = n => n.toLocaleString("en");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

function duration(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
		if (ns >= size)
			return `${(ns / size).toPrecision(4)}\u2009${unit}`;
	return `${Math.round(ns)}\u2009ns`;
}

function trouble(sentence) {
	$("trouble").textContent = sentence;
	$("trouble").hidden = false;
}

function element(parent, tag, text, kind) {
	const made = document.createElement(tag);

	if (text !== undefined)
		made.textContent = text;
	if (kind)
		made.className = kind;
	parent.append(made);
	return made;
}

/** The first k in [low, high) for which after(k) holds; all behind it hold, too. */
function first(low, high, after) {
	while (low < high) {
		const middle = (low + high) >> 1;

		if (after(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* --- the data ------------------------------------------------------------------------------- */

const all = JSON.parse($("names").textContent);
const rows = all.rows.map(([kind, parent, number, events, more, label, host], id) =>
	({ id, kind, parent, number, events, more, label, host, lanes: [], state: [], threads: [] }));
const plots = all.lines.map(({ name, unit, points }) => ({
	kind: VALUES, label: name, unit, points, lanes: [], state: [],
	low: points.reduce((least, [, low]) => Math.min(least, low), 0),
	high: points.reduce((most, [,, high]) => Math.max(most, high), 0),
}));
const events = {}, spans = {}, cells = {};
let byRow, byCpu;

async function unpack(text) {
	let bytes;

	if (Uint8Array.fromBase64) {
		bytes = Uint8Array.fromBase64(text);
	} else {
		const letters = atob(text);

		bytes = new Uint8Array(letters.length);
		for (let i = 0; i < letters.length; i++)
			bytes[i] = letters.charCodeAt(i);
	}
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

function decode(raw) {
	let at = 0;
	const number = () => {
		let byte = raw[at++], value = byte & 127;

		for (let place = 128; byte > 127; place *= 128) {
			byte = raw[at++];
			value += (byte & 127) * place;
		}
		return value;
	};
	const signed = () => {
		const value = number();

		return value % 2 ? -(value + 1) / 2 : value / 2;
	};
	const column = (into, next = number) => {
		for (let i = 0; i < into.length; i++)
			into[i] = next();
		return into;
	};
	const sums = (into) => {
		let sum = 0;

		return column(into, () => sum += signed());
	};
	const nr = all.nr_events;

	events.at = sums(new Float64Array(nr));
	events.row = column(new Uint16Array(nr));
	events.cpu = column(new Uint16Array(nr));
	events.class = column(new Uint16Array(nr));
	spans.at = sums(new Float64Array(all.nr_spans));
	spans.took = column(new Float64Array(all.nr_spans));
	spans.row = column(new Uint16Array(all.nr_spans));
	spans.name = column(new Uint16Array(all.nr_spans));
	spans.flags = column(new Uint8Array(all.nr_spans));
	cells.row = column(new Uint16Array(all.nr_cells));
	cells.class = column(new Uint16Array(all.nr_cells));
	cells.bucket = sums(new Uint32Array(all.nr_cells));
	cells.count = column(new Float64Array(all.nr_cells));
	if (at !== raw.length)
		throw new Error(`${raw.length - at} bytes of its data are left`);
}

/** The numbers of events, by the row of each; rowOf(i) < 0: it has none. */
function group(nr, rowOf) {
	const begins = new Uint32Array(rows.length + 1);

	for (let i = 0; i < nr; i++)
		if (rowOf(i) >= 0)
			begins[rowOf(i) + 1]++;
	for (let r = 0; r < rows.length; r++)
		begins[r + 1] += begins[r];
	const next = begins.slice(), numbers = new Uint32Array(begins[rows.length]);

	for (let i = 0; i < nr; i++)
		if (rowOf(i) >= 0)
			numbers[next[rowOf(i)]++] = i;
	return row => numbers.subarray(begins[row], begins[row + 1]);
}

/** Spans that overlap are in lanes below each other. */
function stack() {
	for (let i = 0; i < spans.at.length; i++) {
		const row = rows[spans.row[i]], state = spans.flags[i] & 3;
		let lane = 0;

		if (state === RUNNING)
			rows[spans.name[i]].state.push(i);
		else if (state !== PAIR)
			row.state.push(i);
		if (state !== PAIR && row.kind !== CPU)
			continue;
		row.ends ??= [];
		while (lane < DEPTH - 1 && row.ends[lane] > spans.at[i])
			lane++;
		row.ends[lane] = spans.at[i] + spans.took[i];
		(row.lanes[lane] ??= []).push(i);
	}
}

/** Events of rows in buckets, each level of which has two of the one before. */
function levels(some) {
	const counts = new Map(), made = [];

	for (const row of some)
		for (const i of cellsOf(row.id))
			counts.set(cells.bucket[i], (counts.get(cells.bucket[i]) ?? 0) + cells.count[i]);
	made.push([...counts].sort((a, b) => a[0] - b[0]));
	for (let level = 1; level < LEVELS; level++) {
		const folded = [];

		for (const [bucket, nr] of made[level - 1]) {
			const last = folded.at(-1);

			if (last && last[0] === bucket >> 1)
				last[1] += nr;
			else
				folded.push([bucket >> 1, nr]);
		}
		made.push(folded);
	}
	return made;
}

let cellsOf;

function prepare() {
	byRow = group(events.at.length, i => events.row[i]);
	byCpu = group(events.at.length, i => events.cpu[i] - 1);
	cellsOf = group(cells.row.length, i => cells.row[i]);
	stack();
	for (const row of rows)
		if (row.kind === THREAD)
			rows[row.parent].threads.push(row);
}

const eventsOf = row => row.kind === CPU ? byCpu(row.id) : byRow(row.id);
const hasContent = row => row.events || row.lanes.length || row.state.length ||
	(row.kind === CPU && eventsOf(row).length);
const stateName = i => (spans.flags[i] & 3) === RUNNING ? "on a CPU" : (spans.flags[i] & 3) === RUNNABLE ? "waits for a CPU" :
	`asleep${all.calls[spans.name[i]] ? ` in ${all.calls[spans.name[i]]}` : ""}`;
const spanName = i => (spans.flags[i] & 3) === RUNNING ? rowName(rows[spans.name[i]]) :
	(spans.flags[i] & 3) === PAIR ? all.names[spans.name[i]] : stateName(i);
const className = c => all.classes[c] ?? "(other events)";

function rowName(row) {
	const hosts = new Set(rows.map(r => r.host).filter(Boolean)).size > 1;
	const at = hosts && row.host ? ` (${row.host})` : "";

	if (row.kind === VALUES)
		return row.label;
	if (row.kind === CPU)
		return `CPU ${row.number}${at}`;
	return `${row.label || "?"} ${row.number || ""}${at}${row.more ? " and others" : ""}`;
}

/* --- the lines ------------------------------------------------------------------------------ */

let lines = [], tall = 0, scroll = 0;
let from = 0, to = 1, wide = 0, high = 0, mouse = null;
let range = null, span = -1, hits = null, current = -1, colours = {};
const folded = new Set();

function total(process) {
	return process.threads.reduce((sum, thread) => sum + thread.events, process.events);
}

function arrange() {
	const cpus = rows.filter(row => row.kind === CPU && hasContent(row));
	const processes = rows.filter(row => row.kind === PROCESS && (total(row) || hasContent(row)));
	let y = 0;
	const add = (row, indent, some) => {
		const h = row.kind === VALUES ? PLOT + GAP : Math.max(1, row.lanes.length) * (row.lanes.length ? LANE : 0) +
			(row.kind !== CPU && row.state.length ? STATE : 0) + MARKS + GAP;

		lines.push({ row, y, h, indent, some });
		y += h;
	};

	lines = [];
	for (const cpu of cpus.sort((a, b) => a.number - b.number))
		add(cpu, 0, [cpu]);
	plots.forEach(plot => add(plot, 0, []));
	for (const process of processes.sort((a, b) => total(b) - total(a))) {
		const threads = process.threads.filter(hasContent).sort((a, b) => a.number - b.number);
		const isFolded = folded.has(process.id);

		add(process, 0, [process, ...threads]);
		lines.at(-1).threads = threads.length;
		if (!isFolded)
			threads.forEach(thread => add(thread, 1, [thread]));
	}
	tall = y;
	const shut = rows.filter(row => row.kind === THREAD && folded.has(row.parent)).length;

	$("hidden").textContent = `${plural(lines.length, "row")}${shut ? `, ${plural(shut, "thread")} folded` : ""}`;
	resize();
}

/** The events of a line, in order; those of folded threads are merged. */
function eventsOfLine(line) {
	line.events ??= line.row.kind === VALUES ? [] : line.some.length === 1 ? eventsOf(line.some[0]) :
		Uint32Array.from(line.some.flatMap(row => [...eventsOf(row)])).sort();
	return line.events;
}

const x = at => LABELS + (at - from) / (to - from) * (wide - LABELS);
const time = px => from + (px - LABELS) / (wide - LABELS) * (to - from);

function hue(text) {
	let hash = 0;

	for (let i = 0; i < text.length; i++)
		hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
	return HUES[hash % HUES.length];
}

const known = new Map();

function paint(text) {
	if (!known.has(text))
		known.set(text, `hsl(${hue(text)} ${colours.saturation} ${colours.light})`);
	return known.get(text);
}

function fit(canvas, w, h) {
	const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");

	canvas.style.width = `${w}px`;
	canvas.style.height = `${h}px`;
	canvas.width = Math.round(w * ratio);
	canvas.height = Math.round(h * ratio);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

let pen, mapPen, sum = null;

function readColours() {
	const style = getComputedStyle(document.documentElement);

	for (const name of ["text", "dim", "line", "back", "band", "accent", "loss", "mark", "saturation", "light", "ink"])
		colours[name] = style.getPropertyValue(`--${name}`).trim();
	known.clear();
}

function resize() {
	readColours();
	if (graph)
		drawFlame();
	wide = $("timeline").clientWidth;
	high = Math.min(tall + AXIS, Math.max(240, Math.round(window.innerHeight * 0.62)));
	pen = fit($("lines"), wide, high);
	mapPen = fit($("map"), wide, 48);
	sum = null;
	draw();
}

function fitText(context, text, room) {
	if (context.measureText(text).width <= room)
		return text;
	const kept = first(0, text.length, n => context.measureText(`${text.slice(0, n + 1)}\u2026`).width > room);

	return kept ? `${text.slice(0, kept)}\u2026` : "";
}

/* --- drawing -------------------------------------------------------------------------------- */

let waiting = false;

function draw() {
	if (!waiting)
		requestAnimationFrame(() => {
			const begin = performance.now();

			waiting = false;
			drawMap();
			drawLines();
			document.documentElement.dataset.redraw = (performance.now() - begin).toFixed(1);
			document.documentElement.dataset.view = `${from} ${to}`;
		});
	waiting = true;
}

function step() {
	const least = (to - from) / Math.max(1, (wide - LABELS) / 120);
	const power = 10 ** Math.floor(Math.log10(least));

	return Math.max(1, power * [1, 2, 5, 10].find(m => power * m >= least));
}

function drawGrid() {
	const width = step();

	pen.fillStyle = colours.line;
	for (let at = Math.ceil(from / width) * width; at <= to; at += width)
		pen.fillRect(Math.round(x(at)), AXIS - 5, 1, high);
}

function drawAxis() {
	const width = step(), digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(width) - 1e-9)));

	pen.fillStyle = colours.back;
	pen.fillRect(0, 0, wide, AXIS - 5);
	pen.fillStyle = colours.dim;
	for (let at = Math.ceil(from / width) * width; at <= to; at += width)
		if (x(at) < wide - 60)
			pen.fillText(`${(at / 1e9).toFixed(digits)} s`, Math.round(x(at)) + 4, 13);
	pen.fillText(duration(to - from), 12, 13);
}

function drawBands(context, toX, top, height) {
	context.fillStyle = colours.loss;
	context.globalAlpha = 0.28;
	for (const [begin, end] of all.losses) {
		const left = Math.max(LABELS, toX(begin)), right = Math.min(wide, toX(end));

		if (right >= LABELS && left <= wide)
			context.fillRect(left, top, Math.max(1.5, right - left), height);
	}
	context.globalAlpha = 1;
}

const matches = i => !hits || ((spans.flags[i] & 3) === PAIR && hits.names.has(spans.name[i]));

function drawSpan(i, left, right, y, h) {
	const state = spans.flags[i] & 3, name = spanName(i);

	pen.globalAlpha = matches(i) ? 1 : 0.2;
	pen.fillStyle = state === PAIR || state === RUNNING ? paint(state === RUNNING ? rows[spans.name[i]].label : name) :
		colours.dim;
	pen.fillRect(left, y, Math.max(1, right - left - (right - left > 3 ? 0.5 : 0)), h - 1);
	if (spans.flags[i] & 8) {
		pen.fillStyle = colours.loss;
		pen.fillRect(left, y + h - 3, Math.max(1, right - left), 2);
	}
	if (right - left > 44) {
		const room = right - left - 8, fits = pen.measureText(name).width <= room;

		pen.fillStyle = colours.ink;
		pen.fillText(fitText(pen, fits ? name : name.slice(name.lastIndexOf(":") + 1), room), left + 4, y + h - 4.5);
	}
	if (i === span) {
		pen.strokeStyle = colours.text;
		pen.lineWidth = 1.5;
		pen.strokeRect(left - 0.5, y - 0.5, Math.max(2, right - left) + 0.5, h);
	}
	pen.globalAlpha = 1;
}

function drawLane(lane, y, h, colour) {
	const end = i => spans.at[i] + spans.took[i];
	let k = first(0, lane.length, n => end(lane[n]) >= from);

	while (k < lane.length && spans.at[lane[k]] <= to) {
		const i = lane[k], left = Math.max(LABELS, x(spans.at[i])), right = Math.min(wide, x(end(i)));

		if (colour) {
			pen.fillStyle = colour(i);
			pen.fillRect(left, y, Math.max(1, right - left), h);
		} else {
			drawSpan(i, left, right, y, h);
		}
		const behind = time(Math.floor(left) + 1);

		k = right - left < 1 ? first(k + 1, lane.length, n => end(lane[n]) >= behind) : k + 1;
	}
}

/** Events of a pixel are one bar, the higher the more they are. */
function drawMarks(numbers, y, colour) {
	let k = first(0, numbers.length, n => events.at[numbers[n]] >= from);

	while (k < numbers.length && events.at[numbers[k]] <= to) {
		const px = Math.floor(x(events.at[numbers[k]])), behind = time(px + 1);
		const next = Math.max(k + 1, first(k, numbers.length, n => events.at[numbers[n]] >= behind));
		const one = next - k === 1, h = Math.min(MARKS - 2, one ? 9 : 6 + Math.log2(next - k));

		pen.fillStyle = colour ?? (one ? paint(className(events.class[numbers[k]])) : colours.mark);
		pen.fillRect(px, y + MARKS - h, one ? 2 : 1, h);
		k = next;
	}
}

function drawCells(line, y) {
	const pixel = (to - from) / (wide - LABELS);
	const level = Math.max(0, Math.min(LEVELS - 1, Math.round(Math.log2(pixel / all.bucket_ns))));
	const size = all.bucket_ns * 2 ** level;

	line.levels ??= levels(line.some);
	const made = line.levels[level];

	pen.fillStyle = colours.mark;
	for (let k = first(0, made.length, n => (made[n][0] + 1) * size >= from); k < made.length; k++) {
		const left = Math.max(LABELS, x(made[k][0] * size)), right = x((made[k][0] + 1) * size);
		const h = Math.min(MARKS - 2, 2 + 1.2 * Math.log2(1 + made[k][1] * Math.min(1, pixel / size)));

		if (left > wide)
			break;
		pen.fillRect(left, y + MARKS - h, Math.max(1, right - left), h);
	}
}

/** The number of the point whose values hold at a time; -1: it is before all of them. */
const pointAt = (points, at) => first(0, points.length, n => points[n][0] > at) - 1;
const amount = (plot, value) => `${count(value)}${plot.unit ? ` ${plot.unit}` : ""}`;

/** From the least to the largest value of each point, and the area below. */
function drawPlot(plot, top) {
	const { points, low, high: most } = plot;
	const height = value => top + PLOT - (value - low) / (most - low || 1) * (PLOT - 4);

	for (let k = Math.max(0, pointAt(points, from)); k < points.length && points[k][0] <= to; k++) {
		const left = Math.max(LABELS, x(points[k][0])), right = Math.min(wide, x(points[k + 1]?.[0] ?? all.span_ns));
		const upper = height(points[k][2]), base = height(Math.max(low, 0));

		pen.fillStyle = colours.accent;
		pen.globalAlpha = 0.22;
		pen.fillRect(left, Math.min(upper, base), Math.max(1, right - left), Math.abs(base - upper));
		pen.globalAlpha = 1;
		pen.fillRect(left, upper - 0.5, Math.max(1, right - left), Math.max(1.2, height(points[k][1]) - upper));
	}
}

function drawLine(line) {
	const y = AXIS + line.y - scroll, row = line.row;
	let below = y + 3;

	pen.save();
	pen.beginPath();
	pen.rect(LABELS, y, wide - LABELS, line.h);
	pen.clip();
	if (row.kind === VALUES)
		drawPlot(row, y);
	for (const lane of row.lanes) {
		if (lane)
			drawLane(lane, below, LANE);
		below += LANE;
	}
	if (row.kind !== CPU && row.state.length) {
		drawLane(row.state, below, STATE - 2, i => [0, colours.accent, colours.loss, colours.mark][spans.flags[i] & 3]);
		below += STATE;
	}
	if (all.nr_cells)
		drawCells(line, below);
	pen.globalAlpha = hits ? 0.25 : 1;
	drawMarks(eventsOfLine(line), below);
	pen.globalAlpha = 1;
	if (hits)
		for (const some of line.some)
			drawMarks(some.kind === CPU ? hits.byCpu(some.id) : hits.byRow(some.id), below, colours.accent);
	pen.restore();
	drawLabel(line, y);
}

function drawLabel(line, y) {
	const row = line.row, left = 12 + 12 * line.indent + (row.kind === PROCESS ? 12 : 0);
	const number = row.kind === CPU || row.kind === VALUES ? "" : String(row.number || "");
	const room = LABELS - left - 10 - (number ? pen.measureText(number).width + 6 : 0);
	const name = row.kind === CPU ? rowName(row) : `${row.label || "?"}${row.more ? " \u2026" : ""}`;

	pen.fillStyle = row.kind === THREAD ? colours.back : colours.band;
	pen.fillRect(0, y, LABELS - 1, line.h);
	pen.fillStyle = colours.text;
	if (row.kind === PROCESS && line.threads)
		pen.fillText(folded.has(row.id) ? "\u25b8" : "\u25be", 10, y + 15);
	pen.font = row.kind === THREAD ? colours.font : colours.bold;
	pen.fillText(fitText(pen, name, room), left, y + 15);
	pen.font = colours.font;
	pen.fillStyle = colours.dim;
	if (row.kind === VALUES)
		pen.fillText(`up to ${amount(row, row.high)}`, left, y + 30);
	pen.fillText(number, LABELS - 10 - pen.measureText(number).width, y + 15);
}

function drawLines() {
	pen.clearRect(0, 0, wide, high);
	colours.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
	colours.bold = `600 ${colours.font}`;
	pen.font = colours.font;
	const shown = lines.filter(line => line.y + line.h > scroll && line.y < scroll + high);

	pen.fillStyle = colours.band;
	for (const line of shown)
		if (line.row.kind !== THREAD)
			pen.fillRect(0, AXIS + line.y - scroll, wide, line.h);
	drawGrid();
	shown.forEach(drawLine);
	drawAxis();
	drawBands(pen, x, AXIS, high - AXIS);
	if (range) {
		const left = Math.max(LABELS, x(range[0])), right = Math.min(wide, x(range[1]));

		pen.fillStyle = colours.accent;
		pen.globalAlpha = 0.14;
		pen.fillRect(left, 0, Math.max(1, right - left), high);
		pen.globalAlpha = 1;
	}
	pen.fillStyle = colours.line;
	pen.fillRect(LABELS - 1, 0, 1, high);
	if (tall + AXIS > high) {
		const part = (high - AXIS) / tall;

		pen.fillStyle = colours.dim;
		pen.globalAlpha = 0.4;
		pen.fillRect(wide - 5, AXIS + scroll * part, 4, (high - AXIS) * part);
		pen.globalAlpha = 1;
	}
}

const mapX = at => LABELS + at / whole() * (wide - LABELS);
const whole = () => Math.max(1, all.span_ns);

/** All events over the whole trace. */
function sums() {
	const made = new Float64Array(Math.max(1, wide - LABELS));
	const add = (at, nr) =>
		made[Math.min(made.length - 1, Math.max(0, Math.floor(at / whole() * made.length)))] += nr;

	if (all.nr_cells)
		for (let i = 0; i < cells.row.length; i++)
			add((cells.bucket[i] + 0.5) * all.bucket_ns, cells.count[i]);
	else
		for (let i = 0; i < events.at.length; i++)
			add(events.at[i], 1);
	return made;
}

function drawMap() {
	sum ??= sums();
	const most = sum.reduce((a, b) => Math.max(a, b), 1);

	mapPen.clearRect(0, 0, wide, 48);
	mapPen.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
	mapPen.fillStyle = colours.dim;
	mapPen.fillText("Events over time", 12, 28);
	mapPen.fillStyle = colours.mark;
	for (let px = 0; px < sum.length; px++) {
		const h = sum[px] ? Math.max(1, 40 * sum[px] / most) : 0;

		mapPen.fillRect(LABELS + px, 44 - h, 1, h);
	}
	drawBands(mapPen, mapX, 2, 44);
	const left = Math.max(LABELS, mapX(from)), right = Math.min(wide, Math.max(left + 2, mapX(to)));

	mapPen.fillStyle = colours.back;
	mapPen.globalAlpha = 0.66;
	mapPen.fillRect(LABELS, 0, left - LABELS, 48);
	mapPen.fillRect(right, 0, wide - right, 48);
	mapPen.fillStyle = colours.accent;
	mapPen.globalAlpha = 1;
	if (right - left < wide - LABELS) {
		mapPen.fillRect(left - 1, 0, 1, 48);
		mapPen.fillRect(right, 0, 1, 48);
	}
	if (range) {
		mapPen.globalAlpha = 0.4;
		mapPen.fillRect(mapX(range[0]), 44, Math.max(2, mapX(range[1]) - mapX(range[0])), 4);
	}
	mapPen.globalAlpha = 1;
	if (hits)
		for (const at of hits.times.length < 5000 ? hits.times : [])
			mapPen.fillRect(mapX(at), 44, 1, 4);
	mapPen.fillStyle = colours.line;
	mapPen.fillRect(LABELS - 1, 0, 1, 48);
}

/* --- moving --------------------------------------------------------------------------------- */

function show(begin, end) {
	const margin = 0.01 * whole(), most = whole() + 2 * margin;
	const width = Math.min(most, Math.max(20, end - begin));

	from = Math.max(-margin, Math.min(begin, whole() + margin - width));
	to = from + width;
	draw();
}

function zoom(factor, px) {
	const at = time(Math.max(LABELS, px ?? (wide + LABELS) / 2));

	show(at - (at - from) * factor, at + (to - at) * factor);
}

const pan = part => show(from + part * (to - from), to + part * (to - from));

function scrollTo(y) {
	scroll = Math.max(0, Math.min(y, tall + AXIS - high));
	draw();
}

function showAround(begin, end) {
	const room = Math.max(200, (end - begin) * 1.5);

	show(begin - room, end + room);
}

/* --- selections ----------------------------------------------------------------------------- */

const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];

function table(parent, heads, lists) {
	const made = element(parent, "table"), head = element(element(made, "thead"), "tr");
	const body = element(made, "tbody");

	heads.forEach((text, i) => element(head, "th", text, i ? "n" : ""));
	for (const list of lists) {
		const line = element(body, "tr");

		list.forEach((text, i) => element(line, "td", text, i ? "n" : ""));
	}
}

function spanTable(parent, some) {
	const names = new Map();

	for (const i of some) {
		const name = spanName(i);

		if (!names.has(name))
			names.set(name, []);
		names.get(name).push(spans.took[i]);
	}
	const lists = [...names].map(([name, took]) => {
		const sorted = Float64Array.from(took).sort(), add = sorted.reduce((a, b) => a + b, 0);

		return [add, [name, count(sorted.length), duration(add), duration(quantile(sorted, 0.5)),
			duration(quantile(sorted, 0.9)), duration(quantile(sorted, 0.99)), duration(sorted.at(-1))]];
	}).sort((a, b) => b[0] - a[0]).map(([, list]) => list);

	if (lists.length)
		table(parent, ["Spans", "Count", "Total", "p50", "p90", "p99", "Longest"], lists.slice(0, 12));
	return lists.length;
}

function countEvents() {
	const [begin, end] = range, counts = new Map();
	const add = (c, nr) => counts.set(c, (counts.get(c) ?? 0) + nr);

	if (all.nr_cells) {
		for (let i = 0; i < cells.row.length; i++) { // the part of a bucket that is selected
			const at = cells.bucket[i] * all.bucket_ns;
			const part = Math.min(end, at + all.bucket_ns) - Math.max(begin, at);

			if (part > 0)
				add(cells.class[i], cells.count[i] * part / all.bucket_ns);
		}
	} else {
		for (let i = 0; i < events.at.length; i++)
			if (events.at[i] >= begin && events.at[i] <= end)
				add(events.class[i], 1);
	}
	return [...counts].map(([c, nr]) => [c, Math.round(nr)]).sort((a, b) => b[1] - a[1]);
}

function describeRange(box) {
	const counts = countEvents(), nr = counts.reduce((n, [, c]) => n + c, 0), some = [];

	for (let i = 0; i < spans.at.length; i++)
		if ((spans.flags[i] & 3) === PAIR && spans.at[i] >= range[0] && spans.at[i] + spans.took[i] <= range[1])
			some.push(i);
	element(box, "h3", `${duration(range[1] - range[0])} selected: ${all.nr_cells ? "about " : ""}${
		plural(nr, "event")}, ${plural(some.length, "span")}`);
	const parts = element(box, "div", undefined, "parts");

	table(parts, ["Events", "Count"], counts.slice(0, 12).map(([c, n]) => [className(c), count(n)]));
	spanTable(parts, some);
}

/** How the thread of a span passed its time: [state, number, ns], as `latency` has them: it runs unless it is known not to. */
function partsOf(i) {
	const begin = spans.at[i], end = begin + spans.took[i], parts = new Map([["on a CPU", [0, spans.took[i]]]]);
	const process = rows[rows[spans.row[i]].parent];
	const same = row => row.kind === THREAD && row.number === rows[spans.row[i]].number && rows[row.parent].host === process.host;

	for (const n of rows.filter(same).flatMap(row => row.state)) {
		const ns = Math.min(end, spans.at[n] + spans.took[n]) - Math.max(begin, spans.at[n]);
		const part = parts.get(stateName(n)) ?? [0, 0];

		if (ns <= 0)
			continue;
		parts.set(stateName(n), part);
		part[0]++;
		if ((spans.flags[n] & 3) !== RUNNING) {
			part[1] += ns;
			parts.get("on a CPU")[1] -= ns;
		}
	}
	return parts.size > 1 ? [...parts].map(([name, [nr, ns]]) => [name, nr, ns]).sort((a, b) => b[2] - a[2]) : [];
}

function describeSpan(box) {
	const state = spans.flags[span] & 3, name = spanName(span), some = [];
	const notes = [rowName(rows[spans.row[span]]), `at ${(spans.at[span] / 1e9).toFixed(9)} s`];

	if (spans.flags[span] & 8)
		notes.push("failed");
	if (spans.flags[span] & 4)
		notes.push("events were lost meanwhile");
	for (let i = 0; i < spans.at.length; i++)
		if ((spans.flags[i] & 3) === state && spans.name[i] === spans.name[span])
			some.push(i);
	const longer = some.reduce((n, i) => n + (spans.took[i] > spans.took[span]), 0);

	if (some.length > 1)
		notes.push(longer ? `${count(longer)} of ${plural(some.length, "span")} ${longer === 1 ? "is" : "are"} longer` :
			`the longest of ${plural(some.length, "span")}`);
	element(box, "h3", `${name}: ${duration(spans.took[span])}`);
	element(box, "p", notes.join(" \u00b7 "));
	const tables = element(box, "div", undefined, "parts"), parts = state === PAIR ? partsOf(span) : [];

	if (parts.length)
		table(tables, ["Its thread", "Times", "Total", "Share"], parts.map(([part, nr, ns]) =>
			[part, count(nr), duration(ns), `${(100 * ns / spans.took[span]).toFixed(1)}\u2009%`]));
	spanTable(tables, some);
}

function describe() {
	const box = $("chosen");

	box.replaceChildren();
	box.hidden = span < 0 && !range;
	if (span >= 0)
		describeSpan(box);
	if (range)
		describeRange(box);
	draw();
}

function select(begin, end) {
	range = begin === undefined ? null : [Math.min(begin, end), Math.max(begin, end)];
	describe();
}

function choose(i) {
	span = i;
	describe();
}

function lineAt(y) {
	return y < AXIS ? undefined : lines.find(line => y - AXIS + scroll >= line.y && y - AXIS + scroll < line.y + line.h);
}

/** The number of the state at a point of the canvas; -1: there is none. */
function stateAt(px, y, line) {
	const below = y - AXIS + scroll - line.y - 3 - line.row.lanes.length * LANE, some = line.row.state;
	const k = first(0, some.length, n => spans.at[some[n]] + spans.took[some[n]] >= time(px));

	return below >= 0 && below < STATE && px >= LABELS && k < some.length && spans.at[some[k]] <= time(px) ? some[k] : -1;
}

/** The number of the span at a point of the canvas; -1: there is none. */
function spanAt(px, y, line) {
	const lane = Math.floor((y - AXIS + scroll - line.y - 3) / LANE), some = line.row.lanes[lane];

	if (!some || px < LABELS)
		return -1;
	const k = first(0, some.length, n => spans.at[some[n]] + spans.took[some[n]] >= time(px - 1.5));

	return k < some.length && spans.at[some[k]] <= time(px + 1.5) ? some[k] : -1;
}

function eventAt(px, line) {
	const numbers = eventsOfLine(line), at = time(px);
	const k = first(0, numbers.length, n => events.at[numbers[n]] >= at);
	const near = [k - 1, k].filter(n => n >= 0 && n < numbers.length && Math.abs(x(events.at[numbers[n]]) - px) < 4)
		.sort((a, b) => Math.abs(events.at[numbers[a]] - at) - Math.abs(events.at[numbers[b]] - at));

	return near.length ? numbers[near[0]] : -1;
}

function hover(px, y) {
	const tip = $("tip"), line = lineAt(y), plot = line?.row.kind === VALUES && px >= LABELS ? line.row : null;
	const point = plot ? plot.points[pointAt(plot.points, time(px))] : undefined;
	const i = line ? spanAt(px, y, line) : -1;
	const state = line && i < 0 ? stateAt(px, y, line) : -1;
	const event = line && i < 0 && state < 0 && px >= LABELS ? eventAt(px, line) : -1;

	tip.hidden = !line || (i < 0 && event < 0 && state < 0 && !point && px >= LABELS);
	if (tip.hidden)
		return;
	tip.replaceChildren();
	if (px < LABELS) {
		element(tip, "b", rowName(line.row));
		if (line.some.length)
			element(tip, "span", plural(line.some.reduce((n, row) => n + (row.kind === CPU ? eventsOf(row).length : row.events), 0), "event"));
	} else if (point) {
		element(tip, "b", plot.label);
		element(tip, "span", point[1] === point[2] ? amount(plot, point[2]) : `${count(point[1])} to ${amount(plot, point[2])}`);
	} else if (state >= 0) {
		element(tip, "b", stateName(state));
		element(tip, "span", duration(spans.took[state]));
	} else if (i >= 0) {
		element(tip, "b", spanName(i));
		element(tip, "span", duration(spans.took[i]));
	} else {
		element(tip, "b", className(events.class[event]));
		element(tip, "span", `at ${(events.at[event] / 1e9).toFixed(9)} s`);
	}
	tip.style.left = `${Math.min(px + 14, wide - tip.offsetWidth - 8)}px`;
	tip.style.top = `${y + 16}px`;
}

/* --- search --------------------------------------------------------------------------------- */

function search(text) {
	const wanted = text.toLowerCase().trim(), has = name => name.toLowerCase().includes(wanted);

	hits = null;
	current = -1;
	wantedFrames = wanted ? has : null;
	if (graph)
		drawFlame();
	$("found").textContent = "";
	if (wanted) {
		const classes = new Set([...all.classes.keys()].filter(c => has(all.classes[c])));
		const names = new Set([...all.names.keys()].filter(n => has(all.names[n])));
		const times = [];
		let nr = 0;

		for (let i = 0; i < events.at.length; i++)
			if (classes.has(events.class[i]))
				times.push(events.at[i]);
		nr = times.length;
		if (all.nr_cells) {
			nr = 0;
			for (let i = 0; i < cells.row.length; i++)
				nr += classes.has(cells.class[i]) ? cells.count[i] : 0;
		}
		const found = [];

		for (let i = 0; i < spans.at.length; i++)
			if ((spans.flags[i] & 3) === PAIR && names.has(spans.name[i]))
				found.push(i);
		hits = {
			names, found,
			times: Float64Array.from([...times, ...found.map(i => spans.at[i])]).sort(),
			byRow: group(events.at.length, i => classes.has(events.class[i]) ? events.row[i] : -1),
			byCpu: group(events.at.length, i => classes.has(events.class[i]) ? events.cpu[i] - 1 : -1),
		};
		$("found").textContent = nr + found.length ?
			`${plural(nr, "event")}, ${plural(found.length, "span")}` : "nothing found";
	}
	draw();
}

/** The next one behind the last. */
function next(back) {
	if (!hits?.times.length)
		return;
	const nr = hits.times.length;

	current = current < 0 ? first(0, nr, k => hits.times[k] >= from) % nr : (current + (back ? nr - 1 : 1)) % nr;
	const at = hits.times[current], width = Math.min(to - from, whole() / 20);
	const i = hits.found.find(n => spans.at[n] === at);

	if (i !== undefined)
		choose(i);
	show(at - width / 2, at + width / 2);
	$("found").textContent = `${count(current + 1)} of ${count(nr)}`;
}

/* --- flame graphs ---------------------------------------------------------------------------- */

let graph = null, focus = null, flamePen, flameWide = 0, wantedFrames = null;

/** A frame begins where the one before it in the same caller ends. */
function lay(graph) {
	const path = [{ depth: 0, name: "all", total: graph.total, self: 0, at: 0, next: 0 }];

	graph.laid ??= [path[0], ...graph.nodes.map(([depth, frame, total, self]) => {
		const caller = path[depth - 1], node = { depth, name: graph.frames[frame], total, self, at: caller.next, next: caller.next };

		caller.next += total;
		path.length = depth;
		path.push(node);
		return node;
	})];
	return graph.laid;
}

const flameX = at => (at - focus.at) / focus.total * flameWide;
const covers = node => node.at <= focus.at && node.at + node.total >= focus.at + focus.total && node.depth <= focus.depth;
const isShown = node => covers(node) || (node.depth > focus.depth && node.at >= focus.at && node.at < focus.at + focus.total);
const flameValue = value => graph.unit === "ns" ? duration(value) : `${count(value)} ${graph.unit}`;

function drawFrame(node) {
	const left = Math.max(0, flameX(node.at)), right = Math.min(flameWide, flameX(node.at + node.total));

	if (right - left < 0.3)
		return;
	flamePen.globalAlpha = node.depth < focus.depth ? 0.5 : 1;
	flamePen.fillStyle = wantedFrames?.(node.name) ? colours.loss : node.depth ? paint(node.name) : colours.mark;
	flamePen.fillRect(left, node.depth * FRAME, Math.max(0.5, right - left - 0.5), FRAME - 1);
	flamePen.fillStyle = colours.ink;
	if (right - left > 24)
		flamePen.fillText(fitText(flamePen, node.name, right - left - 8), left + 4, node.depth * FRAME + 13);
}

function drawFlame() {
	const shown = lay(graph).filter(isShown);

	flameWide = $("flames").clientWidth;
	flamePen = fit($("flame"), flameWide, (shown.reduce((most, node) => Math.max(most, node.depth), 0) + 1) * FRAME);
	flamePen.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
	shown.forEach(drawFrame);
	$("flamenote").textContent = `${flameValue(graph.total)}${graph.left_out ? `; the ${count(graph.left_out)} smallest frames are left out` : ""}`;
}

function frameAt(event) {
	const depth = Math.floor(event.offsetY / FRAME);

	return graph.laid.find(node => node.depth === depth && isShown(node) && flameX(node.at) <= event.offsetX &&
		flameX(node.at + node.total) > event.offsetX);
}

function hoverFlame(event) {
	const tip = $("flametip"), node = frameAt(event), box = $("flames").getBoundingClientRect();

	tip.hidden = !node;
	if (!node)
		return;
	tip.replaceChildren();
	element(tip, "b", node.name);
	element(tip, "span", `${flameValue(node.total)}, ${(100 * node.total / graph.total).toFixed(1)}\u2009%`);
	element(tip, "span", `self ${flameValue(node.self)}`);
	tip.style.left = `${Math.max(0, Math.min(event.offsetX + 14, flameWide - tip.offsetWidth))}px`;
	tip.style.top = `${event.clientY - box.top + 16}px`;
}

function showGraph(chosen) {
	graph = chosen;
	focus = lay(graph)[0];
	for (const button of $("kinds").children)
		button.setAttribute("aria-pressed", button.textContent === graph.of);
	drawFlame();
}

function beginFlames() {
	if (!all.graphs.length)
		return;
	$("flames").hidden = false;
	readColours();
	for (const one of all.graphs)
		element($("kinds"), "button", one.of).addEventListener("click", () => showGraph(one));
	showGraph(all.graphs[0]);
	$("flame").addEventListener("click", event => {
		focus = frameAt(event) ?? graph.laid[0];
		drawFlame();
	});
	$("flame").addEventListener("pointermove", hoverFlame);
	$("flame").addEventListener("pointerleave", () => $("flametip").hidden = true);
}

/* --- mouse and keys ------------------------------------------------------------------------- */

const held = new Set();

function glide() {
	if (held.has("w"))
		zoom(0.94, mouse?.x);
	if (held.has("s"))
		zoom(1 / 0.94, mouse?.x);
	if (held.has("a"))
		pan(-0.025);
	if (held.has("d"))
		pan(0.025);
	if (held.size)
		requestAnimationFrame(glide);
}

function press(event) {
	const key = event.key, typing = event.target.tagName === "INPUT";

	if (typing && key === "Escape")
		event.target.blur();
	if (event.target === $("find") && key === "Enter")
		next(event.shiftKey);
	if (typing || event.ctrlKey || event.metaKey || event.altKey)
		return;
	if ("wasd".includes(key)) {
		if (!held.size)
			requestAnimationFrame(glide);
		held.add(key);
	} else if (key === "/") {
		event.preventDefault();
		$("find").focus();
	} else if (key === "m" && span >= 0) {
		select(spans.at[span], spans.at[span] + spans.took[span]);
	} else if (key === "f" && (range || span >= 0)) {
		showAround(...(range ?? [spans.at[span], spans.at[span] + spans.took[span]]));
	} else if (key === "0") {
		show(-Infinity, Infinity);
	} else if (key === "?") {
		$("keys").hidden = !$("keys").hidden;
	} else if (key === "Escape") {
		span = -1;
		select();
	}
}

function dragged(canvas, begin, move, end) {
	canvas.addEventListener("pointerdown", down => {
		const state = begin(down);
		let far = false;

		if (!state)
			return;
		canvas.setPointerCapture(down.pointerId);
		canvas.onpointermove = event => {
			far ||= Math.abs(event.clientX - down.clientX) + Math.abs(event.clientY - down.clientY) > 4;
			if (far)
				move(event, down, state);
		};
		canvas.onpointerup = event => {
			canvas.onpointermove = canvas.onpointerup = null;
			end(event, state, far);
		};
	});
}

function click(event) {
	const line = lineAt(event.offsetY);

	if (!line)
		return;
	if (event.offsetX < LABELS && line.row.kind === PROCESS) {
		if (!folded.delete(line.row.id))
			folded.add(line.row.id);
		arrange();
		scrollTo(scroll);
	} else if (event.offsetX >= LABELS) {
		choose(spanAt(event.offsetX, event.offsetY, line));
	}
}

function listen() {
	const canvas = $("lines");

	canvas.addEventListener("wheel", event => {
		event.preventDefault();
		if (event.shiftKey || event.offsetX < LABELS)
			scrollTo(scroll + event.deltaY + (event.shiftKey ? event.deltaX : 0));
		else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
			pan(event.deltaX / wide);
		else
			zoom(1.0015 ** event.deltaY, event.offsetX);
	}, { passive: false });
	canvas.addEventListener("pointermove", event => {
		mouse = { x: event.offsetX, y: event.offsetY };
		hover(mouse.x, mouse.y);
	});
	canvas.addEventListener("pointerleave", () => {
		mouse = null;
		$("tip").hidden = true;
	});
	dragged(canvas, down => ({ from, to, scroll, select: down.shiftKey, at: time(down.offsetX) }),
		(event, down, state) => {
			if (state.select) {
				range = [state.at, time(event.offsetX)].sort((a, b) => a - b);
				draw();
				return;
			}
			const moved = (down.clientX - event.clientX) / (wide - LABELS) * (state.to - state.from);

			scrollTo(state.scroll + down.clientY - event.clientY);
			show(state.from + moved, state.to + moved);
		}, (event, state, far) => {
			if (!far)
				click(event);
			else if (state.select)
				describe();
		});
	const at = event => Math.max(0, Math.min(1, (event.offsetX - LABELS) / (wide - LABELS))) * whole();

	dragged($("map"), down => ({ at: at(down) }), (event, down, state) => {
		range = [state.at, at(event)].sort((a, b) => a - b);
		draw();
	}, (event, state, far) => {
		if (far)
			describe();
		else
			show(state.at - (to - from) / 2, state.at + (to - from) / 2);
	});
	document.addEventListener("keydown", press);
	document.addEventListener("keyup", event => held.delete(event.key));
	window.addEventListener("blur", () => held.clear());
	window.addEventListener("resize", resize);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", resize);
	$("find").addEventListener("input", event => search(event.target.value));
	$("all").addEventListener("click", () => show(-Infinity, Infinity));
	$("help").addEventListener("click", () => $("keys").hidden = !$("keys").hidden);
}

/* --- tables --------------------------------------------------------------------------------- */

const value = cell => cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);

function sort(body, column, down) {
	const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));

	body.append(...[...body.rows].sort((a, b) =>
		(down ? -1 : 1) * order(value(a.cells[column]), value(b.cells[column]))));
}

/** A click on a call hides those that it calls, or shows them again. */
function fold(body) {
	body.addEventListener("click", event => {
		const line = event.target.closest("tr"), depth = line ? Number(line.dataset.depth) : 0;
		const isShut = line?.nextElementSibling?.hidden;

		for (let next = line?.nextElementSibling; next && Number(next.dataset.depth) > depth; next = next.nextElementSibling)
			next.hidden = !isShut;
	});
}

function enable(section) {
	if (section.id === "calls") { // its order is that of a tree
		fold(section.querySelector("tbody"));
		return;
	}
	const heads = [...section.querySelectorAll("th")], body = section.querySelector("tbody");

	heads.forEach((head, column) => head.addEventListener("click", () => {
		const down = head.dataset.sorted ? head.dataset.sorted === "up" : head.classList.contains("n");

		heads.forEach(other => delete other.dataset.sorted);
		head.dataset.sorted = down ? "down" : "up";
		sort(body, column, down);
	}));
	if (body.rows.length > 8) {
		const input = element(section.querySelector("h2"), "input");

		input.type = "search";
		input.placeholder = "Filter";
		input.addEventListener("input", () => {
			for (const line of body.rows)
				line.hidden = !line.textContent.toLowerCase().includes(input.value.toLowerCase());
		});
	}
}

function showSlow(line) {
	const at = Number(line.dataset.at), row = rows[line.dataset.row], took = Number(line.dataset.ns);
	const i = row.lanes.flat().find(n => spans.at[n] === at && spans.took[n] === took);

	if (row.kind === THREAD && folded.delete(row.parent))
		arrange();
	const place = lines.find(other => other.row === row);

	if (place)
		scrollTo(place.y - high / 3);
	showAround(at, at + took);
	if (i !== undefined)
		choose(i);
	$("timeline").scrollIntoView({ behavior: "smooth" });
}

/* --- begin ---------------------------------------------------------------------------------- */

async function begin() {
	document.querySelectorAll("main section").forEach(enable);
	beginFlames();
	if (!rows.length)
		return;
	if (!window.DecompressionStream) {
		trouble("This browser cannot unpack the time line, as it has no DecompressionStream; use a browser of 2023 or later.");
		return;
	}
	try {
		decode(await unpack($("numbers").textContent));
	} catch (error) {
		trouble(`The time line cannot be read; write the report again: ${error.message}`);
		return;
	}
	prepare();
	for (const row of rows)
		if (row.threads.length > (rows.length > 100 ? 8 : 64))
			folded.add(row.id);
	const notes = [];

	if (all.nr_cells)
		notes.push(`more than ${count(1e6)} events: shown as numbers in ${duration(all.bucket_ns)}, and those of the slowest spans`);
	if (all.left_out_spans)
		notes.push(`the ${count(all.nr_spans)} longest of ${count(all.all_spans)} spans are shown`);
	if (rows.some(row => row.kind !== CPU && row.state.length))
		notes.push("below the spans: blue, on a CPU; red, waiting for one; grey, asleep");
	if (all.losses.length)
		notes.push("red bands: events were lost");
	$("note").textContent = notes.join("; ");
	$("timeline").hidden = false;
	arrange();
	listen();
	show(-Infinity, Infinity);
	$("slowest")?.querySelector("tbody").addEventListener("click", event => showSlow(event.target.closest("tr")));
	document.documentElement.dataset.ready = performance.now().toFixed(0);
}

document.addEventListener("DOMContentLoaded", begin);
})();
