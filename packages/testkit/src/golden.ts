import { expect } from 'vitest';

const dateTime = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;
const nearMs = 600_000;

/**
 * Compares a body, key by key and in order, with the one that is stored as `golden/<name>.json` beside the test; times near
 * now and trace ids are blanked.
 */
export async function golden(name: string, body: unknown): Promise<void> {
  const now = Date.now();
  const blank = (key: string, value: unknown) => {
    if (key === 'traceId') return '<trace>';
    const isNow = typeof value === 'string' && dateTime.test(value) && now - Date.parse(`${value}Z`) < nearMs;
    return isNow ? '<now>' : value;
  };
  await expect(`${JSON.stringify(body, blank, 2)}\n`).toMatchFileSnapshot(`golden/${name}.json`);
}
