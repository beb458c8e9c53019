import { type ChannelCredentials, credentials, experimental } from '@grpc/grpc-js';
import type { ServiceTls } from '../tls/service-tls.ts';

/**
 * Returns the credentials of a channel: TLS that trusts the configured authorities and presents the certificate of the
 * service, if it has one; no TLS if no authorities are configured. New connections use the certificates of that moment.
 */
export function grpcCredentials(tls: ServiceTls | undefined): ChannelCredentials {
  if (!tls?.files().ca) return credentials.createInsecure();
  const authorities = follow(tls, ({ ca }) => ca && { caCertificate: ca });
  const identity = follow(tls, ({ cert, key }) => cert && key && { certificate: cert, privateKey: key });
  return experimental.createCertificateProviderChannelCredentials(
    { ...unused, addCaCertificateListener: authorities.add, removeCaCertificateListener: authorities.remove },
    tls.files().cert
      ? { ...unused, addIdentityCertificateListener: identity.add, removeIdentityCertificateListener: identity.remove }
      : null,
  );
}

const nothing = () => undefined;
/** A provider has two parts, of which a channel uses one. */
const unused: experimental.CertificateProvider = {
  addCaCertificateListener: nothing,
  removeCaCertificateListener: nothing,
  addIdentityCertificateListener: nothing,
  removeIdentityCertificateListener: nothing,
};

type Listener<Update> = (update: Update | null) => void;

/** Gives each listener a part of the files at once and after each change. */
function follow<Update>(tls: ServiceTls, read: (files: ReturnType<ServiceTls['files']>) => Update | undefined) {
  const removers = new Map<Listener<Update>, () => void>();
  return {
    add(listener: Listener<Update>) {
      const send = () => listener(read(tls.files()) ?? null);
      removers.set(listener, tls.onChange(send));
      send();
    },
    remove(listener: Listener<Update>) {
      removers.get(listener)?.();
      removers.delete(listener);
    },
  };
}
