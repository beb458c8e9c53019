import type { TestResponse } from './send-request.ts';

/** The violations in the problem document of a refused request, each as `pointer code`, sorted. */
export function violationsOf(response: TestResponse): string[] {
  const errors: { pointer: string; code: string }[] = response.json.errors ?? [];
  return errors.map(({ pointer, code }) => `${pointer} ${code}`).sort();
}
