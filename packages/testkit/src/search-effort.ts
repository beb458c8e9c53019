/**
 * Whether tests search for longer, among more data: in the part "searches" of the acceptance run. It is also true in the part
 * "system", whose tests do not ask, because they run nowhere else.
 */
export const isDeep = process.env.TICKETING_TEST_EFFORT === 'deep';

/**
 * Returns how many runs a property test makes, or how much of something else a test tries: `normal` in `npm test`, `deep` in
 * the part "searches".
 */
export function runs(normal: number, deep: number): number {
  return isDeep ? deep : normal;
}
