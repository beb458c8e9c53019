import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../dev/build.ts';
import { declareCommand } from './command.ts';

const usage = `Builds the program of each service into dist/SERVICE, as the images contain it:

  npm run build
`;

const folder = join(import.meta.dirname, '..', '..', 'dist');

export const command = declareCommand({ usage, options: {}, runsInProduction: true }, async () => {
  rmSync(folder, { recursive: true, force: true });
  await build(folder);
});
