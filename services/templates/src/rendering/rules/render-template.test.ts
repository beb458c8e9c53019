import { describe, expect, test } from 'vitest';
import { wrapperProblems } from './check-wrapper.ts';
import { renderHtml } from './render-template.ts';
import { partsAround } from './wrapper.ts';

const openings = [
  '<!--',
  '<style>',
  '<script>',
  '<title>',
  '<textarea>',
  '<noscript>',
  '<iframe>',
  '<xmp>',
  '<plaintext>',
];

describe('a value that is inserted as HTML', () => {
  // guarantee: I5
  test.each(openings)('cannot hide what follows it: %s', (opening) => {
    const template = '<p>You wrote: {{{a}}}</p>{{#if a}}{{{upper a}}}{{/if}}<p>Our answer</p>';
    expect(renderHtml(template, { a: `x ${opening} y` })).toContain('<p>Our answer</p>');
  });

  test('is closed, and empty if it is unset', () => {
    expect(renderHtml('<p>a</p>{{{a}}}{{{b}}}{{{c}}}<i>z</i>', { a: '<div><i>x</i>', c: false })).toBe(
      '<p>a</p><div><i>x</i></div>false<i>z</i>',
    );
  });
});

const hiding: [before: string, variables: object][] = [
  ...openings.map((opening): [string, object] => ['{{{default "" a}}}', { a: opening }]),
  ['{{#if a}}<!--{{else}}-->{{/if}}', { a: true }],
  ['{{#if a}}<style>{{else}}</style>{{/if}}', { a: true }],
  ['<p title="{{#if a}}">{{else}}{{/if}}">', { a: true }],
  ['{{#if a}}<a title="{{else}}">{{/if}}', { a: true }],
  ['<{{a}}>', { a: 'style' }],
  ['<{{a}} -->', { a: '!-- m><b>%MESSAGE%</b>' }],
  ['<{{a}}>', { a: 'textarea title=%MESSAGE%' }],
];

describe('the message in an e-mail template', () => {
  // guarantee: I5
  test.each(hiding)('is shown after %j, whatever the values are: %j', (before, variables) => {
    const wrapper = `<p>Hello</p>${before}%MESSAGE%<p>Bye</p>`;
    expect(wrapperProblems(wrapper)).toEqual([]);
    const rendered = renderHtml('<p>Our answer</p>', variables, partsAround(wrapper));
    expect(rendered).toContain('<p>Hello</p>');
    expect(rendered).toContain('<p>Our answer</p>');
    expect(rendered).toContain('<p>Bye</p>');
  });
});
