import type { Configuration } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { AiProvider } from '@ticketing/contracts/ticketing/settings/v1/settings_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { Counter, type Registry } from 'prom-client';
import { type OpenaiParts, type OpenaiSettings, openaiDetection } from './openai.ts';
import { type Detection, DetectionFailure } from './provider.ts';

/** The provider that the settings select, and where its model is. */
export interface DetectionSettings extends OpenaiSettings {
  aiProvider: 'builtin' | 'openai';
}

/** The dependencies of detection. */
export interface DetectionParts extends Omit<OpenaiParts, 'settings' | 'onTokens'> {
  settings(): Promise<DetectionSettings>;
  /** The provider without a network. */
  builtin: Detection;
  registry: Registry;
  log: Logger;
}

/**
 * Opens the provider that the settings select. If `openai` has no result, or the settings cannot be read, the result of
 * `builtin` is used; the log and the metrics record this with the reason.
 *
 * Source: docs/reference/api.md, Detection.
 */
export function configuredDetection({ builtin, registry, log, ...parts }: DetectionParts): Detection {
  const detections = new Counter({
    name: 'ticketing_detections_total',
    help: 'Detections with a result, by the provider that it is from.',
    labelNames: ['provider'],
    registers: [registry],
  });
  const fallbacks = new Counter({
    name: 'ticketing_detection_fallbacks_total',
    help: 'Detections for which builtin has replaced openai, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  });
  const tokens = new Counter({
    name: 'ticketing_detection_tokens_total',
    help: 'Tokens of questions and answers, as the endpoint of the model counts them.',
    registers: [registry],
  });
  // The copy of the settings is unreadable only as long as it was never read.
  const settings = () =>
    parts.settings().catch(() => {
      throw new DetectionFailure('settings_unavailable');
    });
  const detectByModel = openaiDetection({ ...parts, settings, onTokens: (count) => tokens.inc(count) });
  const detectBuiltin: Detection['detect'] = async (request, signal) => {
    const detected = await builtin.detect(request, signal);
    detections.inc({ provider: 'builtin' });
    return detected;
  };
  return {
    async detect(request, signal) {
      try {
        const { aiProvider } = await settings();
        if (aiProvider === 'builtin') return detectBuiltin(request, signal);
        const detected = await detectByModel(request, signal);
        detections.inc({ provider: 'openai' });
        return detected;
      } catch (error) {
        if (!(error instanceof DetectionFailure)) throw error;
        const { reason, facts } = error;
        fallbacks.inc({ reason });
        log.warn(
          { ticketId: request.ticketId, reason, facts },
          'there is no result of a model: builtin detects instead',
        );
        return detectBuiltin(request, signal);
      }
    },
    close: () => builtin.close(),
  };
}

/** Picks the settings that this service reads. */
export function readSettings({ settings, version }: Configuration): DetectionSettings {
  return {
    aiProvider: settings?.aiProvider === AiProvider.OPENAI ? 'openai' : 'builtin',
    aiBaseUrl: settings?.aiBaseUrl ?? null,
    aiModel: settings?.aiModel ?? null,
    version,
  };
}
