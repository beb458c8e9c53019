import type { Client } from '@connectrpc/connect';
import { EmailTemplateService } from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { renderTraceparent } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import { type NewEvent, type SettingsStore, settingsStore } from './store.ts';

/** The dependencies of the handlers of settings. */
export interface SettingParts {
  settings: SettingsStore;
  secretBox: SecretBox;
  outbound: Pick<OutboundGuard, 'checkUrl'>;
  /** Opens a client for tags, for a call. */
  tags(call: OnBehalfOf): Client<typeof TagService>;
  /** Opens a client for e-mail templates, for a call. */
  emailTemplates(call: OnBehalfOf): Client<typeof EmailTemplateService>;
  /** Begins the event of a change that a call makes, or a task of this service. */
  newEvent(call?: Pick<Call, 'trace'>): NewEvent;
}

type KitOfSettings = Pick<Kit<unknown, unknown>, 'database' | 'wakeRelay' | 'openClient' | 'outbound' | 'runtime'>;

const timeoutMs = 5_000;

/** Opens the settings on the database of a kit. */
export function openSettings(kit: KitOfSettings, secretBox: SecretBox): SettingParts {
  const { runtime } = kit;
  return {
    settings: settingsStore(kit.database.connection, kit.wakeRelay, runtime),
    secretBox,
    outbound: kit.outbound,
    tags: kit.openClient('tickets', TagService, { timeoutMs }),
    emailTemplates: kit.openClient('templates', EmailTemplateService, { timeoutMs }),
    newEvent: (call) => ({
      eventId: timeOrderedId('evt', runtime),
      occurredAt: secondsNow(runtime),
      ...(call && { traceparent: renderTraceparent(call.trace) }),
    }),
  };
}
