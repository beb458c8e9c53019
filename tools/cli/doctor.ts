import { runDoctor } from '../doctor/run-doctor.ts';

try {
  process.exitCode = await runDoctor(process.argv.slice(2), (line) => void process.stdout.write(`${line}\n`));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
