import { count, many, short } from '../format.js';
import { useMap } from '../hooks/use-map.js';
import { html } from '../html.js';
import { isSearchOf } from '../query.js';
import { cellOf, colouringOf, GROUPS, nearest, neighbour, placesOf, SCORE, STEPS } from '../scatter.js';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/hooks.js';

/** How far from a point the pointer may be, in pixels. */
const REACH = 18;

/**
 * The matches as points: those of similar meaning are near each other. A pointer or the arrow keys choose a point, and a
 * click or Enter shows its record.
 */
export function MatchMap({ service, query, columns, title, isEnabled, onColour, onShow }) {
  const isSearch = isSearchOf(query);
  const names = columns.map(({ name }) => name);
  const chosen = [SCORE, ...names].includes(query.colour) ? query.colour : '';
  const colour =
    chosen !== '' && (isSearch || chosen !== SCORE) ? chosen : isSearch ? SCORE : (names[0] ?? SCORE);
  const wanted = [...new Set([title, colour])].filter((name) => name !== undefined && name !== SCORE);
  const map = useMap(service.key, query, { columns: wanted, revision: service.databases, isEnabled });
  const points = map.value?.points ?? [];
  const colouring = useMemo(() => colouringOf(points, colour), [points, colour]);
  const nameOf = (point) => String(cellOf(point, title) ?? `#${point.id}`);
  return html`<section class="panel map" aria-label="Map" aria-busy=${map.isLoading}>
    <p class="bar">
      <label>
        Colour by${' '}
        <select aria-label="Colour by" value=${colour} onChange=${({ target }) => onColour(target.value)}>
          ${isSearch && html`<option value=${SCORE} selected=${colour === SCORE}>score</option>`}
          ${names.map((name) => html`<option value=${name} selected=${name === colour}>${name}</option>`)}
        </select>
      </label>
      <span class="muted">${map.value !== undefined && summary(map.value, isSearch)}</span>
    </p>
    <${Picture}
      points=${points}
      colouring=${colouring}
      label=${`Map of ${many(points.length, 'record')}. Arrow keys move between points, and Enter shows the record.`}
      textOf=${(point) => textOf(point, nameOf(point), colour)}
      onShow=${onShow}
    />
    ${map.failure !== undefined && html`<p class="fault" role="alert">${map.failure.message}</p>`}
    <${Legend} colouring=${colouring} points=${points.length} />
  </section>`;
}

function summary({ points, variance, has_more: hasMore }, isSearch) {
  if (points.length === 0) return isSearch ? 'no match' : 'no record with a vector';
  const number = count(points.length);
  const first = isSearch ? 'best matches' : 'records that were synced last';
  const all = isSearch
    ? `${number} ${points.length === 1 ? 'match' : 'matches'}`
    : `${many(points.length, 'record')} with a vector`;
  const shown = hasMore ? `the ${number} ${first}` : `all ${all}`;
  const part = Math.round(100 * (variance[0] + variance[1]));
  return `${shown} · the two directions show ${part} % of what differs`;
}

function textOf(point, name, colour) {
  const { relevance_score: score } = point;
  const value = colour === SCORE ? undefined : cellOf(point, colour);
  return [
    name.length > 80 ? `${name.slice(0, 80)}…` : name,
    ...(value === undefined || String(value) === name ? [] : [`${colour} ${String(value).slice(0, 60)}`]),
    ...(score === undefined ? [] : [`score ${score.toFixed(3)}`]),
  ].join(' · ');
}

