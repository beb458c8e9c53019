import { parseArgs } from 'node:util';
import { checkDocuments } from '../tools/docs/documents.ts';

const { values } = parseArgs({ options: { update: { type: 'boolean', default: false } } });
const { problems, run } = await checkDocuments(values.update);
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${run} blocks of commands were run, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
