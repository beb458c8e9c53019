import type { Cell, Pages } from './file-format.ts';

/** Rows as pages of one row each. */
export async function* onePerPage(rows: readonly (readonly Cell[])[]): Pages {
  for (const row of rows) yield [row];
}

/** Endless pages, with a state that shows how many of them were pulled and whether they were closed. */
export function endlessPages(page: (index: number) => readonly (readonly Cell[])[]) {
  const state = { pulled: 0, isClosed: false };
  async function* pull(): Pages {
    try {
      for (;;) yield page(state.pulled++);
    } finally {
      state.isClosed = true;
    }
  }
  return { state, pages: pull() };
}

/** Returns all bytes of a written file. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}
