import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import { type OpenaiLimits, readOpenaiLimits } from './detection/openai-limits.ts';

/** The configuration that only this service has. */
export interface IntentsConfig {
  openai: OpenaiLimits;
}

/** Reads the configuration that only this service has. Source: docs/services/intents.md, The provider openai. */
export function readIntentsConfig(from: ConfigReader): IntentsConfig {
  return { openai: readOpenaiLimits(from) };
}
