export type { CallOptions, RequestOf, ResultOf } from './call.ts';
export { type AttachmentInput, attachmentOf, fileNameOf } from './files.ts';
export { type FollowedEvent, UnreadableEventError } from './follow-events.ts';
export type { components, operations } from './gen/openapi.ts';
export { cursorPages, offsetPages } from './pages.ts';
export { ConnectionError, type Problem, ProblemError, type Violation } from './problem-error.ts';
export {
  createTicketingClient,
  type FollowOptions,
  type TicketingClient,
  type TicketingOptions,
} from './ticketing-client.ts';
export { type ReceivedWebhook, type TicketEvent, verifyWebhook, type WebhookMessage } from './webhook.ts';
