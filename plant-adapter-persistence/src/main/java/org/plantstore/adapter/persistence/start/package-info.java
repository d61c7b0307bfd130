/**
 * Runs once, before the service opens its port: waits for the server, checks that it can keep the
 * store's rules, and migrates the tables. Nothing of it is used by a create.
 */
@NullMarked
package org.plantstore.adapter.persistence.start;

import org.jspecify.annotations.NullMarked;
