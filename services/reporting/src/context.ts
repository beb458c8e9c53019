import type { Logger } from '@ticketing/service-kit/logger.ts';
import type { Projection } from './projection.ts';
import type { ReadSettings } from './settings.ts';
import type { ExportStore } from './store/export-store.ts';

/** What the handlers of this service work with. */
export interface Context extends Projection {
  exports: ExportStore;
  settings: ReadSettings;
  log: Logger;
  /** Wakes what makes exports. */
  wakeExports(): void;
  /** Claims the nightly work of a day; answers false if another replica has it, or has done it. */
  claimNight(day: string): Promise<boolean>;
  /** Unix seconds. */
  now(): number;
}
