import { hasOperation, operationNames, operations } from '@ticketing/service-kit/operations/operations.ts';
import { type ServiceEntry, services } from '@ticketing/system/services.ts';
import { markdownTable, withGeneratedParts } from '../dev/generated-parts.ts';

/** The document with the table of all operations. */
export const operationsDocument = 'docs/operations/operations.md';

/** Writes the table of all operations into the text of the document. Errors: those of `withGeneratedParts`. */
export function withOperationParts(document: string): string {
  const rows = operationNames().map((name) => {
    const { does, options = [], npm } = operations[name];
    const usage = options.map((option) => {
      const text = `--${option.name} ${option.value}`;
      return option.isRequired ? text : `[${text}]`;
    });
    const able = services.filter((entry) => hasOperation(entry, name));
    const explained = options.map((option) => `; \`--${option.name}\`: ${option.does}`).join('');
    return [
      `\`${[name, ...usage].join(' ')}\``,
      able.length > 2 ? allBut(services.filter((entry) => !able.includes(entry))) : able.map(toName).join(', '),
      `${does}${explained}`,
      `\`${npm}\``,
    ];
  });
  const table = markdownTable(['Operation', 'Of', 'What it does', 'With `npm start`'], rows);
  return withGeneratedParts(document, { operations: table });
}

function allBut(others: readonly ServiceEntry[]): string {
  return others.length === 0 ? 'all' : `all but ${others.map(toName).join(', ')}`;
}

const toName = ({ name }: ServiceEntry) => name;
