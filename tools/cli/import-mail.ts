import { runMailImport } from '../import-mail/run-mail-import.ts';

process.exitCode = await runMailImport(process.argv.slice(2));
