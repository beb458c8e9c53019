import { customerHelpText } from './customer-help.ts';
import { readCustomerOptions } from './customer-options.ts';
import { importCustomers } from './import-customers.ts';
import { pathFrom, processStreams, runCommand } from './run-command.ts';

/** Runs the import command of customers. Returns its exit code. */
export function runCustomerImport(
  args: readonly string[],
  env = processStreams.env,
  print = processStreams.print,
  printError = processStreams.printError,
): Promise<number> {
  return runCommand({ env, print, printError }, async (context) => {
    const options = readCustomerOptions(args, env);
    if (options !== 'help') {
      return importCustomers({ ...options, file: pathFrom(context.folder, options.file) }, context);
    }
    print(customerHelpText);
    return 0;
  });
}
