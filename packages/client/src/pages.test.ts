import { expect, test } from 'vitest';
import { cursorPages, offsetPages } from './pages.ts';

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('follows the cursors up to the page without one', async () => {
  const next: Record<string, string | null> = { '': 'a', a: 'b', b: null };
  const asked: (string | undefined)[] = [];
  const pages = await all(
    cursorPages(async (cursor) => {
      asked.push(cursor);
      return { nextCursor: next[cursor ?? ''] ?? null };
    }),
  );
  expect(asked).toEqual([undefined, 'a', 'b']);
  expect(pages.length).toBe(3);
});

test('does not read the same page for ever', async () => {
  await expect(all(cursorPages(async () => ({ nextCursor: 'a' })))).rejects.toThrow(/own cursor/);
});

test('reads pages by their offset up to the total', async () => {
  for (const [total, offsets] of [
    [0, [0]],
    [10, [0]],
    [11, [0, 10]],
  ] as const) {
    const asked: number[] = [];
    await all(
      offsetPages(async (offset) => {
        asked.push(offset);
        return { total, limit: 10 };
      }),
    );
    expect(asked).toEqual(offsets);
  }
});

test('does not go on for ever where a page has no limit', async () => {
  for (const limit of [0, Number.NaN]) {
    await expect(all(offsetPages(async () => ({ total: 3, limit })))).rejects.toThrow(/limit/);
  }
});
