import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from '@ticketing/embedded-mongo/embedded-mongo.ts';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The database server that all test files share; each uses a database of its own. */
    mongodbUri: string;
    /** The Kafka brokers of `KAFKA_BROKERS`; empty without, and then their tests are skipped. */
    kafkaBrokers: string[];
  }
}

/** Starts the database server of a test run: the embedded one, unless `MONGODB_URI` names another. Kafka is only named. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('kafkaBrokers', (process.env.KAFKA_BROKERS ?? '').split(',').filter(Boolean));
  const given = process.env.MONGODB_URI;
  if (given) {
    project.provide('mongodbUri', given);
    return async () => undefined;
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'ticketing-store-'));
  const server = await startEmbeddedMongo({ dataDir });
  project.provide('mongodbUri', server.uri);
  return async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
