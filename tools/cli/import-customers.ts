import { runCustomerImport } from '../import/run-customer-import.ts';

process.exitCode = await runCustomerImport(process.argv.slice(2));
