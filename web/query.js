import { filterFromJson, newGroup, requestFilter } from './filter.js';
import { VARIANTS } from './variants.js';

/** What the user asks for: the state that a permalink restores. */
export function emptyQuery() {
  return {
    database: '',
    text: '',
    /** The integer id of a record: its like are searched for, in place of the text. */
    like: '',
    /** Undefined until the user sets one; see `thresholdOf`. */
    threshold: undefined,
    /** Weight of exact words in the score; undefined until the user sets one. */
    lexical: undefined,
    filter: newGroup(),
    from: '',
    to: '',
    /** A name in `VARIANTS`. */
    variant: 'B',
    /** A column, or a time after `@`; '' for the default order. */
    sort: '',
    direction: 'asc',
    /** The names of the columns that results show; empty for all. */
    columns: [],
    /** The column of whose values each has one result; '' for all results. */
    distinct: '',
    /** How many of the best passages each result of a search shows; '' for the best alone, in its record. */
    passages: '',
    /** 'shown' while the map is. */
    map: '',
    /** What colours the points of the map: a column or the score; '' for the first that fits. */
    colour: '',
  };
}

/** What changes when another database is shown: nothing stays that speaks of the records or the columns of one. */
export function changeTo(database) {
  const { filter, from, to, sort, like, lexical, columns, distinct } = emptyQuery();
  return { database, filter, from, to, sort, like, lexical, columns, distinct };
}

/** A query with the defaults of its database for what the user has not set. */
export function withDefaults(query, { defaults = {} } = {}) {
  const { threshold, lexical = defaults.lexical } = query;
  return { ...query, threshold: threshold ?? defaults.threshold, lexical };
}

/** The threshold of a query: what the service takes for a search that names none, unless the user has set one. */
export function thresholdOf({ threshold, lexical = 0, like }) {
  return threshold ?? Number((0.2 * (like ? 1 : 1 - lexical)).toFixed(9));
}

/** Whether a query has scores: it is for a text, or for records like another one. */
export function isSearchOf({ text, like }) {
  return like !== '' || text.trim() !== '';
}

/** How many of the best passages of each result can be shown. */
export const PASSAGES = ['3', '5', '10'];

/** Results of one page. */
const LIMIT = 20;

/**
 * Makes the request of a query: its operation, and its body without what only this page asks for.
 *
 * @returns {{ operation: 'search' | 'query', body: object, pointers: Map<string, string> }}
 */
export function requestOf(query, { cursor, limit = LIMIT } = {}) {
  const { text, like, lexical, from, to, sort, direction, distinct } = query;
  const { filter, pointers } = requestFilter(query.filter);
  const isSearch = isSearchOf(query);
  const threshold = thresholdOf(query);
  const search =
    like === ''
      ? { text, threshold, ...(lexical !== undefined && { lexical }), ...(lexical > 0 && { prefix: true }) }
      : { like: { positive: [Number(like)] }, threshold };
  const range = { ...(from && { start_time: from }), ...(to && { end_time: to }) };
  const member = sort.startsWith('@') ? { time: `${sort.slice(1)}_at` } : { column: sort };
  const body = {
    ...(isSearch && { search }),
    ...(filter !== undefined && { filter }),
    ...(Object.keys(range).length > 0 && { time_range: range }),
    ...(!isSearch && sort !== '' && { sort: { ...member, direction } }),
    ...(distinct !== '' && { distinct: { column: distinct, counts: true } }),
    pagination: { limit, ...(cursor !== undefined && { cursor }) },
  };
  return { operation: isSearch ? 'search' : 'query', body, pointers };
}

/** As {@link requestOf}, with the members that only change what results show. */
export function pageRequestOf(query, options) {
  const { like, text, lexical, columns, passages } = query;
  const { body, ...rest } = requestOf(query, options);
  const isMarked = like === '' && text.trim() !== '' && lexical > 0;
  return {
    ...rest,
    body: {
      ...body,
      ...(columns.length > 0 && { columns }),
      ...(isMarked && { highlights: true }),
      ...(passages !== '' && isSearchOf(query) && { passages: Number(passages) }),
    },
  };
}

/** The fragment of the address that restores a query. It never has a key. */
export function fragmentOf(query) {
  const parameters = new URLSearchParams();
  const defaults = emptyQuery();
  for (const name of Object.keys(defaults)) {
    const isText = name !== 'filter' && name !== 'columns';
    if (isText && query[name] !== defaults[name]) parameters.set(name, String(query[name]));
  }
  if (query.columns.length > 0) parameters.set('columns', JSON.stringify(query.columns));
  const { filter } = requestFilter(query.filter);
  if (filter !== undefined) parameters.set('filter', JSON.stringify(filter));
  return parameters.toString();
}

/** The query of a fragment. What is not valid is left out, because an address can be cut off or typed. */
export function queryOf(fragment) {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const query = emptyQuery();
  for (const name of ['database', 'text', 'sort', 'distinct', 'map', 'colour'])
    query[name] = parameters.get(name) ?? '';
  for (const name of ['from', 'to']) {
    const time = parameters.get(name) ?? '';
    if (!Number.isNaN(Date.parse(time))) query[name] = time;
  }
  for (const name of ['threshold', 'lexical']) {
    const number = Number(parameters.get(name) ?? Number.NaN);
    if (number >= 0 && number <= 1) query[name] = number;
  }
  const like = parameters.get('like') ?? '';
  if (/^[1-9]\d{0,15}$/.test(like)) query.like = like;
  const variant = parameters.get('variant') ?? '';
  if (Object.hasOwn(VARIANTS, variant)) query.variant = variant;
  const passages = parameters.get('passages') ?? '';
  if (PASSAGES.includes(passages)) query.passages = passages;
  if (parameters.get('direction') === 'desc') query.direction = 'desc';
  const columns = jsonOf(parameters.get('columns'));
  if (Array.isArray(columns)) query.columns = columns.filter((name) => typeof name === 'string');
  try {
    query.filter = filterFromJson(jsonOf(parameters.get('filter')));
  } catch {
    // The page shows the query without a filter.
  }
  return query;
}

function jsonOf(text) {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
