import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Generates packages/contracts from proto/: the code, then the descriptor image with the comments. Then the parts of
 * docs/webhooks.md that follow from it.
 */
export async function generate(): Promise<void> {
  execFileSync('buf', ['generate'], { stdio: 'inherit' });
  const image = 'packages/contracts/src/contract.binpb';
  execFileSync('buf', ['build', '--as-file-descriptor-set', '--exclude-imports', '-o', image], { stdio: 'inherit' });
  // It reads the code that was generated in this moment.
  const { withGuideParts } = await import('../tools/webhook/guide-parts.ts');
  const guide = 'docs/webhooks.md';
  writeFileSync(guide, withGuideParts(readFileSync(guide, 'utf8')));
}

if (import.meta.main) await generate();
