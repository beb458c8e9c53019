/** Elements that are blocks of text. */
export const blockElements =
  names(`address article aside blockquote center dl div figure footer h1 h2 h3 h4 h5 h6 header
  hr main nav ol p pre section table ul`);

/** The elements of a table. */
export const tableElements = names('caption col colgroup table tbody td tfoot th thead tr');

const inlineElements = names(`a abbr b bdi bdo big br cite code del dfn em font i img ins kbd mark q s samp small span
  strike strong sub sup time tt u var wbr`);

/** All elements that a body may show. */
export const shownElements: ReadonlySet<string> = new Set([
  ...blockElements,
  ...tableElements,
  ...inlineElements,
  ...names('dd dt figcaption li'),
]);

/** Elements without content. */
export const voidElements: ReadonlySet<string> = new Set(names('br col hr img wbr'));

/** Elements whose content is dropped with them. */
export const droppedElements: ReadonlySet<string> = new Set(
  names('iframe noembed noframes noscript plaintext script style textarea title xmp'),
);

/** Splits a list of names at white space. */
export function names(list: string): string[] {
  return list.trim().split(/\s+/);
}
