import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isHtml } from './is-html.ts';
import { sanitiseHtml } from './sanitise-html.ts';

const MEBIBYTE = 1_048_576;

describe('isHtml', () => {
  it.each([
    '<p>Hello</p>',
    'first<br>second',
    'first<BR/>second',
    '<html><body>x</body></html>',
    'a <b>bold</b> word',
    '<a href="https://example.com">x</a>',
    '<font color=red>x',
    '<script>alert(1)</script>',
    '<td\n>x',
  ])('recognises %j as HTML', (body) => {
    expect(isHtml(body)).toBe(true);
  });

  it.each([
    '',
    'Hello',
    'a < b and c > d',
    'a<b and c>d',
    'a <b and c> d',
    'Max <max@example.com>',
    'see <https://example.com/?a=b>',
    'I <3 you',
    'if (x<p && y>q)',
    'write <b> for bold',
    '<<<<>>>>',
    'order <order number> is late',
    '<!-- note -->',
    '<p',
  ])('recognises %j as text', (body) => {
    expect(isHtml(body)).toBe(false);
  });
});

describe('sanitiseHtml', () => {
  it.each([
    ['', ''],
    ['Hello\r\n  world & co', 'Hello\r\n  world & co'],
    ['a < b and c > d', 'a < b and c > d'],
    ['I <3 you', 'I <3 you'],
    ['Max <max@example.com>', 'Max &lt;max@example.com>'],
    ['a<b and c>d', 'a&lt;b and c>d'],
    ['<!-- note -->', '&lt;!-- note -->'],
    ['ends with <', 'ends with &lt;'],
  ])('returns the text %j as %j', (body, shown) => {
    expect(sanitiseHtml(body)).toBe(shown);
  });

  it.each([
    ['<p>Hi<br>you</p>', '<p>Hi<br />you</p>'],
    ['<h1>T</h1><ul><li>a<li>b</ul>', '<h1>T</h1><ul><li>a</li><li>b</li></ul>'],
    ['<p>a < b, Max <max@example.com></p>', '<p>a &lt; b, Max &lt;max@example.com&gt;</p>'],
    ['<p>1 &lt; 2 &amp; 3&nbsp;</p>', '<p>1 &lt; 2 &amp; 3\u00a0</p>'],
    [
      '<table border="0"><tr><td colspan=2>a<td>b</table>',
      '<table border="0"><tr><td colspan="2">a</td><td>b</td></tr></table>',
    ],
    [
      '<a href="https://example.com/?a=1&amp;b=2" target=_top rel=opener>x</a>',
      '<a href="https://example.com/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer nofollow">x</a>',
    ],
    ['<a href="tel:+49301">x</a>', '<a href="tel:+49301" target="_blank" rel="noopener noreferrer nofollow">x</a>'],
    ['<img src="cid:a@b" alt="A">', '<img alt="A" src="cid:a@b" />'],
    ['<img src="data:image/png;base64,AAAA">', '<img src="data:image/png;base64,AAAA" />'],
    [
      `<p style="COLOR: Red; font-family: &quot;Segoe UI&quot;, sans-serif; margin:0 auto 2px">x</p>`,
      `<p style="color:Red;font-family:'Segoe UI', sans-serif;margin:0 auto 2px">x</p>`,
    ],
    ['<o:p>x</o:p><p class=MsoNormal id=a>y</p>', 'x<p>y</p>'],
    ['<p><b>open', '<p><b>open</b></p>'],
    ['x</div></p><b>y</b>', 'x<b>y</b>'],
    ['<p>a\0b</p>', '<p>ab</p>'],
  ])('returns %j as %j', (body, shown) => {
    expect(sanitiseHtml(body)).toBe(shown);
  });

  // guarantee: I7
  // asvs: 1.2.1, 1.2.2
  it.each(VECTORS())('makes %j harmless', (vector) => {
    for (const body of [vector, `<p>before</p>${vector}`, `<div>${vector}</div>`, `text ${vector}<br>`]) {
      expectHarmless(sanitiseHtml(body));
    }
  });

  // guarantee: I7
  // asvs: 1.3.1
  it('returns only harmless tags for any mixture of fragments', () => {
    fc.assert(
      fc.property(fragments(), (body) => expectHarmless(sanitiseHtml(body))),
      { numRuns: runs(500, 20_000) },
    );
  });

  it('changes nothing in a second pass', () => {
    fc.assert(
      fc.property(fragments(), (body) => {
        const once = sanitiseHtml(body);
        expect(sanitiseHtml(once)).toBe(once);
      }),
      { numRuns: runs(500, 20_000) },
    );
  });

  it('keeps every text without a less-than sign', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const body = text.replaceAll('<', '');
        expect(sanitiseHtml(body)).toBe(body);
      }),
    );
  });

  it('drops tags beyond 256 open elements and 50,000 tags, and keeps their text', () => {
    const deep = sanitiseHtml(`${'<b>'.repeat(257)}x${'</b>'.repeat(257)}`);
    expect(deep).toBe(`${'<b>'.repeat(256)} x${'</b>'.repeat(256)}`);
    const many = sanitiseHtml('<b>x</b>'.repeat(50_001));
    expect(many).toBe(`${'<b>x</b>'.repeat(50_000)} x`);
  });

  it('reads 300 paragraphs, items and rows without end tags as siblings', () => {
    expect(sanitiseHtml('<p>x'.repeat(300))).toBe('<p>x</p>'.repeat(300));
    expect(sanitiseHtml('<li>x'.repeat(300))).toBe('<li>x</li>'.repeat(300));
    expect(sanitiseHtml('<tr><td>x'.repeat(300))).toBe('<tr><td>x</td></tr>'.repeat(300));
  });

  it('keeps an inline image of 4 MiB', () => {
    const image = `<img src="data:image/png;base64,${'A'.repeat(4 * MEBIBYTE)}" />`;
    expect(sanitiseHtml(image)).toBe(image);
  });
});

