import { names } from './html-elements.ts';

const LENGTH = String.raw`(?:0|\d{0,4}(?:\.\d{1,6})?(?:px|pt|em|rem|ex|ch|cm|mm|in|pc|%)|auto)`;
const COLOR = String.raw`(?:#[\da-f]{3,8}|[a-z]{3,25}|(?:rgb|hsl)a?\([\d\s.,%/deg]{1,60}\))`;
const LINE = 'none|hidden|solid|dashed|dotted|double|groove|ridge|inset|outset|thin|medium|thick';
const only = (value: string): RegExp => new RegExp(`^(?:${value})$`, 'i');
const upTo4 = (value: string): RegExp => only(`${value}(?: +${value}){0,3}`);

const STYLE_RULES: ReadonlyMap<string, RegExp> = new Map<string, RegExp>([
  ...each('color background background-color', only(COLOR)),
  ...each(
    'width height min-width max-width min-height max-height text-indent letter-spacing word-spacing',
    only(`${LENGTH}|normal|none`),
  ),
  ...each('margin margin-top margin-right margin-bottom margin-left', upTo4(LENGTH)),
  ...each('padding padding-top padding-right padding-bottom padding-left', upTo4(LENGTH)),
  ...each('border border-top border-right border-bottom border-left', upTo4(`(?:${LENGTH}|${LINE}|${COLOR})`)),
  ...each(
    'border-width border-style border-color border-radius border-spacing',
    upTo4(`(?:${LENGTH}|${LINE}|${COLOR})`),
  ),
  ['border-collapse', only('collapse|separate')],
  ['font-size', only(`${LENGTH}|(?:xx?-)?(?:small|large)|medium|smaller|larger`)],
  [
    'font-family',
    only(String.raw`(?:'[\w -]{1,60}'|[\w-][\w -]{0,60})(?:, *(?:'[\w -]{1,60}'|[\w-][\w -]{0,60})){0,15}`),
  ],
  ['font-style', only('normal|italic|oblique')],
  ['font-variant', only('normal|small-caps')],
  ['font-weight', only('normal|bold|bolder|lighter|[1-9]00')],
  ['line-height', only(String.raw`normal|\d{1,3}(?:\.\d{1,6})?|${LENGTH}`)],
  ['text-align', only('left|right|center|justify|start|end')],
  ['text-decoration', only('none|(?:underline|overline|line-through)(?: +(?:underline|overline|line-through)){0,2}')],
  ['text-transform', only('none|uppercase|lowercase|capitalize')],
  ['vertical-align', only(`baseline|sub|super|top|text-top|middle|bottom|text-bottom|${LENGTH}`)],
  ['white-space', only('normal|nowrap|pre|pre-wrap|pre-line|break-spaces')],
  ['word-break', only('normal|break-all|keep-all|break-word')],
  ['overflow-wrap', only('normal|anywhere|break-word')],
  ['direction', only('ltr|rtl')],
  ['display', only('none|block|inline|inline-block|table|table-row|table-cell|list-item')],
  ['list-style-type', only('none|disc|circle|square|decimal|(?:lower|upper)-(?:alpha|latin|roman)')],
]);

/**
 * Drops declarations that do not match `STYLE_RULES`. It replaces the option `allowedStyles` of sanitize-html, which runs
 * a CSS parser.
 */
export function cleanStyle(style: string): string {
  const kept = new Map<string, string>();
  for (const declaration of style.split(';')) {
    const colon = declaration.indexOf(':');
    const property = declaration.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    const value = declaration
      .slice(colon + 1)
      .trim()
      .replaceAll('"', "'");
    if (value.length <= 500 && STYLE_RULES.get(property)?.test(value)) kept.set(property, value);
  }
  return Array.from(kept, ([property, value]) => `${property}:${value}`).join(';');
}

function each(properties: string, rule: RegExp): [string, RegExp][] {
  return names(properties).map((name) => [name, rule]);
}
