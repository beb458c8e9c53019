import { createHash, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

/** An order to the clients' process: to upload and download files for a time, each client as a separate caller. */
export interface FileOrder {
  url: string;
  tokens: readonly string[];
  fileBytes: number;
  forMs: number;
}

/** The results of the clients, as JSON. Units: ms. */
export interface FileReport {
  /** Uploads that were admitted, whose downloads have the same bytes. */
  whole: number;
  /** Uploads that were admitted, but whose downloads failed or have other bytes. */
  broken: number;
  /** Requests that were refused with `Retry-After`, by status. */
  refused: Record<string, number>;
  /** The errors of all other requests. */
  failed: string[];
  uploadMs: number[];
  downloadMs: number[];
}

// A separate process, because the bodies would otherwise delay the process that measures.
process.on('message', async (order: FileOrder) => {
  process.send?.(JSON.stringify(await carryOut(order)));
});

async function carryOut({ url, tokens, fileBytes, forMs }: FileOrder): Promise<FileReport> {
  const content = randomBytes(fileBytes);
  const file: SentFile = {
    body: Buffer.from(JSON.stringify({ channel: 'chat', attachments: [{ base64: content.toString('base64') }] })),
    digest: digest(content),
  };
  const report: FileReport = { whole: 0, broken: 0, refused: {}, failed: [], uploadMs: [], downloadMs: [] };
  const endsAt = performance.now() + forMs;
  await Promise.all(
    tokens.map(async (token) => {
      while (performance.now() < endsAt) {
        await sendAndRead({ url, headers: { authorization: `Bearer ${token}` } }, file, report).catch(
          (error: unknown) => report.failed.push(String(error)),
        );
      }
    }),
  );
  return report;
}

interface SentFile {
  body: Buffer;
  digest: string;
}

/** Uploads a file and downloads it; after a refusal only waits for as long as `Retry-After` says. */
async function sendAndRead(
  { url, headers }: { url: string; headers: Record<string, string> },
  { body, digest: expected }: SentFile,
  report: FileReport,
): Promise<void> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/ticket`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  const retryAfter = response.headers.get('retry-after');
  if (retryAfter !== null) {
    report.refused[response.status] = (report.refused[response.status] ?? 0) + 1;
    await setTimeout(Number(retryAfter) * 1000);
    return;
  }
  if (!response.ok) throw new Error(`the upload: ${response.status} ${text.slice(0, 200)}`);
  report.uploadMs.push(performance.now() - startedAt);
  const readAt = performance.now();
  const [{ url: path }] = JSON.parse(text).attachments;
  const download = await fetch(url + path, { headers });
  const hash = createHash('sha256');
  for await (const piece of download.body ?? []) hash.update(piece);
  report.downloadMs.push(performance.now() - readAt);
  if (download.status === 200 && hash.digest('hex') === expected) report.whole += 1;
  else report.broken += 1;
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
