import { mkdirSync, writeFileSync } from 'node:fs';
import { findTraceProblems, readMarks, readRequirements, renderTraces, traceKinds } from '../docs/traces.ts';
import { declareCommand } from './command.ts';

const usage = `Writes which tests show each statement of the specification, each guarantee and each requirement of ASVS, as the marks
above tests say, to build/traces; or prints the rows of some ids. The exit code is 1 if one has no test:

  npm run traces
  npm run traces -- --id E7,6.10
`;

const options = { id: { type: 'string', default: '' } } as const;

export const command = declareCommand({ usage, options, runsInProduction: true }, ({ id }, _words, { print }) => {
  const requirements = readRequirements('.');
  const marks = readMarks('.');
  const ids = id.split(',').filter(Boolean);
  for (const kind of traceKinds) {
    const list = requirements[kind].filter((requirement) => ids.length === 0 || ids.includes(requirement.id));
    const table = renderTraces(kind, list, marks);
    if (ids.length > 0) {
      if (list.length > 0) print(table);
      continue;
    }
    mkdirSync('build/traces', { recursive: true });
    writeFileSync(`build/traces/${kind}.md`, table);
    const pairs = marks.filter((mark) => mark.kind === kind).length;
    print(`build/traces/${kind}.md: ${list.length} statements, ${pairs} marks`);
  }
  const problems = findTraceProblems(requirements, marks);
  for (const problem of problems) print(problem);
  return problems.length === 0 ? 0 : 1;
});
