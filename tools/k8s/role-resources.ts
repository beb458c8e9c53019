import type { Role } from '@ticketing/system/services.ts';

/** The resources that the pods of a role of a service request, and the memory beyond which they are killed. */
export interface RoleResources {
  requests: { cpu: string; memory: string };
  limits: { memory: string };
}

/**
 * The heap of a process may have 512 MiB, which the image says. A limit adds to it what is outside the heap, and the
 * processes that the role starts: two of 256 MB for texts, two of 512 MB for mails, three of 64 MB for templates, one of
 * 1 GB that learns.
 * Requests are what `npm run bench` measured under load: 111 to 223 MB resident.
 */
const perRole: Readonly<Record<string, RoleResources>> = {
  'gateway api': resources('500m', '256Mi', '768Mi'),
  'tickets api': resources('500m', '320Mi', '2560Mi'),
  'tickets mail-receiver': resources('100m', '192Mi', '2560Mi'),
  'tickets scheduler': resources('100m', '192Mi', '1536Mi'),
  'intents api': resources('250m', '256Mi', '1280Mi'),
  'intents analyser': resources('500m', '512Mi', '2560Mi'),
  'templates api': resources('250m', '256Mi', '1Gi'),
  'knowledge api': resources('250m', '192Mi', '1536Mi'),
};

const others: Readonly<Partial<Record<Role, RoleResources>>> = {
  api: resources('250m', '192Mi', '1Gi'),
};

const background = resources('100m', '192Mi', '768Mi');

/** The resources of the pods of a role. Source: docs/decisions/0052-manifests-from-the-description.md. */
export function findResources(service: string, role: Role): RoleResources {
  return perRole[`${service} ${role}`] ?? others[role] ?? background;
}

function resources(cpu: string, memory: string, limit: string): RoleResources {
  return { requests: { cpu, memory }, limits: { memory: limit } };
}
