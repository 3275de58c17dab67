/** A vector for a search whose scores do not depend on it: the store takes unit vectors only. */
export function anyUnitVector(dimensions: number): Float64Array {
  const vector = new Float64Array(dimensions);
  vector[0] = 1;
  return vector;
}
