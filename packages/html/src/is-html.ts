import { blockElements, droppedElements, names, shownElements, tableElements } from './html-elements.ts';

const STANDALONE = [...blockElements, ...tableElements, ...names('html head body br img li dd dt')].join('|');
const KNOWN = [...shownElements, ...droppedElements]
  .concat(names('html head body meta link base form input button select option label svg math object embed'))
  .join('|');
const REAL_TAG = new RegExp(
  `<(?:(?:${STANDALONE})[\\t\\n\\f\\r ]*/?>|/(?:${KNOWN})[\\t\\n\\f\\r ]*>|(?:${KNOWN})[\\t\\n\\f\\r /][^<>=]*=[^<>]*>)`,
  'i',
);

/**
 * Whether a body is HTML, that is, whether it contains a real tag; `a < b and c > d` and
 * `Max <max@example.com>` do not.
 *
 * Shape: a real tag is a known element that is structural (`<p>`, `<br>`), has an attribute (`<a href=…>`) or is
 * closed (`</b>`). A lone `<b>` in a sentence is text.
 */
export function isHtml(body: string): boolean {
  return body.includes('<') && REAL_TAG.test(body);
}
