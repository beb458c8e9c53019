import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { chooseSender, defaultMailboxId, type KnownSubchannel } from './subchannels.ts';

const mailbox = { enabled: true, interface: 'smtp', channel: Channel.EMAIL };
const subchannels = new Map<number, KnownSubchannel>([
  [1, { ...mailbox, name: 'Support', address: 'support@example.org' }],
  [2, { ...mailbox, name: 'No address' }],
  [3, { ...mailbox, name: 'Hotline', channel: Channel.PHONE, address: 'hotline@example.org', isDefault: true }],
  [4, { ...mailbox, address: 'all@example.org', isDefault: true }],
  [5, { ...mailbox, name: 'No mail', address: 'Third Box' }],
  [6, { ...mailbox, enabled: false, name: 'Old', address: 'old@example.org' }],
]);
const mailFrom = 'desk@example.org';

test('the sender is the first enabled mailbox that has an address, else that of the installation', () => {
  const support = { from: 'support@example.org', fromName: 'Support', mailboxId: 1 };
  const ofInstallation = { from: mailFrom, fromName: null, mailboxId: null };
  for (const [ids, sender] of [
    [[1, 4], support],
    [[3, 1], support],
    [[5, 6, 1], { ...support, fromName: 'Support' }],
    [[null, 4], { from: 'all@example.org', fromName: null, mailboxId: 4 }],
    [[null, 3, 6, 99], ofInstallation],
    [[2], { ...ofInstallation, fromName: 'No address' }],
    [[], ofInstallation],
  ] as const) {
    expect(chooseSender({ subchannels, mailFrom }, ids)).toEqual(sender);
  }
  const nobody = { from: null, fromName: null, mailboxId: null };
  expect(chooseSender({ subchannels: undefined, mailFrom: null }, [1])).toEqual(nobody);
});

test('the default mailbox is the enabled default of channel email', () => {
  expect(defaultMailboxId(subchannels)).toBe(4);
  const disabled = new Map([...subchannels].map(([id, one]) => [id, { ...one, enabled: false }]));
  expect(defaultMailboxId(disabled)).toBeNull();
  expect(defaultMailboxId(undefined)).toBeNull();
});
