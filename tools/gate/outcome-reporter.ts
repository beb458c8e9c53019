import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import type { FileOutcome, RunOutcome } from './outcome.ts';

/** Writes what a run has found, as JSON, into the file that `TICKETING_TEST_OUTCOME` names. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(...[modules, errors]: Parameters<NonNullable<Reporter['onTestRunEnd']>>): void {
    const path = process.env.TICKETING_TEST_OUTCOME;
    if (path === undefined) throw new Error('TICKETING_TEST_OUTCOME names no file.');
    const outcome: RunOutcome = { files: modules.map(toFile), strayErrors: errors.map(firstLine) };
    writeFileSync(path, JSON.stringify(outcome));
  }
}

function toFile(file: TestModule): FileOutcome {
  const suites = [...file.children.allSuites()];
  const [error] = [...file.errors(), ...suites.flatMap((suite) => suite.errors())];
  return {
    path: relative(file.project.vitest.config.root, file.moduleId),
    state: file.state(),
    ...(error && { message: firstLine(error) }),
    tests: [...file.children.allTests()].map((test) => {
      const result = test.result();
      const { state } = result;
      const isLeftOut = state === 'skipped' && test.options.mode !== 'run';
      const message = state === 'skipped' ? result.note : result.errors?.[0] && firstLine(result.errors[0]);
      return { name: test.fullName, state, isLeftOut, ...(message !== undefined && { message }) };
    }),
  };
}

function firstLine({ message }: { message: string }): string {
  return message.split('\n')[0] ?? '';
}
