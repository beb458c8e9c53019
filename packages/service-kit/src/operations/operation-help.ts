import { type ServiceEntry, variableName } from '@ticketing/system/services.ts';
import { type OperationName, operationNames, operations } from './operations.ts';

const width = 120;

/** Describes the program of a service, with all its operations, as lines. */
export function describeProgram(entry: ServiceEntry): string[] {
  const roles = entry.roles.length > 1 ? ` in the roles that ${variableName(entry.name, 'ROLES')} names` : '';
  return [
    `Runs the ${entry.name} service${roles}, or carries out an operation on its stores:`,
    '',
    '  node main.mjs [OPERATION [OPTIONS]]',
    '',
    ...describeOperations(operationNames(entry)),
    '',
    'The exit code is 1 if anything is left to be done, or was found wrong. A service that runs may go on meanwhile, except for',
    'apply-ledger.',
  ];
}

/** Describes operations and their options, as lines of two columns. */
export function describeOperations(names: readonly OperationName[]): string[] {
  const pairs = names.flatMap((name) => {
    const { does, options = [] } = operations[name];
    return [
      [name, does] as const,
      ...options.map((option) => [`  --${option.name} ${option.value}`, option.does] as const),
    ];
  });
  const indent = Math.max(...pairs.map(([first]) => first.length)) + 4;
  return pairs.flatMap(([first, second]) => {
    const [line, ...rest] = breakLines(second, width - indent);
    return [`  ${first}`.padEnd(indent) + line, ...rest.map((text) => ''.padEnd(indent) + text)];
  });
}

function breakLines(text: string, length: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length + 1 > length) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
