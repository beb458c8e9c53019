import { describe, expect, it } from 'vitest';
import { sizeLimits } from './check-size.ts';
import { checkTemplate } from './check-template.ts';

/** The problems of a template, as `code at line:column`. */
function findProblems(template: string): string[] {
  const checked = checkTemplate(template);
  if (!('problems' in checked)) return [];
  return checked.problems.map(({ code, line, column }) => `${code} at ${line}:${column}`);
}

const listCodes = (template: string) => [...new Set(findProblems(template).map((text) => text.split(' ')[0]))];

// spec: 11.4
describe('a template is accepted', () => {
  it.each([
    '',
    'Hello {{customer.firstname}}, see {{ticket.id}} and {{{in.html}}}.',
    '{{#if (and customer (not (eq ticket.status "closed")))}}a{{else if agent}}b{{else}}c{{/if}}',
    '{{#each customer.contracts as |contract at|}}{{at}}{{contract.id}}{{@index}}{{@first}}{{@last}}{{@key}}{{/each}}',
    '{{#each a}}{{#each this.b}}{{../name}}{{@../index}}{{.}}{{this}}{{/each}}{{else}}none{{/each}}',
    '{{~#with customer~}} {{firstname}} {{~/with~}}',
    '{{^contains in.text "x"}}no{{/contains}}',
    '{{! a note }}{{!-- {{another}} --}}\\{{shown as it is}}',
    '{{formatDateDE (addDays ticket.createdAt 14)}} {{formatNumberDE 12.5 2}} {{default a null}}',
    '{{a.[with spaces]}} {{[in]}} {{in.name}} {{in.length}}',
    '}} { }} {a}',
  ])('%j', (template) => {
    expect(findProblems(template)).toEqual([]);
  });
});

describe('a template has at most', () => {
  const nested = (depth: number) => `${'{{#if a}}'.repeat(depth)}x${'{{/if}}'.repeat(depth)}`;
  const chained = (depth: number) => `{{#if a}}x${'{{else if a}}x'.repeat(depth - 1)}{{/if}}`;
  const called = (depth: number) => `{{upper ${'(upper '.repeat(depth - 1)}a${')'.repeat(depth - 1)}}}`;
  const { chars, tags, tagChars, literalChars, nodes, depth, pathParts } = sizeLimits;
  // A tag with 10 arguments has 11 parts.
  const parts = `${`{{or${' a'.repeat(10)}}}`.repeat(Math.floor(nodes / 11))}{{or${' a'.repeat((nodes % 11) - 1)}}}`;

  it.each([
    ['characters', 'x'.repeat(chars), 'x'.repeat(chars + 1), 'template_too_large'],
    ['tags', '{{a}}'.repeat(tags), '{{a}}'.repeat(tags + 1), 'template_too_large'],
    ['characters in tags', `{{!${'x'.repeat(tagChars - 1)}}}`, `{{!${'x'.repeat(tagChars)}}}`, 'template_too_large'],
    [
      'characters in a text',
      `{{upper "${'x'.repeat(literalChars)}"}}`,
      `{{upper "${'x'.repeat(literalChars + 1)}"}}`,
      'template_too_large',
    ],
    ['parts', parts, `${parts}x`, 'template_too_large'],
    ['blocks inside each other', nested(depth), nested(depth + 1), 'template_too_deep'],
    ['else if after each other', chained(depth), chained(depth + 1), 'template_too_deep'],
    ['helpers inside each other', called(depth), called(depth + 1), 'template_too_deep'],
    ['names in a value', `{{a${'.a'.repeat(pathParts - 1)}}}`, `{{a${'.a'.repeat(pathParts)}}}`, 'template_too_deep'],
    ['steps up', `{{${'../'.repeat(pathParts)}a}}`, `{{${'../'.repeat(pathParts + 1)}a}}`, 'template_too_deep'],
    // guarantee: I4
  ])('so many %s', (_what, atLimit, above, code) => {
    expect(listCodes(atLimit)).toEqual([]);
    expect(listCodes(above)).toEqual([code]);
  });

  it('so many reported problems', () => {
    expect(findProblems('{{exec 1}}'.repeat(20))).toHaveLength(20);
    expect(findProblems('{{exec 1}}'.repeat(21))).toHaveLength(20);
  });
});

describe('a problem is reported', () => {
  it.each([
    ['a\n b {{exec 1}}', 'unknown_helper at 2:4'],
    ['a\r\n{{#if}}x{{/if}}', 'wrong_argument_count at 2:1'],
    ['{{eq a b c}}', 'wrong_argument_count at 1:1'],
    ['{{compare a "~" b}}', 'wrong_argument at 1:13'],
    ['\n\n{{#if a}}\n{{/each}}', 'template_syntax at 3:4'],
    ['{{#if a}}\n\nx', 'template_syntax at 3:2'],
    ['ab {{a b', 'template_syntax at 1:7'],
    ['\nab {{a % b}}', 'template_syntax at 2:7'],
    ['ab\ncd {{{{raw}}}}x{{{{/raw}}}}', 'syntax_not_allowed at 2:4'],
    ['{{#upper a}}x{{/upper}}', 'syntax_not_allowed at 1:1'],
    ['{{customer.name "x"}}', 'unknown_helper at 1:1'],
    ['{{#customer}}x{{/customer}}', 'unknown_helper at 1:1'],
  ])('of %j as %s', (template, problem) => {
    expect(findProblems(template)).toEqual([problem]);
  });
});
