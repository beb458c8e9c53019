import type { TestResponse } from './send-request.ts';

/** What a refused request says of its parts, as `pointer code`, sorted. */
export function violationsOf(response: TestResponse): string[] {
  const errors: { pointer: string; code: string }[] = response.json.errors ?? [];
  return errors.map(({ pointer, code }) => `${pointer} ${code}`).sort();
}
