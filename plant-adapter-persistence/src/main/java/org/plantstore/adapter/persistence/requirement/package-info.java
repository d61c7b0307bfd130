/**
 * The requirements of the store on the database, and the migration of its tables. Used by a start
 * before the port opens, and by the commands {@code check} and {@code migrate}, never by a create.
 */
@NullMarked
package org.plantstore.adapter.persistence.requirement;

import org.jspecify.annotations.NullMarked;
