import type { Client } from '@connectrpc/connect';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { AnalysisService } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { ConversationService } from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { secretReader } from '@ticketing/service-kit/settings/secret-reader.ts';
import { type ErasedIds, erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { type SecretBox, secretBox } from '@ticketing/text/sealed-text.ts';
import { type AiAgentStore, aiAgentStore } from './agent/store.ts';
import type { IntentsConfig } from './config.ts';
import { type BuiltinDetection, openBuiltinDetection } from './detection/builtin.ts';
import { configuredDetection, type DetectionSettings } from './detection/configured.ts';
import { openDetectableTags } from './detection/detectable-tags.ts';
import { type AttemptOutcome, measureAnalyses } from './detection/metrics.ts';
import type { CandidateTag, Detection } from './detection/provider.ts';
import { type AnalysisStore, analysisStore } from './detection/queue-store.ts';
import { type ExecutionStore, executionStore } from './execution/store.ts';
import { type IntentStore, intentStore } from './intent/store.ts';
import { type Learning, openLearning } from './learning/open.ts';
import { type SessionStore, sessionStore } from './session/store.ts';
import { erasedCollections } from './set-up-store.ts';

/** The stores and clients that the handlers of this service use. */
export interface Context {
  agents: AiAgentStore;
  agentIds: IdSequence;
  intents: IntentStore;
  intentIds: IdSequence;
  executions: ExecutionStore;
  /**
   * The executions that this process carries out, by intent. They go on when their callers have gone, and end before it
   * stops.
   */
  inProgress: Map<number, Promise<unknown>>;
  sessions: SessionStore;
  analyses: AnalysisStore;
  detection: Detection;
  learning: Learning;
  /** The features of a text that is learned from, as bytes. */
  featuresOf: BuiltinDetection['featuresOf'];
  /** The tags that can be detected in a ticket. */
  detectableTags(call: OnBehalfOf): Promise<readonly CandidateTag[]>;
  /** The loop that makes the analyses, if this process has one. */
  analyser: Pick<WakefulLoop, 'wake'> | undefined;
  countAttempt(outcome: AttemptOutcome): void;
  /** The analyses that callers wait for. They go on when their callers have gone. */
  awaited: Set<Promise<unknown>>;
  /** Aborts when the process stops. */
  stopping: AbortSignal;
  /** The tickets, tags, templates and AI agents that were deleted. */
  deleted: Readonly<Record<keyof typeof erasedCollections, ErasedIds>>;
  outbound: OutboundGuard;
  pages: PageBudget;
  secretBox: SecretBox;
  /** Clients of other services, for a call. */
  tags(call: OnBehalfOf): Client<typeof TagService>;
  tickets(call: OnBehalfOf): Client<typeof TicketService>;
  snapshots(call: OnBehalfOf): Client<typeof SnapshotService>;
  analysis(call: OnBehalfOf): Client<typeof AnalysisService>;
  conversations(call: OnBehalfOf): Client<typeof ConversationService>;
  templates(call: OnBehalfOf): Client<typeof TemplateService>;
  rendering(call: OnBehalfOf): Client<typeof RenderingService>;
  runtime: Runtime;
  log: Logger;
  /** Unix seconds. */
  now(): number;
}

const called = { timeoutMs: 5_000 };

/** Opens the stores on the database of a kit. */
export function openContext(kit: Kit<IntentsConfig, DetectionSettings>): Context {
  const { runtime } = kit;
  const { connection } = kit.database;
  const intentIds = idSequence(connection, 'intent');
  const inProgress = new Map<number, Promise<unknown>>();
  const deleted = (name: keyof typeof erasedCollections) => erasedIds(connection, erasedCollections[name], runtime.now);
  const analyses = analysisStore(connection, runtime.randomUUID);
  const learning = openLearning(kit);
  const builtin = openBuiltinDetection(kit.log, learning.source);
  const detection = openDetection(kit, builtin);
  kit.onClose(() => detection.close());
  const awaited = new Set<Promise<unknown>>();
  kit.onClose(async () => {
    await Promise.allSettled(awaited);
  });
  const context: Context = {
    agents: aiAgentStore(connection, runtime),
    agentIds: idSequence(connection, 'aiAgent'),
    intents: intentStore(connection, intentIds),
    intentIds,
    executions: executionStore(connection),
    inProgress,
    sessions: sessionStore(connection),
    deleted: {
      tickets: deleted('tickets'),
      tags: deleted('tags'),
      templates: deleted('templates'),
      agents: deleted('agents'),
    },
    outbound: kit.outbound,
    pages: kit.pages,
    secretBox: secretBox(kit.config.encryptionKeys, runtime),
    analyses,
    countAttempt: measureAnalyses(analyses, kit.metrics.registry, runtime),
    awaited,
    stopping: kit.stopping,
    detection,
    learning,
    featuresOf: builtin.featuresOf,
    detectableTags: openDetectableTags(
      kit.openClient('tickets', TagService, { ...called, maxResponseBytes: 64 * 1024 * 1024 }),
      runtime.monotonicMs,
    ),
    analyser: undefined,
    tags: kit.openClient('tickets', TagService, called),
    tickets: kit.openClient('tickets', TicketService, called),
    // A ticket has up to 5 MiB of text, in several forms.
    snapshots: kit.openClient('tickets', SnapshotService, { ...called, maxResponseBytes: 64 * 1024 * 1024 }),
    analysis: kit.openClient('tickets', AnalysisService, called),
    conversations: kit.openClient('tickets', ConversationService, { ...called, maxResponseBytes: 16 * 1024 * 1024 }),
    // A response template has up to 1 MiB of text, and the wrapper around it.
    templates: kit.openClient('templates', TemplateService, { ...called, maxResponseBytes: 16 * 1024 * 1024 }),
    rendering: kit.openClient('templates', RenderingService, { ...called, maxResponseBytes: 16 * 1024 * 1024 }),
    runtime,
    log: kit.log,
    now: () => secondsNow(runtime),
  };
  // Registered last, so that it comes before the clients are closed.
  kit.onClose(async () => {
    await Promise.allSettled(inProgress.values());
  });
  return context;
}

/** Opens the detection by the provider that the settings select. */
function openDetection(kit: Kit<IntentsConfig, DetectionSettings>, builtin: Detection): Detection {
  const { settings, outbound, runtime, log, config, metrics } = kit;
  const secrets = kit.openClient('settings', ConfigurationService, called);
  return configuredDetection({
    builtin,
    settings,
    readKey: secretReader('aiApiKey', secrets),
    outbound,
    runtime,
    limits: config.openai,
    registry: metrics.registry,
    log,
  });
}
