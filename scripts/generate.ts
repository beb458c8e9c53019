import { execFileSync } from 'node:child_process';

/** Generates packages/contracts from proto/: the code, then the descriptor image with the comments. */
export function generate(): void {
  execFileSync('buf', ['generate'], { stdio: 'inherit' });
  const image = 'packages/contracts/src/contract.binpb';
  execFileSync('buf', ['build', '--as-file-descriptor-set', '--exclude-imports', '-o', image], { stdio: 'inherit' });
}

if (import.meta.main) generate();
