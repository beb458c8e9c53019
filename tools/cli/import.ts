import { runImport } from '../import/run-import.ts';

process.exitCode = await runImport(process.argv.slice(2));
