import { withContext } from '../import/command-context.ts';
import { readCommon, readPath } from '../import/csv-options.ts';
import { importKnowledge } from '../import-knowledge/import-knowledge.ts';
import { declareCommand, readNumber, readWord } from './command.ts';

const usage = `Imports knowledge: each Markdown (.md, .markdown), HTML (.html, .htm) and text file (.txt) of a folder and its folders.

Usage: npm run import:knowledge -- FOLDER [flags]

Target
  --url URL              address of the system (default http://127.0.0.1:8080)
  --token TOKEN          access token with the right manageKnowledge; safer in the environment variable IMPORT_TOKEN.
                         Without either, a token for the local system is made.
  --data FOLDER          data folder of the local system, with the key for that token (default ./data)
  --concurrency N        concurrent requests, 1 to 256 (default 8)

Sources
  --parent ID            the source that all others are put below (default: none)
  --prefix TEXT          is put before each path, so that several folders can be told apart
  --type TYPE            faq, work-instruction, document, other, news, website (default document)

Extent
  --dry-run              reads all files, prints what is known of them, and sends nothing
  --help                 prints this text

A file becomes a source whose \`source\` is its path within FOLDER, and a folder becomes a source of type other above the
sources of its files. The title is that of the front matter, else the first heading or <title>, else the name of the
file. A second run skips files that have not changed, updates those that have, and continues where an earlier run ended.
An archived source is updated and stays archived; one that was deleted is created anew. Sources whose files are gone
stay.

Symbolic links are not followed. Files and folders whose names begin with a point, and other kinds of files, are left out.

Files that are refused are listed in FOLDER.rejects.csv, with reasons: those that are empty, not UTF-8, or have more than
1 MiB, and what the system refuses.

Exit code: 0 all files are imported, 1 the import could not run, 2 some files were refused, 130 interrupted.`;

const options = {
  url: { type: 'string', default: 'http://127.0.0.1:8080' },
  token: { type: 'string' },
  data: { type: 'string', default: './data' },
  concurrency: { type: 'string', default: '8' },
  parent: { type: 'string' },
  prefix: { type: 'string', default: '' },
  type: { type: 'string', default: 'document' },
  'dry-run': { type: 'boolean', default: false },
} as const;

const types = ['faq', 'work-instruction', 'document', 'other', 'news', 'website'];

export const command = declareCommand(
  { usage, options, words: 'any', runsInProduction: true },
  (values, words, streams) =>
    withContext(streams, (context) => {
      const { concurrency, parent, prefix, type } = values;
      const importOptions = {
        ...readCommon(values, streams.env),
        folder: readPath('folder', words, context.folder),
        concurrency: readNumber('concurrency', concurrency, { to: 256 }),
        parent: parent === undefined ? null : readNumber('parent', parent, { to: 2 ** 31 - 1 }),
        prefix,
        type: readWord('type', type, types),
      };
      return importKnowledge(importOptions, context);
    }),
);