/** The canvas, and below it the text of the current point. */
function Picture({ points, colouring, label, textOf, onShow }) {
  const canvas = useRef();
  const [size, setSize] = useState([0, 0]);
  const [current, setCurrent] = useState();
  const places = useMemo(() => placesOf(points, ...size), [points, size]);
  const at = points.findIndex(({ id }) => id === current);
  useEffect(() => {
    const element = canvas.current;
    const observer = new ResizeObserver(() => setSize([element.clientWidth, element.clientHeight]));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const [scheme, setScheme] = useState(0);
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setScheme((number) => number + 1);
    media.addEventListener('change', change);
    return () => media.removeEventListener('change', change);
  }, []);
  useLayoutEffect(
    () => draw(canvas.current, size, places, colouring, at),
    [size, places, colouring, at, scheme],
  );
  const find = ({ offsetX, offsetY }) => nearest(places, [offsetX, offsetY], REACH);
  const choose = (index) => setCurrent(points[index]?.id);
  const press = (event) => {
    if (event.key === 'Enter' && at >= 0) onShow(points[at]);
    else {
      const index = neighbour(places, at, event.key);
      if (index < 0) return;
      choose(index);
    }
    event.preventDefault();
  };
  return html`<canvas
      ref=${canvas}
      class=${at >= 0 ? 'picture chosen' : 'picture'}
      role="application"
      aria-roledescription="map"
      aria-label=${label}
      aria-describedby="map-point"
      tabindex="0"
      onPointerMove=${(event) => choose(find(event))}
      onPointerLeave=${() => setCurrent(undefined)}
      onClick=${(event) => {
        const index = find(event);
        choose(index);
        if (index >= 0) onShow(points[index]);
      }}
      onKeyDown=${press}
    ></canvas>
    <p class="point" id="map-point" aria-live="polite">${at >= 0 ? textOf(points[at]) : ''}</p>`;
}

/** Draws the points, first those without a colour, and the current one last. */
function draw(canvas, [width, height], places, { steps, colours }, current) {
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const radius = places.length > 500 ? 3 : 4;
  const dot = (path, [x, y], radius) => {
    path.moveTo(x + radius, y);
    path.arc(x, y, radius, 0, 2 * Math.PI);
  };
  context.globalAlpha = 0.9;
  for (let colour = -1; colour < Math.max(GROUPS, STEPS); colour += 1) {
    const path = new Path2D();
    for (const [at, place] of places.entries()) if (colours[at] === colour) dot(path, place, radius);
    const name = colour < 0 ? '--no-colour' : `--${steps === undefined ? 'group' : 'step'}-${colour}`;
    context.fillStyle = style.getPropertyValue(name);
    context.fill(path);
  }
  if (current < 0 || places[current] === undefined) return;
  context.globalAlpha = 1;
  const ring = new Path2D();
  dot(ring, places[current], radius + 4);
  context.strokeStyle = style.color;
  context.lineWidth = 2;
  context.stroke(ring);
}

const Swatch = ({ colour }) =>
  html`<span class="swatch" aria-hidden="true" style=${{ background: `var(--${colour})` }}></span>`;

/** What the colours mean. It also tells how many points have them to those who do not see the picture. */
function Legend({ colouring: { steps, groups = [], colours }, points }) {
  const none = colours.filter((colour) => colour < 0).length;
  if (points === 0) return null;
  return html`<ul class="legend" aria-label="Colours">
    ${
      steps !== undefined &&
      html`<li>
        <span>${short(steps.least)}</span>
        ${Array.from({ length: STEPS }, (_, at) => html`<${Swatch} colour=${`step-${at}`} />`)}
        <span><span class="hidden">to </span>${short(steps.greatest)}</span>
      </li>`
    }
    ${groups.map(
      ({ value, count: number }, at) => html`<li key=${`${typeof value} ${value}`}>
        <${Swatch} colour=${`group-${at}`} />
        <span class="text">${value === '' ? '(empty text)' : String(value).slice(0, 60)}</span> <span class="muted">${count(number)}</span>
      </li>`,
    )}
    ${
      none > 0 &&
      html`<li><${Swatch} colour="no-colour" />${groups.length > 0 ? 'others' : 'no value'} <span class="muted">${count(none)}</span></li>`
    }
  </ul>`;
}
