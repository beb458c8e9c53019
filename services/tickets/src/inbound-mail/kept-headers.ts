import { cutChars } from '@ticketing/runtime/cut-text.ts';
import type { Header } from 'postal-mime';
import { oneLine } from '../ticket/rules/one-line.ts';
import { mailLimits } from './limits.ts';

const headerName = /^[!-9;-~]{1,100}$/;

/**
 * The headers of a mail as `rawData.headers` has them: by names in lower case, a list where a header occurs several
 * times. Headers beyond the limit are left out, and longer values are cut.
 */
export function keptHeaders(headers: readonly Header[]): Record<string, string | string[]> {
  const kept = new Map<string, string[]>();
  let chars = 0;
  for (const { key, value } of headers) {
    if (!headerName.test(key)) continue;
    const text = cutChars(oneLine(value).trim(), mailLimits.keptHeaderValueChars);
    chars += key.length + text.length;
    if (chars > mailLimits.keptHeaderChars) break;
    const values = kept.get(key);
    if (values) values.push(text);
    else kept.set(key, [text]);
  }
  return Object.fromEntries(
    [...kept].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}
