/** Whether this is a part of the acceptance run that searches for longer, among more data. */
export const isDeep = process.env.TICKETING_TEST_EFFORT === 'deep';

/**
 * How many runs a property test makes, or how many operations a test runs at once: in `npm test`, or in the parts
 * "searches" and "system" of the acceptance run.
 */
export function runs(normal: number, deep: number): number {
  return isDeep ? deep : normal;
}
