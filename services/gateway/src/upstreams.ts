import type { DescService } from '@bufbuild/protobuf';
import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';

/** A service behind the gateway: its name, as in tokens and variables, and the contracts that it serves. */
export interface UpstreamContract {
  name: string;
  services: readonly DescService[];
}

/** Which service serves which contracts. Paths, limits and rules follow from the contracts. */
export const upstreamContracts: readonly UpstreamContract[] = [
  { name: 'tickets', services: [TicketService, TagService] },
  { name: 'reporting', services: [ExportService] },
];
