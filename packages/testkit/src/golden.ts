import { expect } from 'vitest';

const dateTime = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;
const recentMs = 600_000;

/**
 * Compares a body with the one that is stored as `golden/<name>.json` in the folder of the test, including the order of
 * its keys. Times within 10 minutes of now, and trace ids, are replaced by placeholders.
 */
export async function golden(name: string, body: unknown): Promise<void> {
  const now = Date.now();
  const replaceVariable = (key: string, value: unknown) => {
    if (key === 'traceId') return '<trace>';
    const isRecent = typeof value === 'string' && dateTime.test(value) && now - Date.parse(`${value}Z`) < recentMs;
    return isRecent ? '<now>' : value;
  };
  await expect(`${JSON.stringify(body, replaceVariable, 2)}\n`).toMatchFileSnapshot(`golden/${name}.json`);
}
