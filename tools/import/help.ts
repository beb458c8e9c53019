import { ticketFields } from './field.ts';

const fieldLines = [...ticketFields].map(([name, { expected }]) => `  ${name.padEnd(20)} ${expected}`).join('\n');

export const helpText = `Imports tickets from a CSV file (UTF-8, first row: names of the columns).

Usage: npm run import -- FILE.csv [flags]

Where to
  --url URL              address of the system (default http://127.0.0.1:8080)
  --token TOKEN          access token with the right manageTags; better given in the environment as IMPORT_TOKEN.
                         Without either, a token for local development is made.
  --data FOLDER          data folder of the local system, for that token (default ./data)
  --concurrency N        requests at a time, 1 to 256 (default 32)

What from where
  --map FIELD=COLUMN     takes a field from a column; repeatable. Without it, a column that is named like a field
                         is that field; FIELD= takes such a field out.
  --set FIELD=VALUE      value for rows that have none of their own; repeatable
  --channel CHANNEL      short for --set channel=CHANNEL (default email)
  --tag-columns A,B      columns that hold a tag each (default: tag_1, tag_2, ...; "" for none).
                         Missing tags are created; "Parent / Child" finds a tag that has a parent.
  --tag-type TYPE        type of the tags that are created: skill (default), product, brand, customerProperty,
                         contractProperty, other. Tags of type skill take part in routing.
  --no-raw               does not keep the other columns; otherwise their filled cells become rawData
  --delimiter CHAR       between cells (default ,)
  --process WHEN         when the AI looks at a ticket: realtime, batch (default), false

How much
  --limit N              only the first N rows
  --dry-run              checks the columns and every row, shows the first ticket, sends nothing
  --help                 this text

Fields
${fieldLines}
  Priority is read without case; normal means medium, critical means urgent. An empty cell counts as absent.
  On the channels email and portal, "from" and "to" must be e-mail addresses.

A ticket gets the externalTicketId "<start of the SHA-256 of the file>-<row>". A second run of the same file
therefore creates nothing twice, and goes on where an earlier one ended. A file that was changed is a new file.

Rows that are not taken stand in FILE.csv.rejects.csv afterwards, with line, row and reasons; it can be corrected
and imported itself.

Exit code: 0 all rows are there, 1 the run could not be done, 2 some rows were rejected, 130 interrupted.

Example
  npm run import -- tickets.csv --map subject=Betreff --map priority=Prio --set status=pending --dry-run`;
