/**
 * Reads a list page by page, by its cursor: `POST /ticket/search` and the deliveries of a webhook.
 *
 * Errors: those of `read`; an Error if a page continues with its own cursor.
 */
export async function* cursorPages<Page extends { nextCursor?: string | null }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield page;
    const next = page.nextCursor ?? undefined;
    if (next !== undefined && next === cursor) throw new Error('A page continues with its own cursor.');
    cursor = next;
  } while (cursor !== undefined);
}

/**
 * Reads a list page by page, by its offset. A write meanwhile can make an item appear twice, or in no page.
 *
 * Errors: those of `read`; an Error if a page does not say its limit.
 */
export async function* offsetPages<Page extends { total: number; limit: number }>(
  read: (offset: number) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  for (let offset = 0; ; ) {
    const page = await read(offset);
    yield page;
    if (!(page.limit >= 1)) throw new Error('The page does not say its limit.');
    offset += page.limit;
    if (offset >= page.total) return;
  }
}
