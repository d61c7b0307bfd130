/**
 * Runs once, before the service opens its port: waits for the server, checks that it and the tables
 * can keep the store's rules, and migrates the tables unless that is off. Nothing of it is used by
 * a create.
 */
@NullMarked
package org.plantstore.adapter.persistence.start;

import org.jspecify.annotations.NullMarked;
