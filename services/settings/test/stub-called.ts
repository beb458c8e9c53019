import { Code, ConnectError } from '@connectrpc/connect';
import { EmailTemplateService } from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';

/** The state of the stub of the called services, and the calls that it has received. */
export interface StubModel {
  tagIds: Set<number>;
  emailTemplateIds: Set<number>;
  /** Called before the response to each read of an e-mail template. */
  beforeTemplate?: (caller: string) => Promise<void>;
  /** The tickets whose erasure was confirmed. */
  confirmed: number[];
  /** Whether every call fails with `unavailable`. */
  isUnavailable: boolean;
}

/** Serves a model over gRPC, as the parts of the tickets and templates services that the settings service calls. */
export function serveCalled(model: StubModel): Promise<StubServer> {
  const requireAvailable = () => {
    if (model.isUnavailable) throw new ConnectError('unavailable', Code.Unavailable);
  };
  return startStubServer((router) => {
    router.service(TagService, {
      getTag({ id }) {
        requireAvailable();
        if (!model.tagIds.has(id)) throw new ConnectError('Tag not found', Code.NotFound);
        return { tag: { id } };
      },
    });
    router.service(EmailTemplateService, {
      async getEmailTemplate({ id }, { requestHeader }) {
        requireAvailable();
        const emailTemplate = model.emailTemplateIds.has(id) ? { id } : undefined;
        await model.beforeTemplate?.(readCaller(requestHeader.get('authorization') ?? ''));
        if (!emailTemplate) throw new ConnectError('Email template not found', Code.NotFound);
        return { emailTemplate };
      },
    });
    router.service(SnapshotService, {
      confirmErasure({ ticketId }) {
        requireAvailable();
        model.confirmed.push(ticketId);
        return {};
      },
    });
  });
}

/** The profile or service in whose name an internal token was minted. */
function readCaller(authorization: string): string {
  const [, claims = ''] = authorization.split('.');
  const { iss, caller } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  return caller ? `profile ${caller.profileId}` : `service ${iss}`;
}