const SHOWN_TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-z]+(?:="[^"<>]*")?)*)( \/)?>/g;
const SHOWN_NAMES = new Set(
  `a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del dfn div dl dt em
  figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre q s samp section small
  span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr`.split(/\s+/),
);
const SHOWN_ATTRIBUTE =
  /^(?:align|alt|bgcolor|border|cellpadding|cellspacing|color|colspan|dir|face|height|href|hspace|lang|nowrap|rel|rowspan|scope|size|span|src|start|style|target|title|type|valign|vspace|width)$/;

/**
 * Parses the result with a strict grammar that is independent of the sanitiser: no `<` outside of a known tag, only known
 * attributes and values.
 */
function expectHarmless(shown: string): void {
  const rest = shown.replace(SHOWN_TAG, (_tag, _slash, name: string, attributes: string) => {
    expect(SHOWN_NAMES).toContain(name);
    for (const [, attribute = '', value = ''] of attributes.matchAll(/ ([a-z]+)(?:="([^"]*)")?/g)) {
      expect(attribute).toMatch(SHOWN_ATTRIBUTE);
      if (attribute === 'href') expect(value).toMatch(/^(?:https?:\/\/|mailto:|tel:)/i);
      if (attribute === 'src') expect(value).toMatch(/^(?:https:\/\/|cid:|data:image\/(?:png|jpe?g|gif|webp);)/i);
      if (attribute === 'style') expect(value).not.toMatch(/url|expression|import|binding|behavior|position|[\\@&]/i);
    }
    return '';
  });
  expect(rest).not.toMatch(/<(?=[a-z/!?]|$)/i);
}

function fragments(): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '&',
      ';',
      '=',
      '/',
      '\0',
      '\n',
      ' ',
      'x',
      '&lt;',
      '&#60;',
      '&#xFFFE;',
      '\uFFFE',
      '<!--',
      '-->',
    ),
    fc.constantFrom(
      '<p>',
      '</p>',
      '<b>',
      '</b>',
      '<a href="https://x.de">',
      '</a>',
      '<table>',
      '<thead>',
      '<tr>',
      '<td>',
      '</td>',
      '</table>',
      '<li>',
      '<h1>',
      '<br>',
      '</br>',
      '<img src="cid:1">',
      '<div style="color:red">',
      '</div>',
      '<form>',
      '<svg>',
      '<title>',
      '</title>',
      '<script>',
      '</script>',
      '<style>',
      '<textarea>',
      '<iframe>',
      '<pre>\n',
    ),
    fc.constantFrom(...VECTORS()),
    fc.string(),
  );
  return fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
}

