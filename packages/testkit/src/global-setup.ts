import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from '@ticketing/embedded-mongo/embedded-mongo.ts';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The database server that all test files share. Each file uses a separate database. */
    mongodbUri: string;
    /** The Kafka brokers in `KAFKA_BROKERS`. If there are none, the tests that need Kafka are skipped. */
    kafkaBrokers: string[];
  }
}

/** Starts the embedded database server for a test run, unless `MONGODB_URI` names another. Kafka is never started here. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('kafkaBrokers', (process.env.KAFKA_BROKERS ?? '').split(',').filter(Boolean));
  const uri = process.env.MONGODB_URI;
  if (uri) {
    project.provide('mongodbUri', uri);
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
