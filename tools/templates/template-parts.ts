import { sizeLimits } from '../../services/templates/src/rendering/rules/check-size.ts';
import type { TemplateHelper } from '../../services/templates/src/rendering/rules/helper.ts';
import { helpers } from '../../services/templates/src/rendering/rules/helpers.ts';
import { markdownTable, withGeneratedParts } from '../dev/generated-parts.ts';

/** Writes the parts of docs/templates.md that follow from the code into its text. Errors: those of `withGeneratedParts`. */
export function withTemplateParts(document: string): string {
  return withGeneratedParts(document, { helpers: helperTable(), limits: limitTable() });
}

function helperTable(): string {
  const head = ['Helper', 'Also as a block', 'What it does', 'Examples'];
  return markdownTable(head, helpers.map(helperRow));
}

function helperRow({ name, usage, isCondition, meaning, examples }: TemplateHelper): string[] {
  const shown = examples.map(([template, result]) => `${code(template)} → ${code(result)}`);
  return [code(`${name} ${usage}`), isCondition ? 'yes' : '', meaning, shown.join('<br>')];
}

function limitTable(): string {
  return markdownTable(
    ['At most', 'What'],
    [
      [number(sizeLimits.chars), 'characters'],
      [number(sizeLimits.tags), 'tags'],
      [number(sizeLimits.tagChars), 'characters in all tags together, notes included'],
      [number(sizeLimits.literalChars), 'characters in one quoted text of a tag'],
      [number(sizeLimits.nodes), 'parts: texts between tags, tags, and their arguments'],
      [number(sizeLimits.depth), 'blocks, `else if` and helpers inside each other'],
      [number(sizeLimits.pathParts), 'names in a value such as `customer.address.zip`, and steps up by `../`'],
    ],
  );
}

const number = (value: number) => value.toLocaleString('en-US');
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
