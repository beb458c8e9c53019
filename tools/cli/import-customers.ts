import { withContext } from '../import/command-context.ts';
import { csvOptions, readCsvOptions, readPairs } from '../import/csv-options.ts';
import { customerFields } from '../import/customer-row.ts';
import { importCustomers } from '../import/import-customers.ts';
import { declareCommand } from './command.ts';

const fieldLines = [...customerFields].map(([name, { expected }]) => `  ${name.padEnd(24)} ${expected}`).join('\n');

const usage = `Imports customers and their contracts from a CSV file (UTF-8, first row: names of the columns), for the setting
erpAdapter=embedded. Each row is a contract of a customer, or a customer without one; rows with the same id add contracts.

Usage: npm run import:customers -- FILE.csv [flags]

Target
  --url URL              address of the tickets service, for RPC (default http://127.0.0.1:8081)
  --token TOKEN          access token with the right updateClientSettings; safer in the environment variable
                         IMPORT_TOKEN. Without either, a token for the local system is made.
  --data FOLDER          data folder of the local system, with the key for that token (default ./data)

Mapping
  --map FIELD=COLUMN     fills a field from a column; repeatable. Without it, a field is filled from the column of
                         the same name; FIELD= leaves such a field empty.
  --delimiter CHAR       character between cells (default ,)

Extent
  --limit N              imports only the first N rows
  --dry-run              checks the columns and every row, shows the first customer, and sends nothing
  --help                 prints this text

Fields
${fieldLines}
  An empty cell says nothing: what is known of the customer or contract stays. Tags must exist.

The same file can be imported again: what is the same already is not changed, and nothing is removed.

Rejected rows are written to FILE.csv.rejects.csv, with line, row and reasons. That file can be corrected and then
imported itself.

Exit code: 0 all rows are imported, 1 the import could not run, 2 some rows were rejected, 130 interrupted.`;

const options = { ...csvOptions, url: { type: 'string', default: 'http://127.0.0.1:8081' } } as const;

export const command = declareCommand(
  { usage, options, words: 'any', runsInProduction: true },
  (values, words, streams) =>
    withContext(streams, (context) => {
      const importOptions = readCsvOptions(values, words, context.folder, streams.env);
      // Rows of one customer must not overtake each other.
      return importCustomers({ ...importOptions, concurrency: 1, columns: readPairs('map', values.map) }, context);
    }),
);
