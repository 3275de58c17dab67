/**
 * Sorts the errors of a response to where the page shows them.
 *
 * @param {Map<string, string>} pointers the pointers of the nodes of the filter, to their keys
 */
export function faultsOf(failure, pointers) {
  const byNode = new Map();
  const timeRange = [];
  const others = [];
  for (const { pointer, detail } of failure?.errors ?? []) {
    const node = nearest(pointer, pointers);
    if (node !== undefined) byNode.set(node, [...(byNode.get(node) ?? []), named(pointer, detail)]);
    else if (pointer.startsWith('/time_range')) timeRange.push(withLabels(detail));
    else others.push(`${pointer}: ${detail}`);
  }
  return { byNode, timeRange, others };
}

/** The node that a pointer is in: `/filter/rules/0` for `/filter/rules/0/value`. */
function nearest(pointer, pointers) {
  for (let path = pointer; path !== ''; path = path.slice(0, path.lastIndexOf('/'))) {
    if (pointers.has(path)) return pointers.get(path);
  }
  return undefined;
}

/** A detail with the labels of the fields of the time range. */
function withLabels(detail) {
  const labelled = detail.replaceAll('start_time', 'From').replaceAll('end_time', 'To');
  return labelled.charAt(0).toUpperCase() + labelled.slice(1);
}

/** The detail after the name of the member that it is about. */
function named(pointer, detail) {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  return /^[a-z_]+$/.test(name) && name !== 'filter' ? `${name} ${detail}` : detail;
}
