/* SPDX-License-Identifier: MIT */
/*
 * The parts of the HTML report that are the same for all models.
 */
#pragma once

namespace nvdla::report
{

inline constexpr const char *pageStyle = R"(
body{font-family:'DejaVu Sans','Helvetica Neue',Arial,sans-serif;font-size:13px;color:#222;margin:24px}
table{border-collapse:collapse}
th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #ddd}
th{border-bottom:2px solid #999}
.t{text-align:left}
.name{max-width:26em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.layer{background:#f3f3f3;font-weight:bold}
.layer td:first-child{cursor:pointer}
.layer td:first-child::before{content:'\25BE ';color:#666}
.folded .layer td:first-child::before{content:'\25B8 '}
.folded tr:not(.layer){display:none}
.chosen td{background:#ffe9a8}
.cpu{color:#aa3377}
summary{cursor:pointer;font-size:1.4em;font-weight:bold;margin:1em 0 .4em}
button{margin:0 .5em .5em 0}
.picture{overflow:hidden;height:70vh;border:1px solid #ddd;cursor:grab;touch-action:none}
)";

/* CSS rules inside of the pictures' shadow trees, which the rules of the page do not reach. */
inline constexpr const char *pictureStyle = R"(
:host{display:block}
svg{transform-origin:0 0}
.chosen rect{stroke:#d62728;stroke-width:3}
[data-op],[data-layer],[data-steps]{cursor:pointer}
)";

/*
 * The script of the page. Table rows fold; the mouse drags and zooms pictures. A click on a
 * layer or a step highlights its operations; a click on a surface, the first and the last
 * operation that use the surface. Surfaces in use at that time are highlighted, too. The page
 * defines the array steps before this script: steps[i] is the operation of step i.
 */
inline constexpr const char *pageScript = R"(
const pictures = [...document.querySelectorAll('.picture')];
for (const picture of pictures) {
	const template = picture.querySelector('template');
	if (template && !picture.shadowRoot)
		picture.attachShadow({ mode: 'open' }).append(template.content);
}
function views() { return [document, ...pictures.map(picture => picture.shadowRoot)]; }

function choose(layer, operations) {
	const wanted = new Set(operations);
	const steps_ = operations.map(operation => steps.indexOf(operation)).filter(step => step >= 0);
	for (const view of views()) {
		for (const one of view.querySelectorAll('[data-op],[data-layer],[data-steps]')) {
			const own = (one.dataset.op || '').split(' ');
			const [first, last] = (one.dataset.steps || '1 0').split(' ').map(Number);
			one.classList.toggle('chosen', own.some(name => wanted.has(name)) ||
				(layer && one.dataset.layer === layer) || steps_.some(step => step >= first && step <= last));
		}
	}
}
function chosen(element) {
	if (element.dataset.steps) {
		const [first, last] = element.dataset.steps.split(' ').map(Number);
		return choose(null, [steps[first], steps[last]]);
	}
	if (element.dataset.layer) {
		const row = [...document.querySelectorAll('tr.layer')].find(row => row.dataset.layer === element.dataset.layer);
		const rows = row ? [...row.parentElement.querySelectorAll('[data-op]')] : [];
		return choose(element.dataset.layer, rows.flatMap(row => row.dataset.op.split(' ')));
	}
	const operations = element.dataset.op.split(' ');
	const rows = [...document.querySelectorAll('tr[data-op]')].filter(row =>
		row.dataset.op.split(' ').some(name => operations.includes(name)));
	choose(rows.length ? rows[0].parentElement.querySelector('.layer').dataset.layer : null,
	       rows.length ? rows.flatMap(row => row.dataset.op.split(' ')) : operations);
}
function show() {
	for (const view of views()) {
		const first = view.querySelector('.chosen');
		if (!first || view === document)
			continue;
		const picture = view.host, box = first.getBoundingClientRect(), frame = picture.getBoundingClientRect();
		picture.move(frame.left + frame.width / 2 - box.left - box.width / 2,
			     frame.top + frame.height / 2 - box.top - box.height / 2);
	}
}
for (const view of views()) {
	view.addEventListener('click', event => {
		const fold = event.target.closest('.layer td:first-child');
		if (fold)
			return fold.closest('tbody').classList.toggle('folded');
		const element = event.target.closest('[data-op],[data-layer],[data-steps]');
		if (!element)
			return;
		chosen(element);
		if (view === document)
			return show();
		const row = document.querySelector('tr.chosen');
		if (row) {
			row.closest('tbody').classList.remove('folded');
			row.closest('details').open = true;
			row.scrollIntoView({ block: 'nearest' });
		}
	});
}
for (const button of document.querySelectorAll('button'))
	button.addEventListener('click', () => {
		for (const body of document.querySelectorAll('tbody'))
			body.classList.toggle('folded', button.value === 'fold');
	});
for (const picture of pictures) {
	const svg = picture.shadowRoot.querySelector('svg');
	let scale = Math.min(1, picture.clientWidth / svg.getAttribute('width')), x = 0, y = 0, from = null;
	const draw = () => { svg.style.transform = `translate(${x}px,${y}px) scale(${scale})`; };
	picture.move = (right, down) => { x += right; y += down; draw(); };
	picture.addEventListener('wheel', event => {
		const frame = picture.getBoundingClientRect(), factor = Math.exp(-event.deltaY / 500);
		const atX = event.clientX - frame.left, atY = event.clientY - frame.top;
		event.preventDefault();
		x = atX - (atX - x) * factor;
		y = atY - (atY - y) * factor;
		scale *= factor;
		draw();
	}, { passive: false });
	picture.addEventListener('pointerdown', event => { from = [event.clientX, event.clientY]; });
	window.addEventListener('pointerup', () => { from = null; });
	window.addEventListener('pointermove', event => {
		if (!from)
			return;
		picture.move(event.clientX - from[0], event.clientY - from[1]);
		from = [event.clientX, event.clientY];
	});
	draw();
}
)";

} /* namespace nvdla::report */
