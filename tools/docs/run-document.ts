import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedSystem } from '../dev/started-system.ts';
import { differences, measurePart, missing, readableJson, steady } from './shape.ts';
import { type Shell, startShell } from './shell.ts';
import { type Snippet, snippetsIn } from './snippets.ts';

/** How the commands of a document are run. */
export interface RunOptions {
  system: StartedSystem;
  /** The folder of the repository, in which the commands run. */
  root: string;
  /** Writes the responses of this run into the document. */
  updates: boolean;
}

/** The result of a document: what is wrong, and how many blocks of commands did what the document shows. */
export interface DocumentResult {
  problems: string[];
  passed: number;
}

/** A block whose output changes until the system has done its work is run again for this long. */
const settleMs = 30_000;

/**
 * Runs the blocks of commands (`sh`) of a document in their order, in one shell, and compares what each prints with the
 * block that follows it: `json`, `json part` for some of its members, `text` for anything else.
 *
 * After `sh` can follow: `no-run` for commands that cannot run here, `wait` for those whose output comes a moment later.
 */
export async function runDocument(path: string, options: RunOptions): Promise<DocumentResult> {
  const { system, root } = options;
  const shell = startShell(root, { TOKEN: system.token });
  const snippets = snippetsIn(path);
  const replacements = new Map<Snippet, string>();
  const result: DocumentResult = { problems: [], passed: 0 };
  try {
    for (const [index, snippet] of snippets.entries()) {
      if (snippet.language !== 'sh' || snippet.name === 'no-run') continue;
      const shown = responseAfter(snippets, index);
      const { problems, output } = await runBlock(shell, snippet, shown, options);
      if (problems.length === 0) result.passed += 1;
      const canShow = !problems.some((problem) => problem.startsWith(missing));
      if (options.updates && shown && problems.length > 0 && canShow) replacements.set(shown, updated(shown, output));
      else result.problems.push(...problems.map((problem) => `${path}:${snippet.line}: ${problem}`));
    }
  } finally {
    await shell.end();
  }
  if (replacements.size > 0) replaceBlocks(path, replacements);
  return result;
}

/** The block that shows what another one prints. */
function responseAfter(snippets: readonly Snippet[], index: number): Snippet | undefined {
  const next = snippets[index + 1];
  return next && ['json', 'text'].includes(next.language) ? next : undefined;
}

async function runBlock(
  shell: Shell,
  { name, code }: Snippet,
  shown: Snippet | undefined,
  options: RunOptions,
): Promise<{ problems: string[]; output: string }> {
  const deadline = performance.now() + settleMs;
  for (;;) {
    const { output, code: exitCode } = await shell.run(local(code, options.system));
    const problems = exitCode === 0 ? judge(output, shown) : [`exited with ${exitCode}: ${output}`];
    if (problems.length === 0 || name !== 'wait' || performance.now() > deadline) return { problems, output };
    await sleep(250);
  }
}

/** The code with the addresses and the data of the system that was started for it. */
function local(code: string, { url, data }: StartedSystem): string {
  return code
    .replaceAll('http://127.0.0.1:8080', url)
    .replaceAll('./data/', `${data}/`)
    .replaceAll(/npm run --silent (token|events) --/g, `npm run --silent $1 -- --data '${data}'`);
}

function judge(output: string, shown: Snippet | undefined): string[] {
  if (!shown) return /"success": ?false/.test(output) ? [`failed: ${output}`] : [];
  if (shown.language === 'text') {
    return steady(shown.code) === steady(output) ? [] : [`shown is ${shown.code}, printed was ${output}`];
  }
  try {
    return differences(JSON.parse(shown.code), JSON.parse(output), shown.name === 'part');
  } catch (error) {
    return [`${error instanceof Error ? error.message : String(error)}: ${output}`];
  }
}

/** The content of a block after this run. */
function updated(shown: Snippet, output: string): string {
  if (shown.language === 'text') return `${output.trim()}\n`;
  const actual: unknown = JSON.parse(output);
  return `${readableJson(shown.name === 'part' ? measurePart(JSON.parse(shown.code), actual) : actual)}\n`;
}

function replaceBlocks(path: string, replacements: ReadonlyMap<Snippet, string>): void {
  const lines = readFileSync(path, 'utf8').split('\n');
  // From the end, so that the lines before keep their numbers.
  for (const [{ line, code }, text] of [...replacements].reverse()) {
    lines.splice(line - 1, code.split('\n').length - 1, ...text.split('\n').slice(0, -1));
  }
  writeFileSync(path, lines.join('\n'));
}
