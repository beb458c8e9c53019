import { outboundGuard } from '../src/outbound-guard.ts';

// Prints the responses of a URL to Node's own fetch and to a guard.
const [, , url = ''] = process.argv;
const allow = [{ address: '127.0.0.0', prefix: 8, family: 'ipv4' }] as const;
const guard = outboundGuard({ allow, requireHttps: true });
const { body } = await guard.request({
  url,
  method: 'GET',
  deadlineMs: 10_000,
  maxResponseBytes: 1024,
  longResponse: 'refuse',
  maxRedirects: 0,
});
await guard.close();
const fetched = await (await fetch(url)).text();
process.stdout.write(JSON.stringify({ fetched, requested: body.toString() }));
