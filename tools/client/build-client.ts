import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const packageFolder = join(root, 'packages/client');

/**
 * Compiles packages/client, together with the contracts that it uses, into its folder `dist`: JavaScript and declarations
 * that need nothing else of this repository.
 *
 * Errors: the sources have an error of types.
 */
export function buildClient(): void {
  const out = join(packageFolder, 'dist');
  // Inside the package, so that the compiler finds its dependencies.
  const work = mkdtempSync(join(packageFolder, 'build-'));
  try {
    copySources(join(packageFolder, 'src'), join(work, 'src'));
    copySources(join(root, 'packages/contracts/src/gen/ticketing'), join(work, 'src/contracts/ticketing'));
    for (const file of sourcesIn(join(work, 'src'))) rewriteImports(join(work, 'src'), file);
    writeFileSync(join(work, 'tsconfig.json'), JSON.stringify(compilerConfig(out)));
    rmSync(out, { recursive: true, force: true });
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', work], { stdio: 'inherit' });
    cpSync(join(root, 'LICENSE'), join(packageFolder, 'LICENSE'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function compilerConfig(outDir: string) {
  return {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      target: 'es2022',
      lib: ['es2023'],
      rootDir: 'src',
      outDir,
      declaration: true,
      allowImportingTsExtensions: false,
      // The declarations of others are not ours to check.
      skipLibCheck: true,
    },
    include: ['src'],
  };
}

function copySources(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  cpSync(from, to, { recursive: true, filter: (name) => !name.endsWith('.test.ts') });
}

function sourcesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts'));
}

/**
 * Imports the contracts by their path in the package, because their own package is not published, and modules by the
 * names that they have when they are compiled, which the compiler does not change in declarations.
 */
function rewriteImports(folder: string, file: string): void {
  const path = join(folder, file);
  const toContracts = relative(dirname(path), join(folder, 'contracts'));
  const prefix = toContracts.startsWith('.') ? toContracts : `./${toContracts}`;
  const text = readFileSync(path, 'utf8')
    .replaceAll("'@ticketing/contracts/", `'${prefix}/`)
    .replace(/(\bfrom )(['"])(\.[^'"]+)\.ts\2/g, '$1$2$3.js$2');
  writeFileSync(path, text);
}
