import { runMailImport } from '../tools/import-mail/run-mail-import.ts';

process.exitCode = await runMailImport(process.argv.slice(2));
