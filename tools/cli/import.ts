import { withContext } from '../import/command-context.ts';
import { csvOptions, readCsvOptions, readPairs } from '../import/csv-options.ts';
import { ticketFields } from '../import/field.ts';
import { importFile } from '../import/import-file.ts';
import { declareCommand, readNumber, readWord } from './command.ts';

const fieldLines = [...ticketFields].map(([name, { expected }]) => `  ${name.padEnd(20)} ${expected}`).join('\n');

const usage = `Imports tickets from a CSV file (UTF-8, first row: names of the columns).

Usage: npm run import -- FILE.csv [flags]

Target
  --url URL              address of the system (default http://127.0.0.1:8080)
  --token TOKEN          access token with the right manageTags; safer in the environment variable IMPORT_TOKEN.
                         Without either, a token for the local system is made.
  --data FOLDER          data folder of the local system, with the key for that token (default ./data)
  --concurrency N        concurrent requests, with up to 100 tickets each, 1 to 16 (default 2)

Mapping
  --map FIELD=COLUMN     fills a field from a column; repeatable. Without it, a field is filled from the column of
                         the same name; FIELD= leaves such a field empty.
  --set FIELD=VALUE      value for rows without a value for the field; repeatable
  --channel CHANNEL      short for --set channel=CHANNEL (default email)
  --tag-columns A,B      columns with one tag name each (default: tag_1, tag_2, ...; "" for none).
                         Missing tags are created; "Parent / Child" finds a tag that has a parent.
  --tag-type TYPE        type of the tags that are created: skill (default), product, brand, customerProperty,
                         contractProperty, other. Tags of type skill take part in routing.
  --no-raw               ignores all other columns; otherwise their non-empty cells are stored as rawData
  --delimiter CHAR       character between cells (default ,)
  --process WHEN         when the AI analyses a ticket: batch (default), or false: when a person views it first

Extent
  --limit N              imports only the first N rows
  --dry-run              checks the columns and every row, shows the first ticket, and sends nothing
  --help                 prints this text

Fields
${fieldLines}
  Values with a fixed spelling are read without regard to case. Priority: normal means medium, critical means urgent.
  An empty cell counts as absent.
  On the channels email and portal, "from" and "to" must be e-mail addresses.
  "answer" is what was written to the customer: it is stored as an outgoing message of the ticket, with the ticket's
  "createdAt" if there is one, and never sent. --map answer= keeps such a column as raw data.

A ticket gets the externalTicketId "<start of the SHA-256 of the file>-<row>". So a second run of the same file
creates no ticket and no message twice, and continues where an earlier run ended. A file whose content has changed counts as a new file.

Rejected rows are written to FILE.csv.rejects.csv, with line, row and reasons. That file can be corrected and then
imported itself.

Exit code: 0 all rows are imported, 1 the import could not run, 2 some rows were rejected, 130 interrupted.

Example
  npm run import -- tickets.csv --map subject=Betreff --map priority=Prio --set status=pending --dry-run`;

const options = {
  ...csvOptions,
  url: { type: 'string', default: 'http://127.0.0.1:8080' },
  concurrency: { type: 'string', default: '2' },
  set: { type: 'string', multiple: true },
  channel: { type: 'string' },
  'tag-columns': { type: 'string' },
  'tag-type': { type: 'string', default: 'skill' },
  'no-raw': { type: 'boolean', default: false },
  process: { type: 'string', default: 'batch' },
} as const;

export const command = declareCommand(
  { usage, options, words: 'any', runsInProduction: true },
  (values, words, streams) =>
    withContext(streams, (context) => {
      const constants = readPairs('set', values.set);
      if (values.channel !== undefined) constants.set('channel', values.channel);
      const importOptions = {
        ...readCsvOptions(values, words, context.folder, streams.env),
        concurrency: readNumber('concurrency', values.concurrency, { to: 16 }),
        mapping: {
          columns: readPairs('map', values.map),
          constants,
          tagColumns: values['tag-columns']?.split(',').filter((column) => column !== ''),
          keepsRaw: !values['no-raw'],
        },
        tagType: values['tag-type'],
        process: readWord('process', values.process, ['batch', 'false']),
      };
      return importFile(importOptions, context);
    }),
);
