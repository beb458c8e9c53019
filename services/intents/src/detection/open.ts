import { EventEmitter } from 'node:events';
import type { Client } from '@connectrpc/connect';
import type { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { secretReader } from '@ticketing/service-kit/settings/secret-reader.ts';
import type { AiAgentStore } from '../agent/store.ts';
import { openReplies, type ReplyServices } from '../intent/reply.ts';
import type { IntentStore } from '../intent/store.ts';
import type { ModelSource } from '../learning/current-model.ts';
import { type AnalysisToApply, type ApplyContext, applyResults } from './apply-results.ts';
import { type BuiltinDetection, openBuiltinDetection } from './builtin.ts';
import { type ComputeContext, computeAnalyses, openDetectableTags, type TagLists } from './compute-analyses.ts';
import { configuredDetection, type DetectionSettings } from './configured.ts';
import { type AttemptOutcome, measureAnalyses } from './metrics.ts';
import type { OpenaiLimits } from './openai-limits.ts';
import type { Detection } from './provider.ts';
import { type AnalysisStore, analysisStore, type ClaimedAnalysis } from './queue-store.ts';
import type { AnalysisResult } from './rules/analysis-result.ts';

/** The dependencies of analyses. */
export interface AnalysisContext {
  analyses: AnalysisStore;
  /** Analyses tickets, and stores nothing; see `computeAnalyses`. */
  compute(
    call: OnBehalfOf,
    asked: readonly ClaimedAnalysis[],
    settle: (one: ClaimedAnalysis, analysis: Promise<AnalysisResult | undefined>) => Promise<void>,
  ): Promise<void>;
  /** Stores results, and returns the error of each; see `applyResults`. */
  apply(call: OnBehalfOf, results: readonly AnalysisToApply[]): Promise<readonly unknown[]>;
  countAttempt(outcome: AttemptOutcome): void;
  /** Emits `due` when analyses were queued. */
  signals: EventEmitter;
  /** The analyses that callers wait for. They go on when their callers have gone. */
  awaited: Set<Promise<unknown>>;
  /** Aborts when the process stops. */
  stopping: AbortSignal;
  log: Logger;
}

/** The clients of other services that analyses use. */
export interface AnalysisServices extends ReplyServices, TagLists, Pick<ComputeContext, 'snapshots'> {
  analysis: ApplyContext['analysis'];
  configuration(call?: OnBehalfOf): Client<typeof ConfigurationService>;
}

/** The parts of other features that analyses use. */
export interface AnalysisParts {
  agents: AiAgentStore;
  intents: IntentStore;
  /** The model that the builtin provider detects with. */
  models: ModelSource;
}

type OwnKit = Kit<{ openai: OpenaiLimits }, DetectionSettings>;

/** The parts of the kit with which a provider detects. */
type DetectionKit = Pick<OwnKit, 'config' | 'log' | 'metrics' | 'outbound' | 'runtime' | 'settings'>;

/** Opens the analyses, and the features of texts that are learned from. */
export function openAnalysis(
  kit: DetectionKit & Pick<OwnKit, 'database' | 'onClose' | 'stopping'>,
  clients: AnalysisServices,
  { agents, intents, models }: AnalysisParts,
): { analysis: AnalysisContext; extractFeatures: BuiltinDetection['extractFeatures'] } {
  const { runtime, log } = kit;
  const builtin = openBuiltinDetection(log, models);
  const detection = openDetection(kit, clients.configuration, builtin);
  kit.onClose(() => detection.close());
  const awaited = new Set<Promise<unknown>>();
  kit.onClose(async () => {
    await Promise.allSettled(awaited);
  });
  const analyses = analysisStore(kit.database.connection, runtime.randomUUID);
  const computing: ComputeContext = {
    agents,
    detection,
    detectableTags: openDetectableTags(clients, runtime.monotonicMs),
    prepareReply: openReplies(clients),
    snapshots: clients.snapshots,
    log,
    now: () => secondsNow(runtime),
  };
  const analysis: AnalysisContext = {
    analyses,
    compute: (call, asked, settle) => computeAnalyses(computing, call, asked, settle),
    apply: (call, results) => applyResults({ intents, analysis: clients.analysis }, call, results),
    countAttempt: measureAnalyses(analyses, kit.metrics.registry, runtime),
    signals: new EventEmitter(),
    awaited,
    stopping: kit.stopping,
    log,
  };
  return { analysis, extractFeatures: builtin.extractFeatures };
}

/** Opens the detection by the provider that the settings select. */
function openDetection(
  kit: DetectionKit,
  configuration: AnalysisServices['configuration'],
  builtin: Detection,
): Detection {
  const { settings, outbound, runtime, log, config, metrics } = kit;
  return configuredDetection({
    builtin,
    settings,
    readKey: secretReader('aiApiKey', configuration),
    outbound,
    runtime,
    limits: config.openai,
    registry: metrics.registry,
    log,
  });
}
