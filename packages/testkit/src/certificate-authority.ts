import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import forge from 'node-forge';

/** A certificate and its private key, in PEM. */
export interface CertifiedKey {
  cert: string;
  key: string;
}

/** A certificate authority of a development system or a test. */
export interface CertificateAuthority extends CertifiedKey {
  /** Issues a certificate for servers and clients with these names (DNS names or IP addresses). */
  issue(names: readonly string[]): CertifiedKey;
}

const dayMs = 86_400_000;
const authorityDays = 3650;
/** Browsers refuse certificates of servers that are valid for longer. */
const certificateDays = 397;

/** Creates an authority with a new key. */
export function createAuthority(name: string): CertificateAuthority {
  const key = newKey();
  const subject = [{ name: 'commonName', value: name }];
  const extensions = [
    { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ];
  const cert = certify(key, { subject, issuer: subject, issuerKey: key, days: authorityDays, extensions });
  return openAuthority({ cert, key });
}

/** Opens an authority that was created before. */
export function openAuthority({ cert, key }: CertifiedKey): CertificateAuthority {
  const authority = forge.pki.certificateFromPem(cert);
  const keyIdentifier = authority.generateSubjectKeyIdentifier().getBytes();
  return {
    cert,
    key,
    issue(names) {
      const own = newKey();
      const subject = [{ name: 'commonName', value: names[0] }];
      const extensions = [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
        { name: 'subjectAltName', altNames: names.map(altName) },
        { name: 'authorityKeyIdentifier', keyIdentifier },
        { name: 'subjectKeyIdentifier' },
      ];
      const { attributes: issuer } = authority.subject;
      return { cert: certify(own, { subject, issuer, issuerKey: key, days: certificateDays, extensions }), key: own };
    },
  };
}

interface Certification {
  subject: forge.pki.CertificateField[];
  issuer: forge.pki.CertificateField[];
  issuerKey: string;
  days: number;
  extensions: object[];
}

/** Certifies the public part of a key. */
function certify(key: string, { subject, issuer, issuerKey, days, extensions }: Certification): string {
  const certificate = forge.pki.createCertificate();
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' });
  certificate.publicKey = forge.pki.publicKeyFromPem(String(publicKey));
  // Positive, as the standard demands: the first byte is below 0x80.
  certificate.serialNumber = `01${randomBytes(15).toString('hex')}`;
  // A minute ago, for clocks that differ a little.
  certificate.validity.notBefore = new Date(Date.now() - 60_000);
  certificate.validity.notAfter = new Date(Date.now() + days * dayMs);
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  certificate.setExtensions(extensions);
  certificate.sign(forge.pki.privateKeyFromPem(issuerKey), forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}

function altName(name: string): object {
  const isAddress = /^[\d.]+$|:/.test(name);
  return isAddress ? { type: 7, ip: name } : { type: 2, value: name };
}
