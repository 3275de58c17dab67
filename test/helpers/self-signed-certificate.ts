import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A private key and its certificate, which is its own authority, in PEM. */
export interface SelfSigned {
  key: string;
  cert: string;
}

/** Object identifiers in DER, and tags of ASN.1. */
const ECDSA_WITH_SHA256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex');
const [SEQUENCE, SET, INTEGER, BITS, OCTETS, UTF8, UTC_TIME] = [0x30, 0x31, 0x02, 0x03, 0x04, 0x0c, 0x17];
const TRUE = Buffer.from('0101ff', 'hex');

/** Makes a certificate of a DNS name (RFC 5280), without a program that may be missing. */
export function selfSignedCertificate(name: string): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from(name)))));
  const validity = ['200101000000Z', '491231235959Z'].map((time) => der(UTC_TIME, Buffer.from(time)));
  const names = der(SEQUENCE, der(0x82, Buffer.from(name)));
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTETS, names)),
    der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(OCTETS, der(SEQUENCE, TRUE))),
  );
  const content = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.of(2))),
    der(INTEGER, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    subject,
    der(SEQUENCE, ...validity),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(BITS, Buffer.of(0), sign('sha256', content, privateKey));
  const certificate = der(SEQUENCE, content, ECDSA_WITH_SHA256, signature).toString('base64');
  const lines = certificate.replace(/.{64}/g, '$&\n').trimEnd();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}
