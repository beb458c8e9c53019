import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import Handlebars from 'handlebars';
import { describe, expect, it, test } from 'vitest';
import { checkTemplate } from './check-template.ts';
import { messageProblems, wrapperProblems } from './check-wrapper.ts';
import { renderHtml } from './render-template.ts';
import { mergeTexts, partsAround, placeholder } from './wrapper.ts';

const details = (problems: ReturnType<typeof wrapperProblems>) =>
  problems.map(({ code, line, column, detail }) => `${code} at ${line}:${column}: ${detail}`);

describe('an e-mail template', () => {
  it.each([
    '%MESSAGE%',
    'Hello,\n%MESSAGE%\nBye',
    '{{agent.firstName}}%MESSAGE%{{agent.firstName}}',
    '<p>{{#if a}}Hello {{a}}{{else}}<b>{{/if}}</p>%MESSAGE%',
    '<html><head><style>p { color: red }</style><title>x</title></head><body>%MESSAGE%</body></html>',
    '<table><tr><td class="{{a}}">%MESSAGE%</td></tr></table>',
    '<a href="{{a}}">%MESSAGE%</a>',
    '<!-- a --><p>%MESSAGE%</p><!-- b -->',
    '{{! a note }}%MESSAGE%\\{{shown}}',
    'a < b %MESSAGE% c > d',
  ])('%j is accepted', (wrapper) => {
    expect(details(wrapperProblems(wrapper))).toEqual([]);
  });

  it.each([
    ['', 'message_placeholder at 1:1: %MESSAGE% must be in the text.'],
    ['%message%', 'message_placeholder at 1:1: %MESSAGE% must be in the text.'],
    ['a\n%MESSAGE% %MESSAGE%', 'message_placeholder at 2:11: %MESSAGE% must be in the text once only.'],
    ['%MESSAGE%{{! %MESSAGE% }}', 'message_placeholder at 1:14: %MESSAGE% must be in the text once only.'],
    ['{{! %MESSAGE% }}', 'message_placeholder at 1:5: %MESSAGE% must be outside of tags.'],
    ['{{upper "%MESSAGE%"}}', 'message_placeholder at 1:10: %MESSAGE% must be outside of tags.'],
    ...['{{#if a}}%MESSAGE%{{/if}}', '{{#each a}}{{else}}%MESSAGE%{{/each}}'].map((wrapper) => [
      wrapper,
      `message_placeholder at 1:${wrapper.indexOf('%') + 1}: %MESSAGE% must be outside of blocks, which could repeat it or leave it out.`,
    ]),
    ['a{%MESSAGE%', 'message_placeholder at 1:3: %MESSAGE% must not follow { or \\.'],
    ['a\\%MESSAGE%', 'message_placeholder at 1:3: %MESSAGE% must not follow { or \\.'],
    ['%MESSAGE%}', 'message_placeholder at 1:1: %MESSAGE% must not be followed by }.'],
    ...[
      '<p title="%MESSAGE%">a</p>',
      '<p %MESSAGE%>a</p>',
      '<x %MESSAGE%>a',
      '<a href="https://example.com/%MESSAGE%">a</a>',
      '<p>a</p><!-- %MESSAGE% -->',
      '<p>a</p><style>%MESSAGE%</style>',
      '<p>a</p><script>%MESSAGE%</script>',
      '<head><title>%MESSAGE%</title></head>',
      '<p>a</p><textarea>%MESSAGE%</textarea>',
      '<a href="{{a}}%MESSAGE%">a</a>',
      'a <%MESSAGE%',
      '</%MESSAGE%',
      '<{{a}}<%MESSAGE%',
    ].map((wrapper) => [
      wrapper,
      `message_placeholder at 1:${wrapper.indexOf('%') + 1}: %MESSAGE% must be where HTML has text that is shown, for example in a paragraph.`,
    ]),
    ['{{#if a}}', 'template_syntax at 1:10: Not expected here: EOF.'],
    // guarantee: I5
  ])('%j is refused', (wrapper, detail) => {
    expect(details(wrapperProblems(wrapper ?? ''))).toEqual([detail]);
  });
});

describe('a message', () => {
  it.each(['}a', '}'])('%j is refused for its begin', (message) => {
    expect(details(messageProblems(message))).toEqual([
      'template_syntax at 1:1: A message cannot begin with }, because the text around it would be read as a part of a tag.',
    ]);
  });

  it.each(['a{', '\n{', 'a\\', '{{a}}{'])('%j is refused for its end', (message) => {
    const [problem] = messageProblems(message);
    expect(problem?.code).toBe('template_syntax');
    expect(problem?.detail).toContain('cannot end with { or \\');
  });

  it.each(['', '{{a}}', '{ a }', '{{#if a}}b{{/if}}'])('%j is accepted', (message) => {
    expect(details(messageProblems(message))).toEqual([]);
  });
});

/** Texts of pieces that are dangerous next to each other. White space is left out: blocks alone in a line remove some. */
const piece = fc.constantFrom(
  ...['{{a}}', '{{{a}}}', '{{#if a}}', '{{else}}', '{{/if}}', '{{! c }}', '{{!-- c --}}', '\\{{a}}', '\\\\{{a}}'],
  ...['{', '}', '{{', '}}', '\\', 'x', '%', '<b>', '</b>', '<', '"', '{{{{', '{{upper "}}"}}', '--', '$&'],
);
const text = (max: number) => fc.array(piece, { maxLength: max }).map((pieces) => pieces.join(''));
const valid = (problems: (text: string) => readonly unknown[]) => (one: string) => problems(one).length === 0;
const message = text(5).filter(valid(messageProblems));
const wrapper = fc
  .tuple(text(4), text(4))
  .map(([before, after]) => before + placeholder + after)
  .filter(valid(wrapperProblems));

const handlebars = Handlebars.create();
handlebars.registerHelper('upper', (value) => value);

// guarantee: I5
test('a valid message in a valid e-mail template is valid, and is what both are one after the other', () => {
  fc.assert(
    fc.property(wrapper, message, (around, inner) => {
      const merged = mergeTexts(around, inner);
      expect(checkTemplate(merged)).not.toHaveProperty('problems');
      const values = { a: 'v' };
      const [before, after] = partsAround(around);
      const [whole, ...parts] = [merged, before, inner, after].map((part) => handlebars.compile(part)(values));
      expect(parts.join('')).toBe(whole);
      expect(renderHtml(inner, values, [before, after])).toBe(renderHtml(merged, values));
    }),
    { numRuns: runs(300, 20_000) },
  );
});
