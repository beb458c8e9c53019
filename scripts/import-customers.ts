import { runCustomerImport } from '../tools/import/run-import.ts';

process.exitCode = await runCustomerImport(process.argv.slice(2));
