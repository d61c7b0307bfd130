package org.plantstore.adapter.http.token;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.crypto.impl.BaseJWSProvider;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jose.util.ByteUtils;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.X509EncodedKeySpec;
import java.util.HexFormat;
import java.util.Set;

/** Verifies Ed25519 (RFC 8032) with the JDK; the library would need another library. */
final class Ed25519 extends DefaultJWSVerifierFactory {

  /** By its own name (RFC 9864), and by the older one (RFC 8037). */
  static final Set<JWSAlgorithm> ALGORITHMS = Set.of(JWSAlgorithm.Ed25519, JWSAlgorithm.EdDSA);

  /** The DER of a public key, up to its 32 bytes (RFC 8410, section 4). */
  private static final byte[] DER = HexFormat.of().parseHex("302a300506032b6570032100");

  /** Returns the key; throws IllegalArgumentException if it is none. */
  static PublicKey key(OctetKeyPair published) {
    try {
      byte[] encoded = ByteUtils.concat(DER, published.getDecodedX());
      return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("its x is no public key of Ed25519", e);
    }
  }

  @Override
  public JWSVerifier createJWSVerifier(JWSHeader header, Key key) throws JOSEException {
    return ALGORITHMS.contains(header.getAlgorithm())
        ? new Verifier((PublicKey) key)
        : super.createJWSVerifier(header, key);
  }

  private static final class Verifier extends BaseJWSProvider implements JWSVerifier {

    private final PublicKey key;

    Verifier(PublicKey key) {
      super(ALGORITHMS);
      this.key = key;
    }

    @Override
    public boolean verify(JWSHeader header, byte[] input, Base64URL signature)
        throws JOSEException {
      try {
        Signature verification = Signature.getInstance("Ed25519");
        verification.initVerify(key);
        verification.update(input);
        byte[] bytes = signature.decode();
        return bytes.length == 64 && verification.verify(bytes); // Java 17 would take more bytes
      } catch (SignatureException e) {
        return false; // it is out of range
      } catch (GeneralSecurityException e) {
        throw new JOSEException("Ed25519 is not available", e);
      }
    }
  }
}
