"""A certificate authority of the tests' own, and a server certificate signed by it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_Key = ec.EllipticCurvePrivateKey
_OWN_NAMES = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
_SIGNS = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """PEM files: the authority to verify with, and what a server presents for ``127.0.0.1`` and ``localhost``."""

    ca: Path
    certificate: Path
    key: Path


def make_certificates(folder: Path) -> Certificates:
    """Write the three files into ``folder``. They are valid for a day."""
    files = Certificates(ca=folder / "ca.pem", certificate=folder / "server.pem", key=folder / "server.key")
    ca_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca = _draft("Strata test authority", ca_key, ca_key, is_ca=True).add_extension(_SIGNS, critical=True)
    server = _draft("localhost", server_key, ca_key, is_ca=False).add_extension(_OWN_NAMES, critical=False)
    files.ca.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(Encoding.PEM))
    files.certificate.write_bytes(server.sign(ca_key, hashes.SHA256()).public_bytes(Encoding.PEM))
    files.key.write_bytes(server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    files.key.chmod(0o600)
    return files


def _draft(name: str, key: _Key, issuer: _Key, *, is_ca: bool) -> x509.CertificateBuilder:
    """A certificate with everything that Python 3.13 wants to see, all but the signature."""
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(subject_name=_named(name), issuer_name=_named("Strata test authority"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key()), critical=False)
    )


def _named(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
