import { withContext } from '../import/command-context.ts';
import { readCommon, readLimit, readPath } from '../import/csv-options.ts';
import { importFolder } from '../import-mail/import-folder.ts';
import { readAgain } from '../import-mail/read-again.ts';
import { declareCommand, readNumber, UsageError } from './command.ts';

const usage = `Imports mails: each file of a folder, whatever its name, is a mail (RFC 5322). Folders in it are read too.

Usage: npm run import:mail -- FOLDER [flags]
       npm run import:mail -- --again CONVERSATION_ID

Target
  --url URL              address of the tickets service (default http://127.0.0.1:8081)
  --token TOKEN          access token; safer in the environment variable IMPORT_TOKEN.
                         Without either, a token for the local system is made.
  --data FOLDER          data folder of the local system, with the key for that token (default ./data)
  --concurrency N        concurrent requests, 1 to 256 (default 16)

Mails
  --subchannel ID        the mailbox that has received them (default: the one that they were sent to, if there is one)
  --now                  counts them as received now, instead of at their date

Again
  --again ID             reads the mail of this message again, as it was transferred, and replaces its text and files:
                         after a version that reads mails better. It is kept for as long as the setting rawMailDays says.

Extent
  --limit N              imports only the first N mails
  --dry-run              reads all mails, prints what is known of them, and sends nothing
  --help                 prints this text

A mail becomes a message of the ticket that it answers, else a ticket. So that threads stay together, a mail is sent
after those of the folder that it answers. A mail that was imported before is recognised by its Message-ID, or by its
content if it has none: a second run changes nothing, and continues where an earlier run ended.

A first line that begins with "From ", as in files of type mbox, is left out.

Mails that are refused are listed in FOLDER.rejects.csv, with reasons.

Exit code: 0 all mails are imported, 1 the import could not run, 2 some mails were refused, 130 interrupted.`;

const options = {
  url: { type: 'string', default: 'http://127.0.0.1:8081' },
  token: { type: 'string' },
  data: { type: 'string', default: './data' },
  concurrency: { type: 'string', default: '16' },
  subchannel: { type: 'string' },
  now: { type: 'boolean', default: false },
  limit: { type: 'string' },
  again: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
} as const;

export const command = declareCommand(
  { usage, options, words: 'any', runsInProduction: true },
  (values, words, streams) =>
    withContext(streams, (context) => {
      const { again, concurrency, subchannel, limit } = values;
      if (again !== undefined) {
        if (words.length > 0) throw new UsageError('--again takes no folder.');
        const conversationId = readNumber('again', again, { to: 2 ** 31 - 1 });
        return readAgain({ ...readCommon(values, streams.env), conversationId }, context);
      }
      const importOptions = {
        ...readCommon(values, streams.env),
        folder: readPath('folder', words, context.folder),
        concurrency: readNumber('concurrency', concurrency, { to: 256 }),
        subchannelId: subchannel === undefined ? undefined : readNumber('subchannel', subchannel, { to: 2 ** 31 - 1 }),
        keepsDate: !values.now,
        limit: readLimit(limit),
      };
      return importFolder(importOptions, context);
    }),
);
