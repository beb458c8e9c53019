import { execFileSync } from 'node:child_process';
import { declareCommand } from './command.ts';

/** Generates packages/contracts from proto/: the code, then the descriptor image with the comments; then all that follows. */
async function generate(): Promise<void> {
  execFileSync('buf', ['generate'], { stdio: 'inherit' });
  const image = 'packages/contracts/src/contract.binpb';
  execFileSync('buf', ['build', '--as-file-descriptor-set', '--exclude-imports', '-o', image], { stdio: 'inherit' });
  // It reads the code that was just generated.
  const { writeParts } = await import('./generate-parts.ts');
  await writeParts();
}

const usage = `Writes all files that follow from others: the code of the contracts, the types of the client, manifests, tables and lists
of documents (CONTRIBUTING.md, Commands):

  npm run generate
`;

export const command = declareCommand({ usage, options: {}, runsInProduction: true }, generate);
