import { runImport } from '../tools/import/run-import.ts';

process.exitCode = await runImport(process.argv.slice(2));
