import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { type ProfileKind, profileKinds } from '../identity/caller.ts';

/** Requests per caller and minute, by the kind of caller. */
export type RateLimits = Readonly<Record<ProfileKind, number>>;

const humanRateLimit = 600;
const machineRateLimit = 60_000;
const defaultRateLimits: RateLimits = {
  user: humanRateLimit,
  vendor: humanRateLimit,
  vendorPartner: humanRateLimit,
  serviceWorker: machineRateLimit,
  codeExecutor: machineRateLimit,
  system: machineRateLimit,
};

/** Reads `RATE_LIMITS`, for example `user=600,serviceWorker=60000`. Kinds that it does not name keep their defaults. */
export function readRateLimits(from: ConfigReader): RateLimits {
  const limits = { ...defaultRateLimits };
  for (const part of from.optionalText('RATE_LIMITS')?.split(',') ?? []) {
    const [name, amount = '', ...rest] = part.split('=').map((text) => text.trim());
    const kind = profileKinds.find((candidate) => candidate === name);
    if (kind === undefined || rest.length > 0 || !/^[1-9]\d{0,8}$/.test(amount)) {
      from.refuse(
        `RATE_LIMITS must be like user=600,serviceWorker=60000 with ${profileKinds.join(', ')}; not "${part}"`,
      );
    } else {
      limits[kind] = Number(amount);
    }
  }
  return limits;
}
