import { startTimeSlice } from '@ticketing/runtime/time-slice.ts';
import type { Cell, Pages } from './file-format.ts';

const chunkLength = 65_536;

/** How a text file is written: the text before the rows, the text of each row, and the text after them. */
export interface TextLayout {
  head: string;
  row(cells: readonly Cell[], index: number): string;
  tail: string;
}

/** Writes rows as UTF-8 text, at least one chunk per page, and pauses regularly so that other requests are served. */
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
      if (slice.isOver()) await slice.pause();
    }
    if (text !== '') yield Buffer.from(text);
    text = '';
    await slice.pause();
  }
  if (text + layout.tail !== '') yield Buffer.from(text + layout.tail);
}
