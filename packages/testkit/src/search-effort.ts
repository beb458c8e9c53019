/**
 * Whether this is the deep suite, `npm run test:deep`: it searches for counter-examples for longer, among more data.
 */
export const isDeep = process.env.TICKETING_TEST_EFFORT === 'deep';

/**
 * How many runs a property test makes, or how many operations a test runs at once: in `npm test`, or in the deep suite.
 */
export function runs(normal: number, deep: number): number {
  return isDeep ? deep : normal;
}
