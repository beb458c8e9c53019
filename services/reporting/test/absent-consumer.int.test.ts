import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { variableName } from '@ticketing/system/services.ts';
import { startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { expect, onTestFinished, test } from 'vitest';
import { service } from '../src/service.ts';
import { ticketChanged } from './harness.ts';

const hourMs = 3_600_000;

test('a service without a process of the role consumer says so, and says what waits', async () => {
  const harness = await startServiceHarness(service, {
    variables: { ROLES: 'api,scheduler' },
    publishes: [ticketChangedTopic],
  });
  onTestFinished(() => harness.stop());
  const bus = await harness.openBus();
  await bus.publish(ticketChangedTopic.name, [ticketChanged(1, 1), ticketChanged(2, 1), ticketChanged(3, 1)]);
  await bus.close();
  const samples = async () => {
    const text = await (await fetch(`http://127.0.0.1:${harness.running.ports.internal}/metrics`)).text();
    const found = text.matchAll(/^(consumer_lag_\w+|ticketing_role_\w+)\{(?:.*role="([\w-]+)")?.*\} (\S+)$/gm);
    return Object.fromEntries([...found].map(([, name, role = '', value]) => [`${name} ${role}`, Number(value)]));
  };
  const sample = async (name: string) => (await samples())[name] ?? Number.NaN;
  const lastSeen = harness.database.collection<{ _id: string }>('lastSeen');
  const leaveForAnHour = () =>
    lastSeen.updateOne({ _id: 'role consumer' }, { $set: { seenAt: new Date(Date.now() - hourMs) } });
  const consumerAge = () => sample('ticketing_role_last_seen_seconds consumer');
  await expect.poll(consumerAge).toBeGreaterThanOrEqual(0);
  await leaveForAnHour();
  await expect.poll(consumerAge).toBeGreaterThan(3_000);
  await expect.poll(() => sample('consumer_lag_seconds ')).toBeGreaterThan(0);
  expect(await sample('consumer_lag_messages ')).toBe(3);
  const consumer = await harness.startInstance({ [variableName('reporting', 'ROLES')]: 'consumer' });
  await expect.poll(consumerAge).toBeLessThan(3_000);
  await consumer.stop();
  await leaveForAnHour();
  await expect.poll(consumerAge).toBeGreaterThan(3_000);
});

test('roles that the installation does not expect are not measured', async () => {
  const harness = await startServiceHarness(service, {
    variables: { ROLES: 'api', EXPECTED_ROLES: 'api,scheduler' },
  });
  onTestFinished(() => harness.stop());
  const roles = async () => {
    const text = await (await fetch(`http://127.0.0.1:${harness.running.ports.internal}/metrics`)).text();
    return [...text.matchAll(/^ticketing_role_last_seen_seconds\{.*role="(\w+)"/gm)].map(([, role]) => role);
  };
  await expect.poll(roles).toEqual(['api', 'scheduler']);
});
