import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { helpers } from '../../services/templates/src/rendering/rules/helpers.ts';
import { renderHtml } from '../../services/templates/src/rendering/rules/render-template.ts';
import { withTemplateParts } from './template-parts.ts';

const document = readFileSync('docs/templates.md', 'utf8');

it('docs/templates.md has the parts that follow from the code; npm run generate writes them', () => {
  expect(withTemplateParts(document)).toBe(document);
  for (const { name } of helpers) expect(document).toContain(`| \`${name} `);
});

it('the example of docs/templates.md is accepted, and greets a customer', () => {
  const [, example = ''] = /```handlebars\n([\s\S]*?)```/.exec(document) ?? [];
  const variables = {
    ticket: { fromName: 'Lovelace, Ada' },
    contract: { endDate: '2026-12-31' },
    agent: { firstName: 'Ben' },
  };
  expect(renderHtml(example, variables).replaceAll(/\s+/g, ' ')).toBe(
    '<p>Hello Ada,</p> <p>your contract ends on 31.12.2026.</p> <p>Ben</p> ',
  );
});

it('a part that has become old is written again, and one without a place fails', () => {
  const old = document.replace(/\| `upper text`.*\n/, '');
  expect(old).not.toBe(document);
  expect(withTemplateParts(old)).toBe(document);
  expect(() => withTemplateParts(document.replace('<!-- generated: limits -->', ''))).toThrow(/"limits"/);
});
