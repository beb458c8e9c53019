import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { marked } from 'marked';
import { expect, test } from 'vitest';
import { cleanMarkdown, escapeMarkdown } from './clean-markdown.ts';

test.each([
  ['# Titel\n\n*a* **b** `c` > d\n- e\n1. f', '# Titel\n\n*a* **b** `c` > d\n- e\n1. f'],
  ['a < b, a <= 3, <- und 5 <6', 'a < b, a <= 3, <- und 5 <6'],
  [
    'x <b>a</b> <br/> <BR> <https://a.de/x?y#z> <ada@example.org>',
    'x <b>a</b> <br/> <BR> <https://a.de/x?y#z> <ada@example.org>',
  ],
  ['<script>alert(1)</script>', ''],
  ['a <script>alert(1)</script>', 'a &lt;script>alert(1)&lt;/script>'],
  ['a <p onclick="x">b</p>.', 'a <p>b</p>.'],
  ['a <img src="https://a.de/a.png" onerror=x>.', 'a <img src="https://a.de/a.png" />.'],
  ['a <a href="javascript:x" title="t">b</a>.', 'a <a title="t">b</a>.'],
  ['a <!-- x --> b <!-- c', 'a   b &lt;!-- c'],
  ['a <<!-- -->script>', 'a < script>'],
  ['a <\0script>', 'a &lt;script>'],
  [
    '<svg/onload=x> <math> <?php ?> <!x> <javascript:x> b',
    '&lt;svg/onload=x> &lt;math> &lt;?php ?> &lt;!x> &lt;javascript:x> b',
  ],
  ['```\n<div id=x>\n```\n', '```\n<div>\n```\n'],
  ['[a](javascript:alert(1)) b', '[a](#) b'],
  ['[a](JaVaScRiPt:x) ![b](vbscript:x) [c](data:text/html,x)', '[a](#) ![b](#) [c](#)'],
  [
    '[a](java\\script:x) [a](javascript\\:x) [a](javascript&colon;x) [a](&#106;avascript:x)',
    '[a](#) [a](#) [a](#) [a](#)',
  ],
  ['[a](\n  javascript:x "t")', '[a](\n  # "t")'],
  ['> [a](\n> javascript:x)', '> [a](\n> #)'],
  ['[a](<javascript:x>) [b](<java\tscript:x>) [c](<my file.md>)', '[a](#) [b](#) [c](my%20file.md)'],
  ['![a](![b](javascript: )', '![a](![b](# )'],
  ['[a](b[c](javascript:x) [d]: e]: javascript:x', '[a](b[c](#) [d]: e]: #'],
  ['[a]: javascript:x\n[a]', '[a]: #\n[a]'],
  ['[a]: <data:text/html,x>', '[a]: #'],
  ['[a](\u0001javascript:x)', '[a](#)'],
  [
    '[a](https://a.de/b_(c)?d=e:f) [b](#c) [d](../e.md) [f](mailto:a@b.de) [g](tel:1) [h](R&D.md) [i](a/b:c)',
    undefined,
  ],
  ['![a](data:image/png;base64,AAAA) ![b](cid:x)', undefined],
  [
    '<p>a</p>\n<p><a href="https://a.de">b</a></p>',
    '<p>a</p>\n<p><a href="https://a.de" target="_blank" rel="noopener noreferrer nofollow">b</a></p>',
  ],
  ['<p>a</p>\n\n[x](javascript:x)\n\n<p>b</p>', '<p>a</p>\n\n[x](#)\n\n<p>b</p>'],
  // guarantee: I8
])('%j', (text, expected) => {
  expect(cleanMarkdown(text)).toBe(expected ?? text);
});

/** Lists the elements and attributes in HTML that a browser would run or open. */
function dangersIn(html: string): string[] {
  const dangers: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      if (/^(?:script|style|iframe|object|embed|svg|math|base|meta|link|form|template|noscript)$/.test(name))
        dangers.push(name);
      for (const [key, value] of Object.entries(attributes)) {
        if (/^on|^srcdoc$|^formaction$/.test(key)) dangers.push(key);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers skip them
        const url = value.replace(/[\x00-\x20]/g, '');
        const isImage = name === 'img' && /^data:image\/(?:png|jpe?g|gif|webp);base64,/i.test(url);
        if (
          /^(?:href|src|action|background)$/.test(key) &&
          /^(?:javascript|vbscript|data|file):/i.test(url) &&
          !isImage
        )
          dangers.push(`${key}=${value}`);
      }
    },
  });
  parser.end(html);
  return dangers;
}

const pieces = fc.oneof(
  fc.constantFrom(
    ...[
      '<',
      '>',
      '/',
      '!',
      '--',
      '<!--',
      '-->',
      'script',
      'svg',
      'img src=x',
      ' onerror=x',
      'a href=',
      'p',
      'b',
      '"',
      "'",
    ],
    ...[
      '[',
      ']',
      '(',
      ')',
      '](',
      ']:',
      '[x](',
      '![x](',
      '[x]: ',
      '<javascript:',
      'javascript:',
      'JAVASCRIPT&colon;',
      'java',
    ],
    ...[
      'script:',
      '&#x6A;avascript:',
      '\\',
      '&#58;',
      '&Tab;',
      ':',
      'data:',
      'x',
      '#',
      ' ',
      '\n',
      '\n\n',
      '\t',
      '> ',
      '- ',
      '    ',
    ],
    ...[
      '`',
      '```\n',
      '~~~\n',
      '|',
      '*',
      '_',
      '\0',
      '\u0001',
      '\r',
      '&lt;',
      '&amp;',
      '<p>',
      '</p>',
      '<details ontoggle=x>',
      'https://a.de',
    ],
  ),
  fc.string({ maxLength: 4 }),
);

// guarantee: I8
// asvs: 1.3.5
test('nothing harmful is left, shown as Markdown or as HTML, and a second pass changes nothing', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 24 }), (parts) => {
      const text = parts.join('');
      for (const cleaned of [cleanMarkdown(text), escapeMarkdown(text)]) {
        expect(dangersIn(cleaned)).toEqual([]);
        expect(dangersIn(marked.parse(cleaned, { async: false }))).toEqual([]);
        expect(dangersIn(marked.parse(cleaned, { async: false, gfm: false }))).toEqual([]);
      }
      expect(cleanMarkdown(cleanMarkdown(text))).toBe(cleanMarkdown(text));
    }),
    { numRuns: runs(3_000, 100_000) },
  );
});