function VECTORS(): string[] {
  return [
    '<script>alert(1)</script>',
    '<SCRIPT SRC=https://evil.example/x.js></SCRIPT>',
    '<scr<script>ipt>alert(1)</scr</script>ipt>',
    '<script/x>alert(1)</script >',
    '<script>alert(1)',
    '<\0script>alert(1)</script>',
    '<scr\0ipt>alert(1)</scr\0ipt>',
    '<img src=x onerror=alert(1)>',
    '<img src=x onerror=alert(1)',
    '<img/src=x/onerror=alert(1)>',
    '<img src="x` `<script>alert(1)</script>"` `>',
    '<img """><script>alert(1)</script>">',
    '<img src="javascript:alert(1)">',
    '<img src="data:image/svg+xml;base64,PHN2Zy8+">',
    '<img src="data:text/html,<script>alert(1)</script>">',
    '<img src="http://tracker.example/p.gif">',
    '<img src="//tracker.example/p.gif">',
    '<img srcset="x onerror=alert(1)">',
    '<svg onload=alert(1)>',
    '<svg/onload=alert(1)//',
    '<svg><script>alert(1)</script></svg>',
    '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
    '<svg><animate attributeName=href values=javascript:alert(1) />',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    '<style><img src="</style><img src=x onerror=alert(1)>"></style>',
    '<title><img src="</title><img src=x onerror=alert(1)>"></title>',
    '<textarea><img src="</textarea><img src=x onerror=alert(1)>"></textarea>',
    '<xmp><p title="</xmp><img src=x onerror=alert(1)>"></xmp>',
    '<template><script>alert(1)</script></template>',
    '<iframe src="javascript:alert(1)"></iframe>',
    '<iframe srcdoc="<script>alert(1)</script>">',
    '<iframe><img src=x onerror=alert(1)></iframe>',
    '<object data="javascript:alert(1)"></object>',
    '<embed src="javascript:alert(1)">',
    '<form action="javascript:alert(1)"><input type=submit><button formaction="javascript:alert(1)">x</button></form>',
    '<input onfocus=alert(1) autofocus>',
    '<select onfocus=alert(1)><option><script>alert(1)</script></select>',
    '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
    '<base href="javascript:alert(1)//">',
    '<link rel=stylesheet href="javascript:alert(1)">',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="JaVaScRiPt:alert(1)">x</a>',
    '<a href="java\tscript:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="&#x6A&#x61vascript&colon;alert(1)">x</a>',
    '<a href=" \u0001javascript:alert(1)">x</a>',
    '<a href="vbscript:msgbox(1)">x</a>',
    '<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>',
    '<a href="//evil.example">x</a>',
    '<a href="https://x.example" onclick="alert(1)">x</a>',
    '<a href="https://x.example/" title=\'"><script>alert(1)</script>\'>x</a>',
    '<p onmouseover=alert(1)>x</p>',
    '<p style="background:url(javascript:alert(1))">x</p>',
    '<p style="background-image:url(https://tracker.example/p)">x</p>',
    '<p style="width:expression(alert(1))">x</p>',
    '<p style="color:red;position:fixed;top:0">x</p>',
    '<p style="behavior:url(x.htc);-moz-binding:url(x)">x</p>',
    '<p style="color:r\\65 d;b\\61ckground:u\\72l(x)">x</p>',
    '<p style="font-family:\'x&quot;;background:url(x)\'">x</p>',
    '<style>@import "https://evil.example/x.css";</style>',
    '<p id=getElementById name=cookie class=x>x</p>',
    '<!--><img src=x onerror=alert(1)>-->',
    '<!--[if gte IE 4]><script>alert(1)</script><![endif]-->',
    '<![CDATA[<script>alert(1)</script>]]>',
    '<?xml version="1.0"?><x onclick=alert(1)>',
    '<max@example.com onclick=alert(1)>',
    '<x onclick=alert(1)>y</x>',
    '<b <script>alert(1)</script>0',
    '<a href="x" <img src=x onerror=alert(1)>',
    '<<img src=x onerror=alert(1)>',
    '</br onclick=alert(1)>',
    '<marquee onstart=alert(1)>x</marquee>',
    '<details open ontoggle=alert(1)>',
    '<body onload=alert(1)>',
  ];
}
