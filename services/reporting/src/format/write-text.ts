import type { Cell, Pages } from './column.ts';
import { startTimeSlice } from './time-slice.ts';

const chunkLength = 65_536;

/** A text file around its rows. */
export interface TextLayout {
  head: string;
  row(cells: readonly Cell[], index: number): string;
  tail: string;
}

/** Writes rows as UTF-8 text, at least one chunk per page, and lets other work run in between. */
export async function* writeText(layout: TextLayout, pages: Pages): AsyncGenerator<Uint8Array> {
  const slice = startTimeSlice();
  let text = layout.head;
  let index = 0;
  for await (const page of pages) {
    for (const cells of page) {
      text += layout.row(cells, index);
      index += 1;
      if (text.length >= chunkLength) {
        yield Buffer.from(text);
        text = '';
      }
      if (slice.isOver()) await slice.rest();
    }
    if (text !== '') yield Buffer.from(text);
    text = '';
    await slice.rest();
  }
  if (text + layout.tail !== '') yield Buffer.from(text + layout.tail);
}
