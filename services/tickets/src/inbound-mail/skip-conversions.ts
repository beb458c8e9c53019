import PostalMime from 'postal-mime';

/** The fields of a parser that are not in its types. */
interface Parser {
  textTypes: Set<string>;
  textMap: Map<unknown, { plain?: unknown; html?: unknown }>;
}

const name = 'renderTextContent';
const render: unknown = Reflect.get(PostalMime.prototype, name);
if (typeof render !== 'function') throw new Error(`postal-mime has no ${name} any more.`);

/**
 * Keeps postal-mime from making texts of HTML, also of a message within a mail: nobody reads them, because the HTML is the
 * body, and 8 KiB of `href=` in a tag took 20 s. The text of a mail consists of the parts that are text.
 *
 * Source: docs/decisions/0062-parts-of-mail-libraries-are-replaced.md.
 */
Reflect.set(PostalMime.prototype, name, function (this: Parser) {
  const { textTypes, textMap } = this;
  for (const type of textTypes) {
    this.textTypes = new Set([type]);
    this.textMap = type === 'html' ? textMap : new Map([...textMap].filter(([, { plain }]) => plain));
    Reflect.apply(render, this, []);
  }
  Object.assign(this, { textTypes, textMap });
});
