package org.plantstore.adapter.persistence;

/** The hash of an id, whose range of values is a shard's. */
final class ShardHash {

  private ShardHash() {}

  /**
   * Returns the hash by which Citus distributes, PostgreSQL's {@code hashint8}. The halves of the
   * id are folded, so that equal numbers of all integer types have equal hashes, and then mixed by
   * the final step of Bob Jenkins' lookup3.
   */
  static int of(long id) {
    int high = (int) (id >> 32);
    int a = 0x9e3779b9 + Integer.BYTES + 3923095;
    int b = a;
    int c = a;
    a += (int) id ^ (id >= 0 ? high : ~high);
    c = (c ^ b) - Integer.rotateLeft(b, 14);
    a = (a ^ c) - Integer.rotateLeft(c, 11);
    b = (b ^ a) - Integer.rotateLeft(a, 25);
    c = (c ^ b) - Integer.rotateLeft(b, 16);
    a = (a ^ c) - Integer.rotateLeft(c, 4);
    b = (b ^ a) - Integer.rotateLeft(a, 14);
    return (c ^ b) - Integer.rotateLeft(b, 24);
  }
}
